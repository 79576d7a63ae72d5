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
