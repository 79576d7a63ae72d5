/// How far events of an app are delivered to each of its webhooks.
public struct EventDeliveries: LedgerQuery {
    public static let access = LedgerReadAccess.lists

    /// The largest number of events of one question.
    public static let mostEvents = 100

    public var app: String
    /// The numbers of the events.
    public var events: [Int64]

    /// The deliveries of the first hundred of these events.
    public init(app: String, events: [Int64]) {
        self.app = app
        self.events = Array(events.prefix(Self.mostEvents))
    }

    /// - Returns: for each webhook that a server ever delivered to, and each event, how far it is.
    public func answer(_ reader: LedgerTransaction) throws -> [EventDelivery] {
        guard !events.isEmpty else { return [] }
        let app = try reader.app(app)
        let table = WebhookDeliveriesTable(connection: reader.connection)
        var answer: [EventDelivery] = []
        for webhook in try WebhooksTable(connection: reader.connection).all(appKey: app.key)
        where webhook.environment == 0 {
            let rows = try table.rows(webhook.key, events: events)
            for event in events {
                var delivery = EventDelivery(event: event, url: webhook.url, state: .delivered)
                if let row = rows[event] {
                    delivery.state = row.state == .dead || row.state == .gap ? .givenUp : .waiting
                    (delivery.attempts, delivery.lastError) = (row.attempts, row.lastError)
                } else if event > webhook.cursor {
                    delivery.state = .waiting
                }
                answer.append(delivery)
            }
        }
        return answer
    }
}
