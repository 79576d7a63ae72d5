import PurchaseVerification

/// The units of one consumable purchase or manual grant. Each original has one lot, regardless of its copies.
struct LotRow: TableRow, Equatable {
    static let table = Table(
        "lots", key: nil,
        columns: [
            "ground", "customer_key", "product_key", "environment", "quantity", "withdrawn", "taken", "available",
            "purchased_at", "reason",
        ])

    /// The original's key, or the negative key of a manual grant.
    var ground: Int64
    /// The current owner.
    var customerKey: Int64
    var productKey: Int64
    var environment: Int64
    var quantity: Int64
    /// Units that Apple withdrew.
    var withdrawn: Int64
    /// Units that the current owner consumed.
    var taken: Int64
    var purchasedAt: Timestamp
    /// Why units were withdrawn; `nil` if none were.
    var reason: NoAccessReason?

    /// Units that can be consumed.
    var available: Int64 { part(of: customerKey, taken: taken).remaining }
    /// Units that were consumed and then withdrawn.
    var shortfall: Int64 { part(of: customerKey, taken: taken).shortfall }

    /// The part of the lot in the balance of a customer.
    func part(of customer: Int64, taken: Int64) -> ConsumableBalance {
        ConsumableBalance(units: customer == customerKey ? quantity - withdrawn : 0, taken: taken)
    }

    init(_ reader: inout RowReader) throws(LedgerStorageError) {
        ground = try reader.integer()
        customerKey = try reader.integer()
        productKey = try reader.integer()
        environment = try reader.integer()
        quantity = try reader.integer()
        withdrawn = try reader.integer()
        taken = try reader.integer()
        _ = try reader.integer()
        purchasedAt = try reader.time()
        let name = try reader.text()
        guard !name.isEmpty else { return }
        guard let known = NoAccessReason(rawValue: name) else {
            throw LedgerStorageError(.corrupt, "the reason of lot \(ground) cannot be read; run assay rebuild")
        }
        reason = known
    }

    init(
        ground: Int64, customerKey: Int64, productKey: Int64, environment: Int64, quantity: Int64,
        withdrawn: Int64, taken: Int64, purchasedAt: Timestamp, reason: NoAccessReason?
    ) {
        self.ground = ground
        self.customerKey = customerKey
        self.productKey = productKey
        self.environment = environment
        self.quantity = quantity
        self.withdrawn = withdrawn
        self.taken = taken
        self.purchasedAt = purchasedAt
        self.reason = reason
    }

    /// The row of a lot; `nil` if it is held.
    ///
    /// - Parameter taken: the units that its owner consumed.
    init?(_ lot: ConsumableLot, ground: Int64, product: Int64, environment: Int64, taken: Int64) {
        guard let owner = lot.owner else { return nil }
        self.init(
            ground: ground, customerKey: owner.rawValue, productKey: product, environment: environment,
            quantity: lot.quantity, withdrawn: lot.quantity - lot.units(at: nil), taken: taken, purchasedAt: lot.date,
            reason: lot.denial(at: nil))
    }

    var values: [LedgerValue] {
        [
            .integer(ground), .integer(customerKey), .integer(productKey), .integer(environment),
            .integer(quantity), .integer(withdrawn), .integer(taken), .integer(available), .time(purchasedAt),
            .text(reason?.rawValue ?? ""),
        ]
    }
}

struct LotsTable {
    static let ofOriginal = ReadShape(
        LotRow.table.select("WHERE ground = ?1"), of: ReadScope(LotRow.table.name, by: "ground"),
        [.column(0, of: OriginalsTable.byNumber)])

    let connection: any LedgerConnection

    func row(_ ground: Int64) throws(LedgerStorageError) -> LotRow? {
        try LotRow.first(Self.ofOriginal, [.integer(ground)], connection)
    }

    /// Inserts or replaces the lot of an original.
    func write(_ row: LotRow, isNew: Bool) throws(LedgerStorageError) {
        if isNew {
            try connection.insert(LotRow.table.insertion, row.values)
            return
        }
        try connection.send(
            to: "lots",
            """
            UPDATE lots SET customer_key = ?2, product_key = ?3, environment = ?4, quantity = ?5, withdrawn = ?6,
            taken = ?7, available = ?8, purchased_at = ?9, reason = ?10 WHERE ground = ?1
            """, row.values)
    }

    func delete(_ ground: Int64) throws(LedgerStorageError) {
        try connection.send(to: "lots", "DELETE FROM lots WHERE ground = ?1", [.integer(ground)])
    }

    /// Why the newest empty lot of a balance is empty.
    ///
    /// - Returns: `nil` if there is no empty lot; `consumed` if all of its units were used.
    func emptiness(
        _ customer: Int64, product: Int64, environment: Int64
    ) throws(LedgerStorageError) -> NoAccessReason? {
        let rows = try connection.rows(
            """
            SELECT reason FROM lots WHERE customer_key = ?1 AND product_key = ?2 AND environment = ?3 AND available = 0
            ORDER BY purchased_at DESC, reason DESC LIMIT 1
            """, [.integer(customer), .integer(product), .integer(environment)],
            of: ReadScope("lots", by: "customer_key", "product_key", "environment"))
        guard var reader = rows.first?.reader else { return nil }
        return NoAccessReason(rawValue: try reader.text()) ?? .consumed
    }

    /// The newest lot of a balance of several customers.
    func newest(of customers: [Int64], product: Int64, environment: Int64) throws(LedgerStorageError) -> LotRow? {
        var lots: [LotRow] = []
        for customer in customers {
            for condition in ["available = 0", "available > 0"] {
                lots += try LotRow.all(
                    """
                    WHERE customer_key = ?1 AND product_key = ?2 AND environment = ?3 AND \(condition)
                    ORDER BY purchased_at DESC LIMIT 16
                    """, [.integer(customer), .integer(product), .integer(environment)], connection)
            }
        }
        return lots.max {
            ($0.purchasedAt, $0.reason?.rawValue ?? "") < ($1.purchasedAt, $1.reason?.rawValue ?? "")
        }
    }

    /// The lots of a customer from which another one took units, with these units.
    func taken(
        from owner: Int64, by customer: Int64, product: Int64, environment: Int64
    ) throws(LedgerStorageError) -> [(lot: LotRow, units: Int64)] {
        let columns = LotRow.table.columns.split(separator: ", ").map { "lots.\($0)" }.joined(separator: ", ")
        var lots: [(lot: LotRow, units: Int64)] = []
        for row in try connection.rows(
            """
            SELECT \(columns), takes.units FROM takes JOIN lots ON lots.ground = takes.ground
            WHERE takes.customer_key = ?1 AND lots.customer_key = ?2 AND product_key = ?3 AND environment = ?4
            """, [.integer(customer), .integer(owner), .integer(product), .integer(environment)],
            of: ["lots", "takes"])
        {
            var reader = row.reader
            lots.append((try LotRow(&reader), try reader.integer()))
        }
        return lots
    }

    /// The lots of a balance that have units left, the oldest purchase first.
    func available(
        _ customer: Int64, product: Int64, environment: Int64, limit: Int64
    ) throws(LedgerStorageError) -> [LotRow] {
        try LotRow.all(
            """
            WHERE customer_key = ?1 AND product_key = ?2 AND environment = ?3 AND available > 0
            ORDER BY purchased_at, ground LIMIT ?4
            """, [.integer(customer), .integer(product), .integer(environment), .integer(limit)], connection)
    }
}
