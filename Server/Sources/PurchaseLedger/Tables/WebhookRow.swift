import PurchaseVerification

/// A receiver of an app's events, or of its notifications, and its progress.
struct WebhookRow: TableRow {
    static let table = Table(
        "webhooks", key: "webhook_key",
        columns: [
            "app_key", "environment", "url", "event_cursor", "revision", "lease_owner", "lease_until", "disabled_at",
            "disabled_reason",
        ])

    let key: Int64
    let appKey: Int64
    /// 0 for events; otherwise the environment of the notifications.
    let environment: Int64
    let url: String
    /// Every event (for notifications, every entry) up to this one was delivered or has a row of its own.
    let cursor: Int64
    /// Counts the changes by operators, so that the server that delivers notices them.
    let revision: Int64
    let leaseOwner: [UInt8]?
    let leaseUntil: Timestamp?
    let disabledAt: Timestamp?
    let disabledReason: String?

    init(_ reader: inout RowReader) throws(LedgerStorageError) {
        key = try reader.integer()
        appKey = try reader.integer()
        environment = try reader.integer()
        url = try reader.text()
        cursor = try reader.integer()
        revision = try reader.integer()
        leaseOwner = try reader.optionalBlob()
        leaseUntil = try reader.optionalTime()
        disabledAt = try reader.optionalTime()
        disabledReason = try reader.optionalText()
    }
}
