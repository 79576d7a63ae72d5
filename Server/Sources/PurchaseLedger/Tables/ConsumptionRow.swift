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
