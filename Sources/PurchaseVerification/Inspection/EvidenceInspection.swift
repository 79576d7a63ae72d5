/// An inspection of evidence: every check with its result, and the content of the bytes. It vouches for nothing.
///
/// An inspection proves nothing. Verify before you grant.
public struct EvidenceInspection: Sendable {
    /// The kind of evidence and its text encoding; `nil` if it was not recognised.
    public let evidence: RecognizedEvidence?
    /// Each check in the order of `PurchaseVerifier`. After a failure, the later checks also run if they can.
    public internal(set) var checks: [Check]
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
        public internal(set) var outcome: Outcome
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

extension EvidenceInspection {
    /// The inspection with its errors at the time of an answer.
    public func at(_ now: AppStoreTime) -> EvidenceInspection {
        var inspection = self
        for (index, check) in checks.enumerated() {
            if case .failed(let error) = check.outcome { inspection.checks[index].outcome = .failed(error.at(now)) }
        }
        return inspection
    }
}
