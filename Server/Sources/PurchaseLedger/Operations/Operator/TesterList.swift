import PurchaseVerification

/// The names of an app's testers, ordered by when the customers were first seen.
public struct TesterList: LedgerQuery {
    public static let access = LedgerReadAccess.lists

    public var app: String
    /// The position at which the previous page ended.
    public var after: Int64
    public var limit: Int

    /// A page of testers.
    public init(app: String, after: Int64 = 0, limit: Int) {
        self.app = app
        self.after = after
        self.limit = limit
    }

    /// A page, and the start of the next one; `nil` if this is the last. Erased customers have no name and are left
    /// out.
    public struct Answer: Sendable {
        public var names: [String]
        public var next: Int64?
    }

    public func answer(_ reader: LedgerTransaction) throws -> Answer {
        let count = max(1, limit)
        let rows = try TestersTable(connection: reader.connection).page(
            appKey: try reader.app(app).key, after: after, limit: Int64(count) + 1)
        let page = rows.prefix(count)
        return Answer(names: page.compactMap(\.name), next: rows.count > count ? page.last?.key : nil)
    }
}
