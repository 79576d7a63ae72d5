/// A problem document (RFC 9457): how every error is answered, by the server and by the simulator.
public struct ProblemDocument: Codable, Sendable, Equatable {
    /// The media type of the document (RFC 9457, 6.1).
    public static let contentType = "application/problem+json"

    public var type: String
    /// The name of the HTTP status.
    public var title: String
    /// The HTTP status.
    public var status: Int
    /// The stable code.
    public var code: String
    /// A sentence for people.
    public var detail: String?
    /// The expected value.
    public var expected: String?
    /// The value found instead.
    public var found: String?
    /// The instruction to the app about its transaction; only for purchases and restores. If it is absent, the app does
    /// not finish the transaction.
    public var disposition: Disposition?
    /// The holder of the earlier claim, if the code is `already_claimed`.
    public var claimedBy: PriorClaim?
    /// `rejected`; only of purchases.
    public var verdict: SubmissionVerdict?
    /// Whether the same customer claimed the transaction before, whatever became of that claim; only of purchases.
    public var replayed: Bool?
    /// The submission in the record; only of purchases.
    public var submissionID: String?
    /// The hash of the submission's leaf in the Merkle log, in hexadecimal; only of purchases.
    public var leafHash: String?
    /// The customer into whom the claim's customer was merged; only of purchases, and absent if they were not.
    public var mergedInto: String?
    /// What the sender should correct besides; only of purchases and restores.
    public var warnings: [WarningMessage]?

    public init(
        type: String = "about:blank", title: String, status: Int, code: String, detail: String? = nil,
        expected: String? = nil, found: String? = nil, disposition: Disposition? = nil, claimedBy: PriorClaim? = nil,
        verdict: SubmissionVerdict? = nil, replayed: Bool? = nil, submissionID: String? = nil, leafHash: String? = nil,
        mergedInto: String? = nil, warnings: [WarningMessage]? = nil
    ) {
        (self.type, self.title, self.status, self.code) = (type, title, status, code)
        (self.detail, self.expected, self.found, self.disposition) = (detail, expected, found, disposition)
        (self.claimedBy, self.verdict, self.replayed, self.submissionID) = (claimedBy, verdict, replayed, submissionID)
        (self.leafHash, self.mergedInto, self.warnings) = (leafHash, mergedInto, warnings)
    }

    package enum CodingKeys: String, CodingKey {
        case type, title, status, code, detail, expected, found, disposition, verdict, replayed, warnings
        case claimedBy = "claimed_by"
        case submissionID = "submission_id"
        case leafHash = "leaf_hash"
        case mergedInto = "merged_into"
    }
}
