public import PurchaseVerification

/// How far a webhook is behind.
public struct WebhookReadings: Sendable, Equatable {
    /// The app of the settings.
    public var app: String
    /// What it gets.
    public var stream: WebhookStream
    public var url: String
    /// The events that were not delivered and not given up, counted up to `LedgerReadings.limit` twice: those that
    /// were not attempted, and those that failed or wait behind one that failed.
    public var waiting: Int
    /// When the oldest of them happened.
    public var oldest: Timestamp?
    /// The events that were given up, counted up to the same limit.
    public var givenUp: Int
    /// Whether an operator or an answer 410 disabled it.
    public var isDisabled: Bool
}

extension WebhookReadings {
    static func all(
        appKey: Int64, app: String, _ connection: any LedgerConnection
    ) throws(LedgerStorageError) -> [WebhookReadings] {
        let webhooks = WebhooksTable(connection: connection)
        let deliveries = WebhookDeliveriesTable(connection: connection)
        var readings: [WebhookReadings] = []
        for row in try webhooks.all(appKey: appKey) {
            let limit = Int64(LedgerReadings.limit)
            let ofEvents = row.environment == 0
            let behind =
                ofEvents
                ? try EventsTable(connection: connection).count(appKey: appKey, after: row.cursor, limit: limit)
                : try NotificationsTable(connection: connection).count(
                    appKey: appKey, environment: row.environment, after: row.cursor, limit: limit)
            readings.append(
                WebhookReadings(
                    app: app, stream: try webhooks.stream(of: row), url: row.url,
                    waiting: behind + (try deliveries.count(row.key, isDead: false, limit: limit)),
                    oldest: try oldest(row, behind: behind, connection),
                    givenUp: try deliveries.count(row.key, isDead: true, limit: limit),
                    isDisabled: row.disabledAt != nil))
        }
        return readings
    }

    /// The time of the oldest event that waits: those of failed attempts are before the cursor.
    private static func oldest(
        _ row: WebhookRow, behind: Int, _ connection: any LedgerConnection
    ) throws(LedgerStorageError) -> Timestamp? {
        var key = try WebhookDeliveriesTable(connection: connection).first(row.key)
        var entry = row.environment == 0 ? "(SELECT entry_key FROM events WHERE event_key = ?1)" : "?1"
        var values: [LedgerValue] = []
        if let key {
            values = [.integer(key)]
        } else if behind > 0 {
            key = row.cursor
            values = [.integer(row.cursor), .integer(row.appKey)]
            entry =
                row.environment == 0
                ? """
                (SELECT entry_key FROM events WHERE event_key > ?1 AND app_key = ?2 ORDER BY event_key LIMIT 1)
                """
                : """
                (SELECT entry_key FROM notifications WHERE entry_key > ?1 AND app_key = ?2 AND environment = ?3
                ORDER BY entry_key LIMIT 1)
                """
            if row.environment != 0 { values.append(.integer(row.environment)) }
        }
        guard key != nil else { return nil }
        let rows = try connection.rows("SELECT at FROM journal WHERE entry_key = \(entry)", values)
        guard var reader = rows.first?.reader else { return nil }
        return try reader.time()
    }
}
