import PurchaseVerification

/// The webhooks of an app to which a server ever delivered.
public struct WebhookList: LedgerQuery {
    public static let access = LedgerReadAccess.lists

    /// The maximum number of given-up events listed per webhook.
    public static let deadLimit = 1000

    /// The limit up to which events after the cursor are counted.
    public static let behindLimit = 100_000

    public var app: String

    /// The webhooks of an app.
    public init(app: String) { self.app = app }

    public func answer(_ reader: LedgerTransaction) throws -> [WebhookStatus] {
        let app = try reader.app(app)
        let deliveries = WebhookDeliveriesTable(connection: reader.connection)
        var list: [WebhookStatus] = []
        let webhooks = WebhooksTable(connection: reader.connection)
        for row in try webhooks.all(appKey: app.key) {
            let limit = Int64(Self.behindLimit)
            let behind =
                row.environment == 0
                ? try EventsTable(connection: reader.connection).count(appKey: app.key, after: row.cursor, limit: limit)
                : try NotificationsTable(connection: reader.connection).count(
                    appKey: app.key, environment: row.environment, after: row.cursor, limit: limit)
            list.append(
                WebhookStatus(
                    stream: try webhooks.stream(of: row), url: row.url, cursor: row.cursor, behind: behind,
                    pending: try deliveries.waitingCount(row.key),
                    dead: try deliveries.dead(row, limit: Int64(Self.deadLimit)),
                    disabledAt: row.disabledAt, disabledReason: row.disabledReason))
        }
        return list
    }
}
