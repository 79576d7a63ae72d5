/// A page of submissions, newest first. It can be shorter than the limit, or empty, while there is a next page.
public struct SubmissionPage: Codable, Sendable, Equatable {
    public var submissions: [SubmissionMessage]
    /// The cursor of the next page; absent on the last page.
    public var nextCursor: String?

    /// A page.
    public init(submissions: [SubmissionMessage], nextCursor: String? = nil) {
        self.submissions = submissions
        self.nextCursor = nextCursor
    }

    enum CodingKeys: String, CodingKey {
        case submissions
        case nextCursor = "next_cursor"
    }
}
