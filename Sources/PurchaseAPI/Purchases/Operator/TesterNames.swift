/// `GET /v1/testers`
public struct TesterNames: Codable, Sendable, Equatable {
    /// Their customer ids.
    public var testers: [String]

    /// The testers of an app.
    public init(testers: [String]) {
        self.testers = testers
    }

    enum CodingKeys: String, CodingKey {
        case testers
    }
}
