import PurchaseVerification

struct ConsumptionRequestsTable {
    private static let name = "consumption_requests"

    let connection: any LedgerConnection

    func row(_ entry: Int64) throws(LedgerStorageError) -> ConsumptionRequestRow? {
        try ConsumptionRequestRow.first("WHERE entry_key = ?1", [.integer(entry)], connection)
    }

    func insert(_ row: ConsumptionRequestRow) throws(LedgerStorageError) {
        try connection.insert(ConsumptionRequestRow.table.insertion, row.values)
    }

    /// Counts a notification that asks the same question again.
    func count(_ entry: Int64) throws(LedgerStorageError) {
        try connection.send(
            to: Self.name, "UPDATE consumption_requests SET asked = asked + 1 WHERE entry_key = ?1", [.integer(entry)])
    }

    /// The questions of apps that are due and that no server works on, the earliest deadline first.
    func due(_ apps: [Int64], at now: Timestamp, limit: Int64) throws(LedgerStorageError) -> [ConsumptionRequestRow] {
        guard !apps.isEmpty else { return [] }
        let names = apps.sorted().map { "\($0)" }.joined(separator: ", ")
        // A lease that ends later than possible was taken by a clock that has been set back since.
        return try ConsumptionRequestRow.all(
            """
            WHERE state = 'open' AND next_at <= ?1 AND deadline > ?1
            AND (leased_until IS NULL OR leased_until <= ?1 OR leased_until > ?2) AND app_key IN (\(names))
            ORDER BY deadline, entry_key LIMIT ?3
            """,
            [
                .time(now), .integer(now.millisecondsSince1970 + ConsumptionRequestRow.lease), .integer(limit),
            ], connection)
    }

    /// The questions of an app before an entry, the newest first.
    func page(appKey: Int64, before entry: Int64, limit: Int64) throws(LedgerStorageError) -> [ConsumptionRequestRow] {
        try ConsumptionRequestRow.all(
            "WHERE app_key = ?1 AND entry_key < ?2 ORDER BY entry_key DESC LIMIT ?3",
            [.integer(appKey), .integer(entry), .integer(limit)], connection)
    }

    /// The questions about a transaction, the oldest first.
    func rows(transaction: Int64) throws(LedgerStorageError) -> [ConsumptionRequestRow] {
        try ConsumptionRequestRow.all(
            "WHERE transaction_key = ?1 ORDER BY asked_at, entry_key", [.integer(transaction)], connection)
    }

    /// Lets one server work on a question, with the answer that it sends.
    func lease(_ entry: Int64, until end: Timestamp, answer: [UInt8]) throws(LedgerStorageError) {
        try connection.send(
            to: Self.name,
            "UPDATE consumption_requests SET leased_until = ?2, answer = ?3 WHERE entry_key = ?1 AND state = 'open'",
            [.integer(entry), .time(end), .blob(answer)])
    }

    /// Looks at a question again later.
    func postpone(_ entry: Int64, attempts: Int64, to next: Timestamp) throws(LedgerStorageError) {
        try connection.send(
            to: Self.name,
            """
            UPDATE consumption_requests SET attempts = ?2, next_at = ?3, leased_until = NULL
            WHERE entry_key = ?1 AND state = 'open'
            """, [.integer(entry), .integer(attempts), .time(next)])
    }

    /// Ends the work on a question.
    func finish(_ entry: Int64, _ state: ConsumptionRequestState, answer: Int64) throws(LedgerStorageError) {
        try connection.send(
            to: Self.name,
            """
            UPDATE consumption_requests SET state = ?2, answer_entry = ?3, leased_until = NULL, answer = NULL
            WHERE entry_key = ?1
            """, [.integer(entry), .text(state.rawValue), .integer(answer)])
    }

    /// Notes Apple's decision about the refund.
    func close(_ row: ConsumptionRequestRow, by type: String, at time: Timestamp) throws(LedgerStorageError) {
        try connection.send(
            to: Self.name,
            """
            UPDATE consumption_requests SET closed_by = ?2, closed_at = ?3,
            state = CASE WHEN state = 'open' THEN 'closed' ELSE state END, leased_until = NULL, answer = NULL
            WHERE entry_key = ?1
            """, [.integer(row.entryKey), .text(type), .time(time)])
    }

    /// Deletes the question of an erased notification.
    func delete(_ entry: Int64) throws(LedgerStorageError) {
        try connection.send(
            to: Self.name, "DELETE FROM consumption_requests WHERE entry_key = ?1", [.integer(entry)])
    }

    /// Deletes the questions about an erased transaction.
    func deleteAll(transaction: Int64) throws(LedgerStorageError) {
        try connection.send(
            to: Self.name, "DELETE FROM consumption_requests WHERE transaction_key = ?1", [.integer(transaction)])
    }
}
