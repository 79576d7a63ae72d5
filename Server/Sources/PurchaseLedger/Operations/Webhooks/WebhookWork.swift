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
        return try EventsTable(connection: reader.connection)
            .outgoing(appKey: app.key, after: after, limit: Int64(max(1, limit)))
    }
}

/// The deliveries whose next attempt is due, each with what waits behind it.
public struct DueDeliveries: LedgerQuery {
    public static let access = LedgerReadAccess.lists

    /// How many events of one customer are read at a time.
    private static let laneLimit: Int64 = 64

    public var lease: WebhookLease
    /// How many lanes are read at most.
    public var limit: Int

    /// What is due.
    public init(_ lease: WebhookLease, limit: Int) {
        (self.lease, self.limit) = (lease, limit)
    }

    public func answer(_ reader: LedgerTransaction) throws -> [(lane: WebhookLane, deliveries: [PendingDelivery])] {
        let table = WebhookDeliveriesTable(connection: reader.connection)
        var lanes: [(lane: WebhookLane, deliveries: [PendingDelivery])] = []
        for head in try table.due(lease.key, at: reader.now, limit: Int64(max(1, limit))) {
            if head.state == .resend {
                lanes.append((.resend(event: head.event.key), [head]))
                continue
            }
            let customer = head.event.customer
            let followers = try table.waiting(lease.key, lane: customer, limit: Self.laneLimit)
            lanes.append((.customer(customer), [head] + followers))
        }
        return lanes
    }
}
