import PurchaseVerification

struct SeatsTable {
    let connection: any LedgerConnection

    func row(entry: Int64) throws(LedgerStorageError) -> SeatRow? {
        try SeatRow.first("WHERE entry_key = ?1", [.integer(entry)], connection)
    }

    /// The claim with exactly this id, as a replay of the journal looks it up.
    func row(id: String, appKey: Int64) throws(LedgerStorageError) -> SeatRow? {
        try SeatRow.first("WHERE app_key = ?1 AND seat_id = ?2", [.integer(appKey), .text(id)], connection)
    }

    /// The claims with an id in any of its forms, the given one first.
    func rows(id: String, appKey: Int64) throws(LedgerStorageError) -> [SeatRow] {
        var found: [SeatRow] = []
        for form in SeatID.forms(id) {
            guard let row = try row(id: form, appKey: appKey) else { continue }
            if !found.contains(where: { $0.entryKey == row.entryKey }) { found.append(row) }
        }
        return found
    }

    func row(request: String, original: Int64) throws(LedgerStorageError) -> SeatRow? {
        try SeatRow.first(
            "WHERE original_key = ?1 AND request_id = ?2", [.integer(original), .text(request)], connection)
    }

    /// The oldest claim of a customer that did not end.
    func current(of customer: Int64, original: Int64) throws(LedgerStorageError) -> SeatRow? {
        try SeatRow.first(
            "WHERE customer_key = ?1 AND original_key = ?2 AND ended_at IS NULL ORDER BY entry_key LIMIT 1",
            [.integer(customer), .integer(original)], connection)
    }

    /// The claims of a subscription that did not end, the oldest first.
    func current(
        original: Int64, after entry: Int64, limit: Int64
    ) throws(LedgerStorageError) -> [SeatRow] {
        try SeatRow.all(
            "WHERE original_key = ?1 AND entry_key > ?2 AND ended_at IS NULL ORDER BY entry_key LIMIT ?3",
            [.integer(original), .integer(entry), .integer(limit)], connection)
    }

    /// The claims that name a download of the app, ended or not, the oldest first.
    func rows(appTransactionID id: String, appKey: Int64) throws(LedgerStorageError) -> [SeatRow] {
        try SeatRow.all(
            "WHERE app_key = ?1 AND app_transaction_id = ?2 ORDER BY entry_key", [.integer(appKey), .text(id)],
            connection)
    }

    /// The claims of a customer, ended or not, the oldest first.
    func rows(of customer: Int64) throws(LedgerStorageError) -> [SeatRow] {
        try SeatRow.all("WHERE customer_key = ?1 ORDER BY entry_key", [.integer(customer)], connection)
    }

    /// Whether a subscription ever had a claim.
    func isClaimed(original: Int64) throws(LedgerStorageError) -> Bool {
        try !connection.rows(
            "SELECT 1 FROM seats WHERE original_key = ?1 LIMIT 1", [.integer(original)], of: ["seats"]
        ).isEmpty
    }

    /// The number of claims of a subscription before an entry that have not ended.
    ///
    /// - Parameter limit: the number from which on they are not counted.
    func count(original: Int64, before entry: Int64, limit: Int64) throws(LedgerStorageError) -> Int64 {
        try count(
            """
            SELECT count(*) FROM (SELECT 1 FROM seats
            WHERE original_key = ?1 AND entry_key < ?2 AND ended_at IS NULL LIMIT ?3) AS older
            """, [.integer(original), .integer(entry), .integer(limit)])
    }

    /// The number of claims of a subscription before an entry that were in force at a time.
    func count(original: Int64, before entry: Int64, at moment: Timestamp) throws(LedgerStorageError) -> Int64 {
        try count(
            """
            SELECT count(*) FROM seats WHERE original_key = ?1 AND entry_key < ?2
            AND claimed_at <= ?3 AND (ended_at IS NULL OR ended_at > ?3)
            """, [.integer(original), .integer(entry), .time(moment)])
    }

    private func count(_ sql: String, _ parameters: [LedgerValue]) throws(LedgerStorageError) -> Int64 {
        guard var reader = try connection.rows(sql, parameters, of: ["seats"]).first?.reader else { return 0 }
        return try reader.integer()
    }

    func insert(_ row: SeatRow) throws(LedgerStorageError) {
        try connection.insert(SeatRow.table.insertion, row.values)
    }

    func end(_ row: SeatRow, at moment: Timestamp) throws(LedgerStorageError) {
        try connection.send(
            to: "seats", "UPDATE seats SET ended_at = ?2 WHERE entry_key = ?1", [.integer(row.entryKey), .time(moment)])
    }

    func move(from customer: Int64, to target: Int64) throws(LedgerStorageError) {
        try connection.send(
            to: "seats", "UPDATE seats SET customer_key = ?2 WHERE customer_key = ?1",
            [.integer(customer), .integer(target)])
    }

    /// Deletes the claims of an erased customer. Their ids never live again.
    func erase(of customer: Int64) throws(LedgerStorageError) {
        let access = SeatAccessTable(connection: connection)
        let rows = try rows(of: customer)
        for row in rows {
            try UnclaimedSeatsTable(connection: connection).insertIfNew(
                row.seatID, appKey: row.appKey, entry: row.entryKey)
            try connection.send(to: "seats", "DELETE FROM seats WHERE entry_key = ?1", [.integer(row.entryKey)])
        }
        for original in Set(rows.map(\.originalKey)).sorted() where try !isClaimed(original: original) {
            try access.delete(original: original)
        }
    }
}
