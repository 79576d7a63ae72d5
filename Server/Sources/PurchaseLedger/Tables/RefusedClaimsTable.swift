import PurchaseVerification

/// The claims that are not accepted, by the transaction that their request names. Their entries refer to no
/// transaction: the ledger may not know it, and bytes that do not verify name nothing.
struct RefusedClaimsTable {
    /// The claims of a customer and day (UTC) that are found by their transactions. A person who tries again makes a
    /// few; requests that repeat fill neither the table nor the list of a transaction that belongs to somebody else.
    /// Those beyond are found by their customer.
    static let mostPerCustomerAndDay: Int64 = 20
    static let name = "refused_claims"

    let connection: any LedgerConnection

    /// Adds a claim, unless the customer has enough on its day.
    func insert(
        _ transactionID: String, entry: Int64, app: Int64, customer: Int64, at time: Timestamp
    ) throws(LedgerStorageError) {
        let today = try connection.rows(
            "SELECT entry_key FROM refused_claims WHERE customer_key = ?1 AND at >= ?2 LIMIT ?3",
            [
                .integer(customer), .time(UnverifiedEvidenceTable.beginning(ofDayAt: time)),
                .integer(Self.mostPerCustomerAndDay),
            ], of: [Self.name])
        guard today.count < Self.mostPerCustomerAndDay else { return }
        try connection.send(
            to: Self.name,
            """
            INSERT INTO refused_claims (app_key, transaction_id, at, entry_key, customer_key)
            VALUES (?1, ?2, ?3, ?4, ?5)
            """, [.integer(app), .text(transactionID), .time(time), .integer(entry), .integer(customer)])
    }

    /// The transactions that begin with a text.
    func transactions(beginning text: String, app: Int64, limit: Int64) throws(LedgerStorageError) -> [String] {
        try connection.rows(
            """
            SELECT DISTINCT transaction_id FROM refused_claims
            WHERE app_key = ?1 AND transaction_id >= ?2 AND transaction_id < ?3 ORDER BY transaction_id LIMIT ?4
            """, [.integer(app), .text(text), .text(text + "\u{10FFFF}"), .integer(limit)]
        ).map { row throws(LedgerStorageError) in
            var reader = row.reader
            return try reader.text()
        }
    }

    func deleteAll(of customer: Int64) throws(LedgerStorageError) {
        try connection.send(
            to: Self.name, "DELETE FROM refused_claims WHERE customer_key = ?1", [.integer(customer)])
    }
}
