import CryptoExtras
public import Foundation

/// Signs receipts as StoreKit testing in Xcode does: with a lone certificate that vouches for itself.
///
/// The certificate has the constraints and usages of Xcode's, but a name of its own.
public struct XcodeSigner: Sendable {
    /// The certificate, which is also the trust anchor, and its key.
    public let identity: SimulatorIdentity

    /// Makes a signer with a new key.
    /// - Parameter createdAt: when the certificate begins to be valid; it lasts until the end of 2049.
    /// - Throws: what the crypto library throws when no key can be made.
    public init(createdAt: Date = CertificateTemplate.earliestDate) throws {
        let name = CertificateTemplate.Name(
            commonName: "Assay Simulator StoreKit",
            organization: "Assay Simulator"
        )
        var template = CertificateTemplate(
            issuer: name,
            subject: name,
            serialNumber: [1],
            notBefore: createdAt,
            notAfter: CertificateTemplate.latestDate
        )
        template.isAuthority = true
        template.keyUsage = [.digitalSignature, .certificateSigning]
        template.extendedKeyUsage = [KnownOID.codeSigning]
        template.hasSubjectKeyIdentifier = false
        template.hasAuthorityKeyIdentifier = false
        let key = try _RSA.Signing.PrivateKey(keySize: .bits2048)
        identity = try SimulatorIdentity(template, key: key, issuerKey: key)
    }

    /// A signer that is made once and kept in a folder: `storekit.der`, `storekit.pem`, `storekit.key.pem`. It shares
    /// no folder with an authority.
    /// - Parameter folder: where it is, or will be. It may be missing or empty, but no mount point.
    /// - Throws: `SimulatorError` when the folder cannot be read or written, or holds something else.
    public init(folder: URL) throws {
        let store = IdentityFolder(folder)
        if !store.isInhabited {
            try store.publish([("storekit", try XcodeSigner().identity)])
        }
        identity = try store.identity("storekit")
    }

    /// Signs a receipt.
    /// - Returns: the CMS message as BER with indefinite lengths, unless the options ask for DER.
    /// - Throws: what the crypto library throws when the key cannot sign.
    public func encode(_ template: AppReceiptTemplate, signing: SigningOptions = .xcode) throws -> [UInt8] {
        var options = signing
        options.certificates = [.leaf]
        let authority = SimulatorAuthority(root: identity, intermediate: identity, leaf: identity)
        return try AppReceiptEncoder(authority: authority).encode(template, signing: options)
    }

    /// Signs a receipt and writes it as base64 in one line.
    /// - Throws: as `encode`.
    public func encodeBase64(_ template: AppReceiptTemplate, signing: SigningOptions = .xcode) throws -> String {
        Data(try encode(template, signing: signing)).base64EncodedString()
    }
}
