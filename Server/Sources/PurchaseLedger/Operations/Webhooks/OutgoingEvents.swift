/// The events of an app after a cursor, or its notifications of an environment, for its webhooks, oldest first.
public struct OutgoingEvents: LedgerQuery {
    public static let access = LedgerReadAccess.lists

    /// The number of pages without an announced event that are read at a time: an import writes hundreds of thousands
    /// of events, and those behind them wait.
    private static let passedPages = 16

    public var app: String
    public var stream: WebhookStream
    public var after: Int64
    public var limit: Int

    /// The events after a cursor.
    public init(app: String, _ stream: WebhookStream = .events, after: Int64, limit: Int) {
        (self.app, self.stream, self.after, self.limit) = (app, stream, after, limit)
    }

    /// - Returns: the events to deliver. If the last element is not announced, it represents all events that were
    ///   passed over.
    public func answer(_ reader: LedgerTransaction) throws -> [OutgoingEvent] {
        let app = try reader.app(app)
        let limit = max(1, limit)
        // An event after one that can still be committed has to wait, since the cursor would pass the uncommitted one.
        let settled = try stream.settled(reader.connection)
        let source = OutgoingSource(reader: reader, app: app, stream: stream)
        var passed: OutgoingEvent?
        for _ in 0..<Self.passedPages {
            let page = try source.events(after: passed?.key ?? after, upTo: settled, limit: Int64(limit))
            let events = page.filter(\.isAnnounced)
            passed = page.last { !$0.isAnnounced } ?? passed
            if !events.isEmpty {
                if let last = page.last, !last.isAnnounced { return events + [last] }
                return events
            }
            guard page.count == limit else { break }
        }
        return passed.map { [$0] } ?? []
    }
}
