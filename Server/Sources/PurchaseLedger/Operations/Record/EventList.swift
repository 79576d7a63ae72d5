/// An event: its cursor and its JSON.
public struct StoredEvent: Sendable, Equatable {
    /// The cursor after this event.
    public var cursor: Int64
    public var type: String
    /// The event as JSON, the same that webhooks send.
    public var body: [UInt8]
}

/// The events of an app, oldest first.
public struct EventList: LedgerQuery {
    public static let access = LedgerReadAccess.lists

    public var app: String
    /// The cursor of the last event that was read; 0 starts with the first event.
    public var after: Int64
    public var limit: Int

    /// A page of events.
    public init(app: String, after: Int64 = 0, limit: Int) {
        self.app = app
        self.after = after
        self.limit = limit
    }

    public func answer(_ reader: LedgerTransaction) throws -> [StoredEvent] {
        let app = try reader.app(app)
        let settled = try reader.connection.settledEvent() ?? .max
        return try EventsTable(connection: reader.connection)
            .events(appKey: app.key, after: after, limit: Int64(max(1, limit)))
            .prefix { $0.key <= settled }
            .map {
                StoredEvent(
                    cursor: $0.key, type: $0.type, body: try EventBody($0, app: app.settings).encoded())
            }
    }
}
