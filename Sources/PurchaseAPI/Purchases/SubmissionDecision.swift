/// The decision about a claim that waited for the App Store.
public struct SubmissionDecision: Codable, Sendable, Equatable {
    /// The entry of the decision.
    public var submissionID: String
    public var verdict: SubmissionVerdict
    public var code: String
    public var expected: String?
    public var found: String?

    /// A decision by its parts.
    public init(
        submissionID: String, verdict: SubmissionVerdict, code: String, expected: String? = nil, found: String? = nil
    ) {
        self.submissionID = submissionID
        self.verdict = verdict
        self.code = code
        self.expected = expected
        self.found = found
    }

    enum CodingKeys: String, CodingKey {
        case verdict, code, expected, found
        case submissionID = "submission_id"
    }
}
