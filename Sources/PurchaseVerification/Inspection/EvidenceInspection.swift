/// A look into evidence that vouches for nothing: every check with its outcome, and what the bytes say.
///
/// Nothing in here is proof. To grant something, verify.
public struct EvidenceInspection: Sendable {
    /// The kind of evidence and its text encoding; `nil` where it was not recognised.
    public let evidence: Evidence?
    /// Each check in the order in which `PurchaseVerifier` makes it. Here the later ones run, too, where they can.
    public let checks: [Check]
    /// The embedded certificates, in their order.
    public let certificates: [UnverifiedCertificate]
    /// The names on the verified path from leaf to anchor; empty where there is none.
    public let certificatePath: [String]
    /// How the content is signed, such as `SHA-256, rsaEncryption`; `nil` where the container could not be read.
    public let signature: String?
    /// The size of the signed container in bytes; `nil` where there is none.
    public let containerBytes: Int?
    /// What the evidence says, as far as it could be read.
    public let content: UnverifiedEvidence?

    /// One check and how it ended.
    public struct Check: Sendable {
        /// What is checked, in a few words.
        public let name: String
        public let outcome: Outcome
    }

    /// How a check ended.
    public enum Outcome: Sendable {
        case passed
        case failed(VerificationError)
        /// It could not be made, because an earlier one failed: that counts as failed, too.
        case notPossible
    }

    /// The first check that failed: what `PurchaseVerifier` would throw.
    public var firstFailure: VerificationError? {
        for check in checks {
            if case .failed(let error) = check.outcome { return error }
        }
        return nil
    }
}

/// Evidence of any kind, read from bytes that nobody vouches for: for showing, never for granting.
public enum UnverifiedEvidence: Sendable {
    case appReceipt(UnverifiedAppReceipt)
    /// A transaction receipt, and what stands beside it in its outer list without being signed.
    case transactionReceipt(UnverifiedTransactionReceipt, unsigned: [(key: String, value: String)])
    case signedTransaction(UnverifiedSignedTransaction)
    case signedRenewalInfo(UnverifiedSignedRenewalInfo)
    case appTransaction(UnverifiedAppTransaction)
    case notification(UnverifiedAppStoreNotification)

    /// The signed payload of signed data: a JSON object in UTF-8. `nil` for receipts.
    public var payload: [UInt8]? {
        switch self {
        case .appReceipt, .transactionReceipt: nil
        case .signedTransaction(let content): content.payload
        case .signedRenewalInfo(let content): content.payload
        case .appTransaction(let content): content.payload
        case .notification(let content): content.payload
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
        }
    }
}

/// What an embedded certificate says of itself.
public struct UnverifiedCertificate: Sendable {
    /// The whole certificate.
    public let der: [UInt8]
    public let subject: String
    public let issuer: String
    /// Hexadecimal.
    public let serialNumber: String
    public let notBefore: Timestamp
    public let notAfter: Timestamp
    /// The kind of key, such as `RSA 2048`, or why it is not accepted.
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
