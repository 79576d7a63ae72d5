import Foundation

/// Signs receipts with an authority, and breaks them on demand.
///
/// ```swift
/// let encoder = AppReceiptEncoder(authority: try CertificateAuthority())
/// let receipt = AppReceiptTemplate.sandbox(bundleID: "com.example.app", creationDate: .now)
/// let genuine = try encoder.encode(receipt)
/// let forged = try encoder.encode(receipt, fault: .flippedPayloadByte)
/// ```
public struct AppReceiptEncoder: Sendable {
    /// Who signs.
    public let authority: CertificateAuthority

    /// An encoder for one authority.
    public init(authority: CertificateAuthority) {
        self.authority = authority
    }

    /// Signs a receipt. The same parameters make the same bytes, as RSA signatures of this kind are not random;
    /// only a fault that needs keys of its own draws them anew in each process.
    /// - Parameters:
    ///   - template: the content.
    ///   - signing: the form. Where it brings a payload of its own, a fault of the content has no effect.
    ///   - fault: the one thing that is wrong.
    /// - Returns: the CMS message as DER, or as BER where the options ask for it.
    /// - Throws: what the crypto library throws when a key cannot be made or cannot sign.
    public func encode(
        _ template: AppReceiptTemplate,
        signing: SigningOptions = SigningOptions(),
        fault: ReceiptFault? = nil
    ) throws -> [UInt8] {
        var plan = ReceiptPlan(template: template, options: signing, authority: authority)
        try fault?.alterAuthority(of: &plan)
        fault?.alterContent(of: &plan)
        var message = try plan.message()
        fault?.alter(&message, of: plan)
        var bytes = message.encoded()
        fault?.alter(&bytes)
        return bytes
    }

    /// Signs a receipt and writes it as base64 in one line, as an iOS app sends it.
    /// - Throws: as `encode`.
    public func encodeBase64(
        _ template: AppReceiptTemplate,
        signing: SigningOptions = SigningOptions(),
        fault: ReceiptFault? = nil
    ) throws -> String {
        Data(try encode(template, signing: signing, fault: fault)).base64EncodedString()
    }
}
