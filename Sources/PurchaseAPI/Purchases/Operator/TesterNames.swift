/// `GET /v1/testers`
public struct TesterNames: Codable, Sendable, Equatable {
    /// Their customer ids.
    public var testers: [String]
    /// The cursor of the next page; absent on the last.
    public var nextCursor: String?

    /// A page.
    public init(testers: [String], nextCursor: String? = nil) {
        self.testers = testers
        self.nextCursor = nextCursor
    }

    enum CodingKeys: String, CodingKey {
        case testers
        case nextCursor = "next_cursor"
    }
}
