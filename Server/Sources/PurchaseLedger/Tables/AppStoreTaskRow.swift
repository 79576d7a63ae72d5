import PurchaseVerification

/// Work with the App Store Server API.
struct AppStoreTaskRow: TableRow {
    static let table = Table(
        "app_store_tasks", key: nil,
        columns: [
            "kind", "app_key", "environment", "subject", "progress", "scheduled", "attempts", "next_at", "leased_until",
        ])

    let kind: String
    let appKey: Int64
    let environment: Int64
    let subject: String
    let progress: String?
    /// How often it was scheduled again.
    let scheduled: Int64
    let attempts: Int64
    /// When it is done; `nil` if nothing is left.
    let nextAt: Timestamp?
    let leasedUntil: Timestamp?

    init(_ reader: inout RowReader) throws(LedgerStorageError) {
        kind = try reader.text()
        appKey = try reader.integer()
        environment = try reader.integer()
        subject = try reader.text()
        progress = try reader.optionalText()
        scheduled = try reader.integer()
        attempts = try reader.integer()
        nextAt = try reader.optionalTime()
        leasedUntil = try reader.optionalTime()
    }
}
