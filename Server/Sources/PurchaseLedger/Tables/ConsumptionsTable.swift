import PurchaseVerification

struct ConsumptionsTable {
    let connection: any LedgerConnection

    /// The consumption of a customer with an id. Ids of a customer whose merge is in progress count as well.
    func row(_ consumptionID: String, customer: Int64) throws(LedgerStorageError) -> ConsumptionRow? {
        let rows = try ConsumptionRow.query(
            """
            \(ConsumptionRow.table.select("WHERE customer_key = ?1 AND consumption_id = ?2")) UNION ALL
            \(ConsumptionRow.table.select(
                """
                WHERE customer_key = (SELECT customer_key FROM customer_moves WHERE target_key = ?1)
                AND consumption_id = ?2
                """))
            """, of: ["consumptions", "customer_moves"], [.integer(customer), .text(consumptionID)], connection)
        return rows.first { $0.customerKey == customer } ?? rows.first
    }

    func row(entry: Int64, customer: Int64) throws(LedgerStorageError) -> ConsumptionRow? {
        try ConsumptionRow.first(
            "WHERE customer_key = ?1 AND entry_key = ?2", [.integer(customer), .integer(entry)], connection)
    }

    /// The ids of a merged customer that move to the other one. Those that the other one used as well do not.
    func movable(from customer: Int64, to target: Int64, limit: Int64) throws(LedgerStorageError) -> [String] {
        var ids: [String] = []
        for row in try connection.rows(
            """
            SELECT consumption_id FROM consumptions WHERE customer_key = ?1 AND NOT EXISTS
            (SELECT 1 FROM consumptions AS used
            WHERE used.customer_key = ?2 AND used.consumption_id = consumptions.consumption_id)
            ORDER BY consumption_id LIMIT ?3
            """, [.integer(customer), .integer(target), .integer(limit)], of: ["consumptions"])
        {
            var reader = row.reader
            ids.append(try reader.text())
        }
        return ids
    }

    /// Moves consumptions of a customer.
    ///
    /// - Returns: how many were moved.
    func move(from customer: Int64, to target: Int64, limit: Int) throws(LedgerStorageError) -> Int {
        let ids = try movable(from: customer, to: target, limit: Int64(limit))
        for id in ids { try move(id, from: customer, to: target) }
        return ids.count
    }

    func move(_ consumptionID: String, from customer: Int64, to target: Int64) throws(LedgerStorageError) {
        try connection.send(
            to: "consumptions",
            "UPDATE consumptions SET customer_key = ?2 WHERE customer_key = ?1 AND consumption_id = ?3",
            [.integer(customer), .integer(target), .text(consumptionID)])
    }

    func deleteAll(of customer: Int64) throws(LedgerStorageError) {
        try connection.send(
            to: "consumptions", "DELETE FROM consumptions WHERE customer_key = ?1", [.integer(customer)])
    }

    func insert(_ row: ConsumptionRow) throws(LedgerStorageError) {
        try connection.insert(ConsumptionRow.table.insertion, row.values)
    }
}
