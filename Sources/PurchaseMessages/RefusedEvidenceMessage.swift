/// A piece of evidence of a restore that was refused.
public struct RefusedEvidenceMessage: Codable, Sendable, Equatable {
    /// Its place in the request, from 0.
    public var index: Int
    public var code: String
    /// The sentence for people.
    public var detail: String?
    public var expected: String?
    public var found: String?
    public var disposition: Disposition
    /// The submission in the record; absent if the refusal was only counted.
    public var submissionID: String?
    /// The hash of the submission's leaf in the Merkle log, in hexadecimal.
    public var leafHash: String?

    /// A refusal by its parts.
    public init(
        index: Int, code: String, detail: String? = nil, expected: String? = nil, found: String? = nil,
        disposition: Disposition, submissionID: String?, leafHash: String? = nil
    ) {
        self.index = index
        self.code = code
        self.detail = detail
        self.expected = expected
        self.found = found
        self.disposition = disposition
        self.submissionID = submissionID
        self.leafHash = leafHash
    }

    enum CodingKeys: String, CodingKey {
        case index, code, detail, expected, found, disposition
        case submissionID = "submission_id"
        case leafHash = "leaf_hash"
    }
}
