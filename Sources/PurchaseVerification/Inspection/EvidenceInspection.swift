/// An inspection of evidence: every check with its result, and the content of the bytes. It vouches for nothing.
///
/// An inspection proves nothing. Verify before you grant.
public struct EvidenceInspection: Sendable {
    /// The kind of evidence and its text encoding; `nil` if it was not recognised.
    public let evidence: RecognizedEvidence?
    /// Each check in the order of `PurchaseVerifier`. After a failure, the later checks also run if they can.
    public let checks: [Check]
    /// The embedded certificates, in their order.
    public let certificates: [UnverifiedCertificate]
    /// The names on the verified path from leaf to anchor; empty if there is none.
    public let certificatePath: [String]
    /// The signature algorithm of the content, such as `SHA-256, rsaEncryption`; `nil` if the container could not be
    /// read.
    public let signature: String?
    /// The size of the signed container in bytes; `nil` if there is none.
    public let containerBytes: Int?
    /// The content of the evidence, as far as it could be read.
    public let content: UnverifiedEvidence?

    /// One check and how it ended.
    public struct Check: Sendable {
        /// The subject of the check, in a few words.
        public let name: String
        public let outcome: Outcome
    }

    /// The result of a check.
    public enum Outcome: Sendable {
        case passed
        case failed(VerificationError)
        /// The check could not be made because an earlier one failed. This also counts as failed.
        case notPossible
    }

    /// The first check that failed: the error that `PurchaseVerifier` would throw.
    public var firstFailure: VerificationError? {
        for check in checks {
            if case .failed(let error) = check.outcome { return error }
        }
        return nil
    }
}

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
