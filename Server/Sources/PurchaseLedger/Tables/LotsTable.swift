import PurchaseVerification

struct LotsTable {
    static let ofOriginal = ReadShape(
        LotRow.table.select("WHERE ground = ?1"), of: ReadScope(LotRow.table.name, by: "ground"),
        [.column(0, of: OriginalsTable.byNumber)])

    let connection: any LedgerConnection

    func row(_ ground: Int64) throws(LedgerStorageError) -> LotRow? {
        try LotRow.first(Self.ofOriginal, [.integer(ground)], connection)
    }

    /// Some lots of originals, by original.
    func rows(_ grounds: [Int64]) throws(LedgerStorageError) -> [Int64: LotRow] {
        let rows = try LotRow.all(
            "WHERE ground IN (\(LedgerValue.places(grounds.count)))", grounds.map { .integer($0) }, connection)
        return Dictionary(rows.map { ($0.ground, $0) }, uniquingKeysWith: { first, _ in first })
    }

    // MARK: Past balances

    /// Lots with units of which nothing but the purchase is known: no withdrawal, no use and no revocation. At each
    /// time, such a lot gives all of its units or has not begun.
    private static let untouched = """
        available > 0 AND ground > 0 AND withdrawn = 0 AND taken = 0 AND reason = ''
        AND NOT EXISTS (SELECT 1 FROM takes WHERE takes.ground = lots.ground)
        AND NOT EXISTS (SELECT 1 FROM hand_grants WHERE revoked_original = lots.ground)
        """

    /// The sum of lots of a product.
    struct Sum {
        let product: Int64
        let environment: Int64
        let quantity: Int64
        /// When the last of those began that have begun, or when the first of the others begins.
        let date: Timestamp
    }

    /// The sums of a customer's untouched lots, for each product those that have begun at a time and the others.
    func untouched(of customer: Int64, at moment: Timestamp) throws(LedgerStorageError) -> [Sum] {
        var sums: [Sum] = []
        for (date, condition) in [("max", "<="), ("min", ">")] {
            for row in try connection.rows(
                """
                SELECT product_key, environment, CAST(sum(quantity) AS BIGINT), \(date)(purchased_at) FROM lots
                WHERE customer_key = ?1 AND \(Self.untouched) AND purchased_at \(condition) ?2
                GROUP BY product_key, environment
                """,
                [
                    .integer(customer),
                    .time(moment.adding(milliseconds: AccessTimeline.startTolerance, times: 1)),
                ], of: ["lots", "takes", "hand_grants"])
            {
                var reader = row.reader
                sums.append(
                    Sum(
                        product: try reader.integer(), environment: try reader.integer(),
                        quantity: try reader.integer(), date: try reader.time()))
            }
        }
        return sums
    }

    /// The originals of all other lots that a customer has, had or used.
    func touched(of customer: Int64) throws(LedgerStorageError) -> [Int64] {
        try connection.integers(
            """
            SELECT ground FROM lots WHERE customer_key = ?1 AND available = 0 AND ground > 0
            UNION SELECT ground FROM lots WHERE customer_key = ?1 AND available > 0 AND ground > 0
            AND NOT (\(Self.untouched))
            UNION SELECT ground FROM takes WHERE customer_key = ?1 AND ground > 0
            UNION SELECT original_key FROM transactions WHERE owner_key = ?1 AND kind = 'consumable'
            AND NOT EXISTS (SELECT 1 FROM lots WHERE ground = original_key AND customer_key = ?1)
            """, [.integer(customer)], of: ["lots", "takes", "hand_grants", "transactions"])
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

    /// The lots of a balance that have no units left, the newest purchase first.
    func empty(
        _ customer: Int64, product: Int64, environment: Int64, limit: Int64
    ) throws(LedgerStorageError) -> [LotRow] {
        try LotRow.all(
            """
            WHERE customer_key = ?1 AND product_key = ?2 AND environment = ?3 AND available = 0
            ORDER BY purchased_at DESC, reason DESC LIMIT ?4
            """, [.integer(customer), .integer(product), .integer(environment), .integer(limit)], connection)
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
        lot.part(of: CustomerNumber(rawValue: customer), taken: taken)
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
            throw LedgerStorageError(.corrupt, "the reason of lot \(ground) cannot be read; run assay database rebuild")
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
        guard var lot = LotChange.Lot(lot, product: product) else { return nil }
        lot.taken = taken
        self.init(lot, ground: ground, environment: environment)
    }

    init(_ lot: LotChange.Lot, ground: Int64, environment: Int64) {
        self.init(
            ground: ground, customerKey: lot.owner.rawValue, productKey: lot.product, environment: environment,
            quantity: lot.quantity, withdrawn: lot.withdrawn, taken: lot.taken, purchasedAt: lot.purchasedAt,
            reason: lot.reason)
    }

    /// The lot without its place.
    var lot: LotChange.Lot {
        LotChange.Lot(
            owner: CustomerNumber(rawValue: customerKey), product: productKey, quantity: quantity,
            withdrawn: withdrawn, taken: taken, purchasedAt: purchasedAt, reason: reason)
    }

    var values: [LedgerValue] {
        [
            .integer(ground), .integer(customerKey), .integer(productKey), .integer(environment),
            .integer(quantity), .integer(withdrawn), .integer(taken), .integer(available), .time(purchasedAt),
            .text(reason?.rawValue ?? ""),
        ]
    }
}
