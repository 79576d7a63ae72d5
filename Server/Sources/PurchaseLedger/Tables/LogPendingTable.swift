import PurchaseVerification

/// The journal entries that have no place in the Merkle log yet.
struct LogPendingTable {
    let connection: any LedgerConnection

    func insert(_ entryKey: Int64) throws(LedgerStorageError) {
        try connection.execute("INSERT INTO log_pending (entry_key) VALUES (?1)", [.integer(entryKey)])
    }

    func count() throws(LedgerStorageError) -> Int64 {
        guard var reader = try connection.rows("SELECT count(*) FROM log_pending", []).first?.reader else { return 0 }
        return try reader.integer()
    }
}
