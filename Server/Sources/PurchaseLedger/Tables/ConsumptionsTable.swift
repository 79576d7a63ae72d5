import PurchaseVerification

struct ConsumptionsTable {
    let connection: any LedgerConnection

    /// The consumption of a customer with an id.
    func row(_ consumptionID: String, customer: Int64) throws(LedgerStorageError) -> ConsumptionRow? {
        try ConsumptionRow.query(
            ConsumptionRow.table.select("WHERE customer_key = ?1 AND consumption_id = ?2"), of: ["consumptions"],
            [.integer(customer), .text(consumptionID)], connection
        ).first
    }

    func row(entry: Int64, customer: Int64) throws(LedgerStorageError) -> ConsumptionRow? {
        try ConsumptionRow.first(
            "WHERE customer_key = ?1 AND entry_key = ?2", [.integer(customer), .integer(entry)], connection)
    }

    func deleteAll(of customer: Int64) throws(LedgerStorageError) {
        try connection.send(
            to: "consumptions", "DELETE FROM consumptions WHERE customer_key = ?1", [.integer(customer)])
    }

    func insert(_ row: ConsumptionRow) throws(LedgerStorageError) {
        try connection.insert(ConsumptionRow.table.insertion, row.values)
    }
}
