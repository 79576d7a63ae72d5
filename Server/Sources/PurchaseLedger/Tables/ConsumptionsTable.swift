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

/// The number of units of each lot that each customer consumed. After a transfer of the lot, consumed units stay with
/// the former owner.
struct TakesTable {
    static let ofOriginal = ReadShape(
        "SELECT customer_key, units FROM takes WHERE ground = ?1", of: ReadScope("takes", by: "ground"),
        [.column(0, of: OriginalsTable.byNumber)])

    let connection: any LedgerConnection

    /// The units that were consumed from a lot, by customer.
    func units(of ground: Int64) throws(LedgerStorageError) -> [Int64: Int64] {
        var units: [Int64: Int64] = [:]
        for row in try connection.rows(Self.ofOriginal, [.integer(ground)]) {
            var reader = row.reader
            units[try reader.integer()] = try reader.integer()
        }
        return units
    }

    /// The units that a customer took, by lot.
    func units(by customer: Int64) throws(LedgerStorageError) -> [Int64: Int64] {
        var units: [Int64: Int64] = [:]
        for row in try connection.rows(
            "SELECT ground, units FROM takes WHERE customer_key = ?1", [.integer(customer)], of: ["takes"])
        {
            var reader = row.reader
            units[try reader.integer()] = try reader.integer()
        }
        return units
    }

    /// The lots from which a customer took units.
    func grounds(of customer: Int64, limit: Int64 = .max) throws(LedgerStorageError) -> [Int64] {
        try connection.integers(
            "SELECT ground FROM takes WHERE customer_key = ?1 ORDER BY ground LIMIT ?2",
            [.integer(customer), .integer(limit)], of: ["takes"])
    }

    func delete(_ ground: Int64, of customer: Int64) throws(LedgerStorageError) {
        try connection.send(
            to: "takes",
            "DELETE FROM takes WHERE ground = ?1 AND customer_key = ?2", [.integer(ground), .integer(customer)])
    }

    func deleteAll(of customer: Int64) throws(LedgerStorageError) {
        try connection.send(to: "takes", "DELETE FROM takes WHERE customer_key = ?1", [.integer(customer)])
    }

    func add(_ units: Int64, from ground: Int64, by customer: Int64) throws(LedgerStorageError) {
        try connection.send(
            to: "takes",
            """
            INSERT INTO takes (ground, customer_key, units) VALUES (?1, ?2, ?3)
            ON CONFLICT (ground, customer_key) DO UPDATE SET units = takes.units + ?3
            """, [.integer(ground), .integer(customer), .integer(units)])
    }
}
