import Foundation

/// Signs receipts with an authority, and applies faults on demand.
///
/// ```swift
/// let encoder = AppReceiptEncoder(authority: try CertificateAuthority())
/// let receipt = AppReceiptTemplate.sandbox(bundleID: "com.example.app", creationDate: .now)
/// let genuine = try encoder.encode(receipt)
/// let forged = try encoder.encode(receipt, fault: .flippedPayloadByte)
/// ```
public struct AppReceiptEncoder: Sendable {
    /// The authority that signs.
    public let authority: CertificateAuthority

    /// An encoder for one authority.
    public init(authority: CertificateAuthority) {
        self.authority = authority
    }

    /// Signs a receipt. The same parameters make the same bytes, because RSA signatures of this kind are not random;
    /// only a fault that needs other keys draws new ones in each process.
    /// - Parameters:
    ///   - template: the content.
    ///   - signing: the form. If it has its own payload, a fault of the content has no effect.
    ///   - fault: the fault to apply.
    /// - Returns: the CMS message as DER, or as BER if the options request it.
    /// - Throws: the errors of the crypto library if a key cannot be made or cannot sign.
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
