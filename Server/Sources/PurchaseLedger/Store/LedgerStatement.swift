/// A statement with its parameters.
public struct LedgerStatement: Sendable, Hashable {
    /// Portable SQL.
    public let sql: String
    /// The values of `?1`, `?2`…
    public let parameters: [LedgerValue]

    /// A statement with its parameters.
    public init(_ sql: String, _ parameters: [LedgerValue]) {
        self.sql = sql
        self.parameters = parameters
    }
}
