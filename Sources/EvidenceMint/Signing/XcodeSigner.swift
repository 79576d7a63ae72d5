public import Foundation

/// Signs receipts and data as StoreKit testing in Xcode does: with lone certificates that vouch for themselves.
///
/// The certificates have the constraints and usages of Xcode's, but different names.
public struct XcodeSigner: Sendable {
    /// The certificate for receipts, which is also the trust anchor, and its RSA key.
    public let identity: SigningIdentity
    /// The certificate for signed payloads, which is also the trust anchor, and its P-256 key.
    public let payloadIdentity: SigningIdentity

    /// Makes a signer with new keys.
    /// - Parameter createdAt: when the certificates begin to be valid; they last until the end of 2049.
    /// - Throws: the errors of the crypto library if no key can be made.
    public init(createdAt: Date = CertificateTemplate.earliestDate) throws {
        identity = try Self.receiptIdentity(createdAt)
        payloadIdentity = try Self.payloadIdentity(createdAt)
    }

    /// A signer that is made once and kept in a folder: `storekit.der`, `storekit.pem` and `storekit.key.pem`, the
    /// same in `signed-data/`, and both certificates in `trust.pem`. It shares no folder with an authority. A folder
    /// without `signed-data` is completed.
    /// - Parameter folder: the path of the folder. It may be missing or empty, but not a mount point.
    /// - Throws: `MintError` when the folder cannot be read or written, or holds something else.
    public init(folder: URL) throws {
        let store = IdentityFolder(folder)
        if !store.isInhabited { try store.publish(try XcodeSigner().folderContent) }
        identity = try store.identity(Self.name)
        let dataStore = store.subfolder(AppStoreAuthority.signedPayloadFolder)
        if !dataStore.isInhabited {
            let made = try Self.payloadIdentity(CertificateTemplate.earliestDate)
            try dataStore.publish(IdentityFolder.Content(anchors: [(Self.name, made)], identities: []))
        }
        payloadIdentity = try dataStore.identity(Self.name)
        try store.complete(AppStoreAuthority.trustFile, trustedCertificatesPEM)
    }

    /// One PEM text of both certificates.
    public var trustedCertificatesPEM: String { identity.pem + payloadIdentity.pem }

    /// Signs data: ES256, with `kid`, `typ` and an `x5c` of one certificate in the header.
    /// - Parameter template: the content, written unchanged; `asXcodeWritesIt` sets Xcode's environment and dates.
    /// - Returns: the compact JWS.
    /// - Throws: the errors of the crypto library if the key cannot sign.
    public func encode(_ template: some SignedPayloadTemplate) throws -> String {
        var plan = SignedPayloadPlan(
            claims: try template.claims { try encode($0) },
            signingDateClaim: type(of: template).signingDateClaim,
            signingDate: template.signingDate,
            authority: SignedPayloadAuthority(
                root: payloadIdentity, intermediate: payloadIdentity, leaf: payloadIdentity)
        )
        plan.certificates = [payloadIdentity.certificate]
        plan.headerStyle = .xcode
        return try plan.message().encoded()
    }

    /// Signs a receipt.
    /// - Returns: the CMS message as BER with indefinite lengths, unless the options ask for DER.
    /// - Throws: the errors of the crypto library if the key cannot sign.
    public func encode(_ template: AppReceiptTemplate, signing: SigningOptions = .xcode) throws -> [UInt8] {
        var options = signing
        options.certificates = [.leaf]
        let authority = CertificateAuthority(root: identity, intermediate: identity, leaf: identity)
        return try AppReceiptEncoder(authority: authority).encode(template, signing: options)
    }

    /// Signs a receipt and writes it as base64 in one line.
    /// - Throws: as `encode`.
    public func encodeBase64(_ template: AppReceiptTemplate, signing: SigningOptions = .xcode) throws -> String {
        Data(try encode(template, signing: signing)).base64EncodedString()
    }
}

extension XcodeSigner {
    private static let name = "storekit"

    private var folderContent: IdentityFolder.Content {
        let data = IdentityFolder.Content(anchors: [(Self.name, payloadIdentity)], identities: [])
        return IdentityFolder.Content(
            anchors: [(Self.name, identity)], identities: [],
            texts: [(AppStoreAuthority.trustFile, trustedCertificatesPEM)],
            folders: [AppStoreAuthority.signedPayloadFolder: data])
    }

    private static func receiptIdentity(_ createdAt: Date) throws -> SigningIdentity {
        var template = template("Assay Simulator StoreKit", createdAt)
        template.keyUsage = [.digitalSignature, .certificateSigning]
        template.extendedKeyUsage = [KnownOID.codeSigning]
        let key = try SigningKey.makeRSA()
        return try SigningIdentity(template, key: key, issuerKey: key)
    }

    private static func payloadIdentity(_ createdAt: Date) throws -> SigningIdentity {
        var template = template("Assay Simulator StoreKit Data", createdAt)
        template.pathLength = 0
        template.keyUsage = .digitalSignature
        template.signatureAlgorithm = .ecdsaWithSHA256
        let key = SigningKey.makeP256()
        return try SigningIdentity(template, key: key, issuerKey: key)
    }

    private static func template(_ commonName: String, _ createdAt: Date) -> CertificateTemplate {
        let name = CertificateTemplate.Name(commonName: commonName, organization: "Assay Simulator")
        var template = CertificateTemplate(
            issuer: name, subject: name, serialNumber: [1], notBefore: createdAt,
            notAfter: CertificateTemplate.latestDate)
        template.isAuthority = true
        template.hasSubjectKeyIdentifier = false
        template.hasAuthorityKeyIdentifier = false
        return template
    }
}
