import PurchaseVerification

/// Requests that were executed under an idempotency key, and the journal entry of each.
struct IdempotencyTable {
    private static let insertion = LedgerInsertion("idempotency", ["scope", "request_sha256", "entry_key", "at"])

    let connection: any LedgerConnection

    func entry(
        scope: [UInt8]
    ) throws(LedgerStorageError) -> (requestSHA256: [UInt8], entryKey: Int64)? {
        let rows = try connection.rows(
            "SELECT request_sha256, entry_key FROM idempotency WHERE scope = ?1", [.blob(scope)], of: ["idempotency"])
        guard var reader = rows.first?.reader else { return nil }
        return (try reader.blob(), try reader.integer())
    }

    func insert(
        scope: [UInt8], requestSHA256: [UInt8], entryKey: Int64, at time: Timestamp
    ) throws(LedgerStorageError) {
        try connection.insert(
            Self.insertion,
            [.blob(scope), .blob(requestSHA256), .integer(entryKey), .time(time)])
    }

    /// Deletes the rows of a customer's entries: a key is the hash of a request that contains the name.
    func deleteAll(of customer: Int64) throws(LedgerStorageError) {
        try connection.send(
            to: "idempotency",
            "DELETE FROM idempotency WHERE entry_key IN (SELECT entry_key FROM journal WHERE customer_key = ?1)",
            [.integer(customer)])
    }

    /// Deletes the rows that were written before a time.
    ///
    /// - Returns: their number.
    func delete(before time: Timestamp) throws(LedgerStorageError) -> Int {
        try connection.execute("DELETE FROM idempotency WHERE at < ?1", [.time(time)])
    }
}
