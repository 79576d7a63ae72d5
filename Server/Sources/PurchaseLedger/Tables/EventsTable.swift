import PurchaseVerification

/// The changes of the ledger in order, each derived from a journal entry.
struct EventRow: TableRow {
    static let table = Table(
        "events", key: "event_key", columns: ["app_key", "entry_key", "customer_key", "type", "body"])

    var key: Int64
    var appKey: Int64
    var entryKey: Int64
    var customerKey: Int64?
    var type: String
    var body: [UInt8]

    init(_ reader: inout RowReader) throws(LedgerStorageError) {
        key = try reader.integer()
        appKey = try reader.integer()
        entryKey = try reader.integer()
        customerKey = try reader.optionalInteger()
        type = try reader.text()
        body = try reader.blob()
    }

    init(appKey: Int64, entryKey: Int64, customerKey: Int64?, type: String, body: [UInt8]) {
        key = 0
        self.appKey = appKey
        self.entryKey = entryKey
        self.customerKey = customerKey
        self.type = type
        self.body = body
    }

    var values: [LedgerValue] {
        [.integer(appKey), .integer(entryKey), .integer(customerKey), .text(type), .blob(body)]
    }
}

struct EventsTable {
    let connection: any LedgerConnection

    func insert(_ row: EventRow) throws(LedgerStorageError) {
        _ = try EventRow.table.insert(row.values, connection)
    }

    /// The events of a customer, and all that came of the same entries: these can name the customer as a former owner. It reads
    /// the app's events; only an erasure asks.
    func rows(of customer: Int64, appKey: Int64) throws(LedgerStorageError) -> [EventRow] {
        try EventRow.all(
            """
            WHERE app_key = ?1 AND entry_key IN
            (SELECT entry_key FROM events WHERE app_key = ?1 AND customer_key = ?2) ORDER BY event_key
            """, [.integer(appKey), .integer(customer)], connection)
    }

    func setBody(_ body: [UInt8], of key: Int64) throws(LedgerStorageError) {
        try connection.execute("UPDATE events SET body = ?2 WHERE event_key = ?1", [.integer(key), .blob(body)])
    }

    /// The events of an app after a key, oldest first.
    func rows(appKey: Int64, after key: Int64, limit: Int64) throws(LedgerStorageError) -> [EventRow] {
        try EventRow.all(
            "WHERE app_key = ?1 AND event_key > ?2 ORDER BY event_key LIMIT ?3",
            [.integer(appKey), .integer(key), .integer(limit)], connection)
    }
}
