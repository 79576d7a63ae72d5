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

/// The deliveries whose next attempt is due, each with the events that wait behind it.
public struct DueDeliveries: LedgerQuery {
    public static let access = LedgerReadAccess.lists

    /// The number of events of one customer that are read at a time.
    private static let laneLimit: Int64 = 64

    public var app: String
    public var lease: WebhookLease
    /// The maximum number of lanes that are read.
    public var limit: Int

    /// The due events.
    public init(app: String, _ lease: WebhookLease, limit: Int) {
        (self.app, self.lease, self.limit) = (app, lease, limit)
    }

    public func answer(_ reader: LedgerTransaction) throws -> [(lane: WebhookLane, deliveries: [PendingDelivery])] {
        let table = WebhookDeliveriesTable(connection: reader.connection)
        guard lease.stream == .events else { return try notifications(table, reader) }
        let app = try reader.app(app).settings
        var lanes: [(lane: WebhookLane, deliveries: [PendingDelivery])] = []
        for head in try table.due(lease.key, at: reader.now, limit: Int64(max(1, limit))) {
            guard head.state != .resend else {
                lanes.append((.resend(event: head.content.key), [PendingDelivery(head, app: app)]))
                continue
            }
            let followers = try table.waiting(lease.key, lane: head.lane, limit: Self.laneLimit)
            lanes.append((.customer(head.lane), ([head] + followers).map { PendingDelivery($0, app: app) }))
        }
        return lanes
    }

    /// Each notification is a lane of its own.
    private func notifications(
        _ table: WebhookDeliveriesTable, _ reader: LedgerTransaction
    ) throws -> [(lane: WebhookLane, deliveries: [PendingDelivery])] {
        let source = OutgoingSource(reader: reader, app: try reader.app(app), stream: lease.stream)
        return try table.dueEntries(lease.key, at: reader.now, limit: Int64(max(1, limit))).map { row in
            let event = try source.notification(row.content)
            let delivery = PendingDelivery(
                event: event, state: row.state, attempts: row.attempts, firstAt: row.firstAt)
            return (row.state == .resend ? .resend(event: event.key) : .customer(event.customer), [delivery])
        }
    }
}

extension OutgoingEvent {
    init(_ event: NamedEvent, app: RegisteredApp) {
        (key, customer) = (event.key, event.lane)
        // The random id of the entry is part of it, so events after a restore from a backup have ids other than the
        // lost ones.
        id = "evt_\(event.entryID.bytes.hexadecimal)_\(event.key)"
        content = .event(EventContent(event, app: app))
        isAnnounced = event.figures.isAnnounced
    }
}

extension PendingDelivery {
    init(_ row: DeliveryRow<NamedEvent>, app: RegisteredApp) {
        event = OutgoingEvent(row.content, app: app)
        event.customer = row.lane
        (state, attempts, firstAt) = (row.state, row.attempts, row.firstAt)
    }
}
