/// The events of an app after a cursor, for its webhooks, oldest first.
public struct OutgoingEvents: LedgerQuery {
    public static let access = LedgerReadAccess.lists

    public var app: String
    public var after: Int64
    public var limit: Int

    /// The events after a cursor.
    public init(app: String, after: Int64, limit: Int) {
        (self.app, self.after, self.limit) = (app, after, limit)
    }

    public func answer(_ reader: LedgerTransaction) throws -> [OutgoingEvent] {
        let app = try reader.app(app)
        // An event behind one that can still be committed waits, since the cursor would pass that one.
        let settled = try reader.connection.settledEvent() ?? .max
        return try EventsTable(connection: reader.connection)
            .events(appKey: app.key, after: after, limit: Int64(max(1, limit)))
            .prefix { $0.key <= settled }
            .map { try OutgoingEvent($0, app: app.settings.id) }
    }
}

/// The deliveries whose next attempt is due, each with what waits behind it.
public struct DueDeliveries: LedgerQuery {
    public static let access = LedgerReadAccess.lists

    /// The number of events of one customer that are read at a time.
    private static let laneLimit: Int64 = 64

    public var app: String
    public var lease: WebhookLease
    /// The maximum number of lanes that are read.
    public var limit: Int

    /// The events that are due.
    public init(app: String, _ lease: WebhookLease, limit: Int) {
        (self.app, self.lease, self.limit) = (app, lease, limit)
    }

    public func answer(_ reader: LedgerTransaction) throws -> [(lane: WebhookLane, deliveries: [PendingDelivery])] {
        let table = WebhookDeliveriesTable(connection: reader.connection)
        let app = try reader.app(app).settings.id
        var lanes: [(lane: WebhookLane, deliveries: [PendingDelivery])] = []
        for head in try table.due(lease.key, at: reader.now, limit: Int64(max(1, limit))) {
            guard head.state != .resend else {
                lanes.append((.resend(event: head.event.key), [try PendingDelivery(head, app: app)]))
                continue
            }
            let customer = head.event.customerKey ?? 0
            let followers = try table.waiting(lease.key, lane: customer, limit: Self.laneLimit)
            lanes.append((.customer(customer), try ([head] + followers).map { try PendingDelivery($0, app: app) }))
        }
        return lanes
    }
}

extension OutgoingEvent {
    init(_ event: NamedEvent, app: String) throws(LedgerStorageError) {
        (key, customer) = (event.key, event.customerKey ?? 0)
        // With the random id of the entry, the events of a restored backup have other ids than those after the backup.
        id = "evt_\(event.entryID.bytes.hexadecimal)_\(event.key)"
        body = try EventBody(event, app: app).encoded()
    }
}

extension PendingDelivery {
    init(_ row: DeliveryRow, app: String) throws(LedgerStorageError) {
        event = try OutgoingEvent(row.event, app: app)
        (state, attempts, firstAt) = (row.state, row.attempts, row.firstAt)
    }
}
