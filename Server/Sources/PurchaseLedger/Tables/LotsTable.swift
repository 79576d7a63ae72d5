import PurchaseVerification

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
