struct ConsumptionConsentsTable {
    let connection: any LedgerConnection

    func row(of customer: Int64) throws(LedgerStorageError) -> ConsumptionConsentRow? {
        try ConsumptionConsentRow.first("WHERE customer_key = ?1", [.integer(customer)], connection)
    }

    func write(_ row: ConsumptionConsentRow) throws(LedgerStorageError) {
        try connection.send(
            to: "consumption_consents",
            """
            INSERT INTO consumption_consents (customer_key, is_given, stated_at, entry_key) VALUES (?1, ?2, ?3, ?4)
            ON CONFLICT (customer_key) DO UPDATE SET is_given = ?2, stated_at = ?3, entry_key = ?4
            """, row.values)
    }

    /// Of two merged customers the latest statement counts; of two at the same time, the refusal.
    func move(from customer: Int64, to target: Int64) throws(LedgerStorageError) {
        guard var row = try row(of: customer) else { return }
        if let known = try self.row(of: target) {
            let isLater = row.statedAt == known.statedAt ? !row.isGiven : row.statedAt > known.statedAt
            guard isLater else { return try delete(of: customer) }
        }
        try delete(of: customer)
        row.customerKey = target
        try write(row)
    }

    func delete(of customer: Int64) throws(LedgerStorageError) {
        try connection.send(
            to: "consumption_consents", "DELETE FROM consumption_consents WHERE customer_key = ?1",
            [.integer(customer)])
    }
}
