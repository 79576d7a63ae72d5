import PurchaseVerification

/// A receiver of an app's events, and its progress.
struct WebhookRow: TableRow {
    static let table = Table(
        "webhooks", key: "webhook_key",
        columns: [
            "app_key", "url", "event_cursor", "revision", "lease_owner", "lease_until", "disabled_at",
            "disabled_reason",
        ])

    let key: Int64
    let appKey: Int64
    let url: String
    /// Every event up to this one was delivered or has a row of its own.
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
        url = try reader.text()
        cursor = try reader.integer()
        revision = try reader.integer()
        leaseOwner = try reader.optionalBlob()
        leaseUntil = try reader.optionalTime()
        disabledAt = try reader.optionalTime()
        disabledReason = try reader.optionalText()
    }
}

struct WebhooksTable {
    let connection: any LedgerConnection

    func row(appKey: Int64, url: String) throws(LedgerStorageError) -> WebhookRow? {
        try WebhookRow.first("WHERE app_key = ?1 AND url = ?2", [.integer(appKey), .text(url)], connection)
    }

    func all(appKey: Int64) throws(LedgerStorageError) -> [WebhookRow] {
        try WebhookRow.all("WHERE app_key = ?1 ORDER BY url", [.integer(appKey)], connection)
    }

    /// Inserts a webhook that begins after an event.
    func insert(appKey: Int64, url: String, after cursor: Int64) throws(LedgerStorageError) {
        try connection.execute(
            "INSERT INTO webhooks (app_key, url, event_cursor, revision) VALUES (?1, ?2, ?3, 0)",
            [.integer(appKey), .text(url), .integer(cursor)])
    }

    func setLease(_ key: Int64, owner: [UInt8], until: Timestamp) throws(LedgerStorageError) {
        try connection.execute(
            "UPDATE webhooks SET lease_owner = ?2, lease_until = ?3 WHERE webhook_key = ?1",
            [.integer(key), .blob(owner), .time(until)])
    }

    /// Moves the cursor and extends the lease.
    ///
    /// - Returns: whether the owner still has the lease, and the webhook was not changed in the meantime.
    func advance(
        _ key: Int64, owner: [UInt8], revision: Int64, to cursor: Int64, until: Timestamp
    ) throws(LedgerStorageError) -> Bool {
        try connection.execute(
            """
            UPDATE webhooks SET event_cursor = ?4, lease_until = ?5
            WHERE webhook_key = ?1 AND lease_owner = ?2 AND revision = ?3 AND disabled_at IS NULL
            """, [.integer(key), .blob(owner), .integer(revision), .integer(cursor), .time(until)]) == 1
    }

    func release(_ key: Int64, owner: [UInt8]) throws(LedgerStorageError) {
        try connection.execute(
            "UPDATE webhooks SET lease_owner = NULL, lease_until = NULL WHERE webhook_key = ?1 AND lease_owner = ?2",
            [.integer(key), .blob(owner)])
    }

    /// Disables or enables a webhook, and makes the delivering server read it again.
    func set(_ key: Int64, disabledAt: Timestamp?, reason: String?) throws(LedgerStorageError) {
        try connection.execute(
            "UPDATE webhooks SET disabled_at = ?2, disabled_reason = ?3, revision = revision + 1 WHERE webhook_key = ?1",
            [.integer(key), .time(disabledAt), .text(reason)])
    }
}
