/// Evidence of any kind, read from unverified bytes: for display, never for granting.
public enum UnverifiedEvidence: Sendable {
    case appReceipt(UnverifiedAppReceipt)
    /// A transaction receipt, and the unsigned entries of its outer list.
    case transactionReceipt(UnverifiedTransactionReceipt, unsigned: [(key: String, value: String)])
    case signedTransaction(UnverifiedSignedTransaction)
    case signedRenewalInfo(UnverifiedSignedRenewalInfo)
    case appTransaction(UnverifiedSignedAppTransaction)
    case notification(UnverifiedAppStoreNotification)
    case realtimeRequest(UnverifiedRealtimeRequest)

    /// The signed payload of signed data: a JSON object in UTF-8. `nil` for receipts.
    public var payload: [UInt8]? {
        switch self {
        case .appReceipt, .transactionReceipt: nil
        case .signedTransaction(let content): content.payload
        case .signedRenewalInfo(let content): content.payload
        case .appTransaction(let content): content.payload
        case .notification(let content): content.payload
        case .realtimeRequest(let content): content.payload
        }
    }

    /// All claims of signed data, as JSON; `nil` for receipts.
    public var claims: [String: JSONValue]? {
        guard let payload else { return nil }
        do throws(VerificationError) {
            return try ClaimReader(payload).others()
        } catch {
            // It was read before, or there would be no content.
            return nil
        }
    }

    var facts: any EvidenceFacts {
        switch self {
        case .appReceipt(let receipt): receipt
        case .transactionReceipt(let receipt, _): receipt
        case .signedTransaction(let content): SignedTransactionFacts(content: content)
        case .signedRenewalInfo(let content): SignedRenewalInfoFacts(content: content)
        case .appTransaction(let content): AppTransactionFacts(content: content)
        case .notification(let content): content
        case .realtimeRequest(let content): RealtimeRequestFacts(content: content)
        }
    }
}

/// The fields of an embedded certificate.
public struct UnverifiedCertificate: Sendable {
    /// The whole certificate.
    public let der: [UInt8]
    public let subject: String
    public let issuer: String
    /// Hexadecimal.
    public let serialNumber: String
    public let notBefore: AppStoreTime
    public let notAfter: AppStoreTime
    /// The kind of key, such as `RSA 2048`, or the reason why it is not accepted.
    public let publicKey: String
    public let signatureAlgorithm: String
    /// Whether it carries the marker of receipt signing certificates.
    public let hasReceiptSigningMarker: Bool
    /// Whether it carries the marker of Worldwide Developer Relations authorities.
    public let hasDeveloperRelationsMarker: Bool

    init(_ certificate: Certificate) {
        der = certificate.der
        subject = certificate.subject.description
        issuer = certificate.issuer.description
        serialNumber = hexadecimal(certificate.serialNumber)
        notBefore = certificate.validity.notBefore
        notAfter = certificate.validity.notAfter
        publicKey =
            switch certificate.publicKey {
            case .success(let key): key.kind
            case .failure(let error): error.message
            }
        signatureAlgorithm = certificate.signatureAlgorithm.rawValue
        hasReceiptSigningMarker = certificate.extensions.hasReceiptSigningMarker
        hasDeveloperRelationsMarker = certificate.extensions.hasDeveloperRelationsMarker
    }
}
