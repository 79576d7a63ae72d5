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
        let app = try reader.app(app).settings
        var lanes: [(lane: WebhookLane, deliveries: [PendingDelivery])] = []
        for head in try table.due(lease.key, at: reader.now, limit: Int64(max(1, limit))) {
            guard head.state != .resend else {
                lanes.append((.resend(event: head.event.key), [PendingDelivery(head, app: app)]))
                continue
            }
            let followers = try table.waiting(lease.key, lane: head.lane, limit: Self.laneLimit)
            lanes.append((.customer(head.lane), ([head] + followers).map { PendingDelivery($0, app: app) }))
        }
        return lanes
    }
}

extension OutgoingEvent {
    init(_ event: NamedEvent, app: RegisteredApp) {
        (key, customer) = (event.key, event.lane)
        // The random id of the entry is part of it, so events after a restore from a backup have ids other than the lost ones.
        id = "evt_\(event.entryID.bytes.hexadecimal)_\(event.key)"
        content = EventContent(event, app: app)
        isAnnounced = event.figures.isAnnounced
    }
}

extension PendingDelivery {
    init(_ row: DeliveryRow, app: RegisteredApp) {
        event = OutgoingEvent(row.event, app: app)
        event.customer = row.lane
        (state, attempts, firstAt) = (row.state, row.attempts, row.firstAt)
    }
}
