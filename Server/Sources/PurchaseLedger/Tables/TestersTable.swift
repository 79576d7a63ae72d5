import PurchaseVerification

/// The customers whose sandbox purchases count.
struct TestersTable {
    /// The row of the customer with a name.
    static let ofName = ReadShape(
        "SELECT 1 FROM testers WHERE app_key = ?1 AND customer_key = ?2",
        of: ReadScope("testers", by: "app_key", "customer_key"), [.value, .column(0, of: CustomersTable.byName)])

    let connection: any LedgerConnection

    func contains(_ customer: Int64, appKey: Int64) throws(LedgerStorageError) -> Bool {
        !(try connection.rows(Self.ofName, [.integer(appKey), .integer(customer)]).isEmpty)
    }

    /// - Returns: whether the customer was not a tester before.
    func insert(_ customer: Int64, appKey: Int64, entry: Int64) throws(LedgerStorageError) -> Bool {
        try connection.execute(
            """
            INSERT INTO testers (app_key, customer_key, entry_key) VALUES (?1, ?2, ?3)
            ON CONFLICT (app_key, customer_key) DO NOTHING
            """, [.integer(appKey), .integer(customer), .integer(entry)]) == 1
    }

    /// Makes the customer that a tester was merged into a tester.
    func move(from customer: Int64, to target: Int64) throws(LedgerStorageError) {
        try connection.send(
            to: "testers",
            """
            INSERT INTO testers (app_key, customer_key, entry_key)
            SELECT app_key, ?2, entry_key FROM testers
            WHERE app_key = (SELECT app_key FROM customers WHERE customer_key = ?1) AND customer_key = ?1
            ON CONFLICT (app_key, customer_key) DO NOTHING
            """, [.integer(customer), .integer(target)])
    }

    /// - Returns: whether the customer was a tester.
    func delete(_ customer: Int64, appKey: Int64) throws(LedgerStorageError) -> Bool {
        try connection.execute(
            "DELETE FROM testers WHERE app_key = ?1 AND customer_key = ?2", [.integer(appKey), .integer(customer)]) == 1
    }

    /// The testers of an app after a key, with their keys. The row of a customer who was merged into another remains
    /// and counts no more: the right of the survivor decides.
    func page(
        appKey: Int64, after key: Int64, limit: Int64
    ) throws(LedgerStorageError) -> [(key: Int64, name: String?)] {
        var testers: [(key: Int64, name: String?)] = []
        for row in try connection.rows(
            """
            SELECT testers.customer_key, customers.name FROM testers
            LEFT JOIN customers ON customers.customer_key = testers.customer_key
            WHERE testers.app_key = ?1 AND testers.customer_key > ?2 AND customers.merged_into IS NULL
            ORDER BY testers.customer_key LIMIT ?3
            """, [.integer(appKey), .integer(key), .integer(limit)])
        {
            var reader = row.reader
            testers.append((try reader.integer(), try reader.optionalText()))
        }
        return testers
    }
}
