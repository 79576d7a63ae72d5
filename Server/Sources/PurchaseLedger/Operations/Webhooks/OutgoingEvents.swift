/// The events of an app after a cursor, for its webhooks, oldest first.
public struct OutgoingEvents: LedgerQuery {
    public static let access = LedgerReadAccess.lists

    /// The number of pages without an announced event that are read at a time: an import writes hundreds of thousands of events,
    /// and those behind them wait.
    private static let passedPages = 16

    public var app: String
    public var after: Int64
    public var limit: Int

    /// The events after a cursor.
    public init(app: String, after: Int64, limit: Int) {
        (self.app, self.after, self.limit) = (app, after, limit)
    }

    /// - Returns: the events to deliver. If the last element is not announced, it represents all events that were passed over.
    public func answer(_ reader: LedgerTransaction) throws -> [OutgoingEvent] {
        let app = try reader.app(app)
        let limit = max(1, limit)
        // An event after one that can still be committed has to wait, since the cursor would pass the uncommitted one.
        let settled = try reader.connection.settledEvent() ?? .max
        var passed: NamedEvent?
        for _ in 0..<Self.passedPages {
            let page = try EventsTable(connection: reader.connection)
                .events(appKey: app.key, after: passed?.key ?? after, limit: Int64(limit))
                .prefix { $0.key <= settled }
            var events: [OutgoingEvent] = []
            for event in page where event.figures.isAnnounced {
                events.append(OutgoingEvent(event, app: app.settings))
            }
            passed = page.last { !$0.figures.isAnnounced } ?? passed
            if !events.isEmpty {
                if let last = page.last, !last.figures.isAnnounced {
                    events.append(OutgoingEvent(last, app: app.settings))
                }
                return events
            }
            guard page.count == limit else { break }
        }
        return passed.map { [OutgoingEvent($0, app: app.settings)] } ?? []
    }
}
