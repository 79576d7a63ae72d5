import PurchaseVerification

/// The customers whose sandbox purchases count.
struct TestersTable {
    let connection: any LedgerConnection

    func contains(_ customer: Int64, appKey: Int64) throws(LedgerStorageError) -> Bool {
        !(try connection.rows(
            "SELECT 1 FROM testers WHERE app_key = ?1 AND customer_key = ?2", [.integer(appKey), .integer(customer)]
        ).isEmpty)
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

    /// The names of all testers of an app.
    func names(appKey: Int64) throws(LedgerStorageError) -> [String] {
        var names: [String] = []
        for row in try connection.rows(
            """
            SELECT customers.name FROM testers JOIN customers ON customers.customer_key = testers.customer_key
            WHERE testers.app_key = ?1 ORDER BY testers.customer_key
            """, [.integer(appKey)])
        {
            var reader = row.reader
            if let name = try reader.optionalText() { names.append(name) }
        }
        return names
    }
}
