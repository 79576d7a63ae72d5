public import Foundation

/// A certificate authority for HTTPS servers: what a client must trust to reach a simulated store over TLS. It vouches
/// for no evidence.
///
/// ```swift
/// let authority = try ServerCertificateAuthority(folder: URL(fileURLWithPath: "assay-authority/https"))
/// let server = try authority.certificate(for: ["localhost", "127.0.0.1"])
/// ```
public struct ServerCertificateAuthority: Sendable {
    /// The trust anchor to hand to a client.
    public let root: SigningIdentity

    /// Makes an authority with a new key on the curve P-256, valid from 2008 to 2049.
    /// - Throws: the errors of the crypto library if the key cannot sign.
    public init() throws {
        let key = SigningKey.makeP256()
        let name = CertificateTemplate.Name.simulator("HTTPS CA")
        var template = CertificateTemplate(
            issuer: name, subject: name, serialNumber: key.serialNumber, notBefore: CertificateTemplate.earliestDate,
            notAfter: CertificateTemplate.latestDate)
        template.isAuthority = true
        template.keyUsage = [.certificateSigning, .revocationListSigning]
        template.signatureAlgorithm = .ecdsaWithSHA256
        root = try SigningIdentity(template, key: key, issuerKey: key)
    }

    /// An authority that is made once and kept in a folder: `root.der`, `root.pem`, and `root.key.pem`, which only the
    /// owner may read.
    /// - Parameter folder: the path of the folder. It may be missing or empty, but not a mount point.
    /// - Throws: `MintError` when the folder cannot be read or written, or holds something else.
    public init(folder: URL) throws {
        let store = IdentityFolder(folder)
        if !store.isInhabited {
            let made = try ServerCertificateAuthority().root
            try store.publish(IdentityFolder.Content(anchors: [("root", made)], identities: []))
        }
        // The folder is always read back: if two processes made one at once, only its content counts.
        root = try store.identity("root")
    }

    /// The name of the file with the trust anchor in an authority's folder.
    public static let trustFile = "root.pem"

    /// A certificate of a server with a new key.
    /// - Parameters:
    ///   - hosts: the names and addresses of the server.
    ///   - notBefore: the start of its validity.
    ///   - notAfter: the end of its validity.
    /// - Throws: the errors of the crypto library if a key cannot sign.
    public func certificate(
        for hosts: [String], notBefore: Date = CertificateTemplate.earliestDate,
        notAfter: Date = CertificateTemplate.latestDate
    ) throws -> SigningIdentity {
        let key = SigningKey.makeP256()
        let subject = CertificateTemplate.Name(
            commonName: String((hosts.first ?? "localhost").prefix(64)), organization: "Assay Simulator")
        var template = CertificateTemplate(
            issuer: root.subject, subject: subject, serialNumber: key.serialNumber, notBefore: notBefore,
            notAfter: notAfter)
        template.isAuthority = false
        template.keyUsage = .digitalSignature
        template.extendedKeyUsage = [Self.serverAuthentication]
        template.signatureAlgorithm = .ecdsaWithSHA256
        template.extraExtensions = [
            .init(oid: Self.subjectAlternativeName, isCritical: false, value: DER.sequence(hosts.map(Self.generalName)))
        ]
        return try SigningIdentity(template, key: key, issuerKey: root.privateKey)
    }

    /// RFC 5280, 4.2.1.12.
    private static let serverAuthentication: CertificateTemplate.OID = "1.3.6.1.5.5.7.3.1"
    /// RFC 5280, 4.2.1.6.
    private static let subjectAlternativeName: CertificateTemplate.OID = "2.5.29.17"

    /// An iPAddress or a dNSName (RFC 5280, 4.2.1.6).
    private static func generalName(_ host: String) -> [UInt8] {
        var address = [UInt8](repeating: 0, count: 16)
        if inet_pton(AF_INET, host, &address) == 1 { return DER.primitiveContext(7, Array(address.prefix(4))) }
        if inet_pton(AF_INET6, host, &address) == 1 { return DER.primitiveContext(7, address) }
        return DER.primitiveContext(2, Array(host.utf8))
    }
}
