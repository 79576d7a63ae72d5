import PurchaseVerification

/// A consumption under the caller's id, which makes it idempotent.
struct ConsumptionRow: TableRow {
    static let table = Table(
        "consumptions", key: nil,
        columns: ["customer_key", "consumption_id", "entry_key", "product_key", "environment", "quantity"])

    var customerKey: Int64
    var consumptionID: String
    var entryKey: Int64
    var productKey: Int64
    var environment: Int64
    var quantity: Int64

    init(_ reader: inout RowReader) throws(LedgerStorageError) {
        customerKey = try reader.integer()
        consumptionID = try reader.text()
        entryKey = try reader.integer()
        productKey = try reader.integer()
        environment = try reader.integer()
        quantity = try reader.integer()
    }

    init(
        customerKey: Int64, consumptionID: String, entryKey: Int64, productKey: Int64, environment: Int64,
        quantity: Int64
    ) {
        self.customerKey = customerKey
        self.consumptionID = consumptionID
        self.entryKey = entryKey
        self.productKey = productKey
        self.environment = environment
        self.quantity = quantity
    }

    var values: [LedgerValue] {
        [
            .integer(customerKey), .text(consumptionID), .integer(entryKey), .integer(productKey),
            .integer(environment), .integer(quantity),
        ]
    }
}

struct ConsumptionsTable {
    let connection: any LedgerConnection

    func row(_ consumptionID: String, customer: Int64) throws(LedgerStorageError) -> ConsumptionRow? {
        try ConsumptionRow.first(
            "WHERE customer_key = ?1 AND consumption_id = ?2", [.integer(customer), .text(consumptionID)], connection)
    }

    func row(entry: Int64, customer: Int64) throws(LedgerStorageError) -> ConsumptionRow? {
        try ConsumptionRow.first(
            "WHERE customer_key = ?1 AND entry_key = ?2", [.integer(customer), .integer(entry)], connection)
    }

    /// Moves the consumptions of a customer. Ids of the merged customer that the other one used as well are not moved.
    func move(from customer: Int64, to target: Int64) throws(LedgerStorageError) {
        try connection.send(
            to: "consumptions",
            """
            UPDATE consumptions SET customer_key = ?2 WHERE customer_key = ?1 AND consumption_id NOT IN
            (SELECT consumption_id FROM consumptions WHERE customer_key = ?2)
            """, [.integer(customer), .integer(target)])
    }

    func rows(of customer: Int64) throws(LedgerStorageError) -> [ConsumptionRow] {
        try ConsumptionRow.all("WHERE customer_key = ?1 ORDER BY consumption_id", [.integer(customer)], connection)
    }

    func deleteAll(of customer: Int64) throws(LedgerStorageError) {
        try connection.send(
            to: "consumptions", "DELETE FROM consumptions WHERE customer_key = ?1", [.integer(customer)])
    }

    func insert(_ row: ConsumptionRow) throws(LedgerStorageError) {
        try connection.insert(ConsumptionRow.table.insertion, row.values)
    }
}
