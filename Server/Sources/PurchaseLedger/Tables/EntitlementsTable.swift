import PurchaseVerification

struct EntitlementsTable {
    private static let replacement = LedgerInsertion(
        EntitlementRow.table.name, EntitlementRow.table.insertion.columns,
        onConflict: ["customer_key", "product_key", "environment", "ground"],
        """
        DO UPDATE SET kind = excluded.kind, balance = excluded.balance, shortfall = excluded.shortfall,
        timeline = excluded.timeline, reason = excluded.reason
        """)
    /// The columns of the row that stands for a claimed seat.
    private static let seat = """
        seats.customer_key, seat_access.product_key, seat_access.environment,
        \(EntitlementRow.seatGround) - seats.entry_key, '\(ProductKind.autoRenewable.rawValue)', 0, 0, NULL, NULL
        """
    /// The grounds of the customer with a name, for the product with an id, and claimed seats.
    static let ofName = ReadShape(
        """
        \(EntitlementRow.table.select("WHERE customer_key = ?1 AND product_key = ?2 AND environment = ?3"))
        UNION ALL SELECT \(seat) FROM seats JOIN seat_access ON seat_access.original_key = seats.original_key
        WHERE seats.customer_key = ?1 AND seat_access.product_key = ?2 AND seat_access.environment = ?3
        """,
        of: ReadScope(
            EntitlementRow.table.name, by: "customer_key", "product_key", "environment",
            and: [SeatRow.table.name, SeatAccessRow.table.name]),
        [.column(0, of: CustomersTable.byName), .column(0, of: ProductsTable.byID), .value], replacement: replacement)

    /// The grounds of the owner of an original.
    static let ofOwner = ReadShape(
        ofName.sql, of: ofName.scope,
        [
            .column(TransactionsTable.ownerColumn, of: TransactionsTable.ofOriginal),
            .column(0, of: ProductsTable.byID),
            .value,
        ], replacement: replacement)

    let connection: any LedgerConnection
    /// The rows that this write has changed already.
    var writes: EntitlementWrites?

    /// Every ground of a customer, claimed seats included, with the ids of the products. The rows of a product follow
    /// each other.
    func rows(of customer: Int64) throws(LedgerStorageError) -> [(row: EntitlementRow, productID: String)] {
        var rows: [(row: EntitlementRow, productID: String)] = []
        let query = """
            SELECT customer_key, entitlements.product_key, environment, ground, kind, balance, shortfall, timeline,
            reason, product_id FROM entitlements JOIN products ON products.product_key = entitlements.product_key
            WHERE customer_key =
            """
        // The database would sort the claimed seats, which nearly nobody has, in a table of their own.
        for row in try connection.rows(
            """
            \(query) ?1 UNION ALL SELECT \(Self.seat), product_id FROM seats
            JOIN seat_access ON seat_access.original_key = seats.original_key
            JOIN products ON products.product_key = seat_access.product_key
            WHERE seats.customer_key = ?1
            """, [.integer(customer)],
            of: [EntitlementRow.table.name, SeatRow.table.name, SeatAccessRow.table.name])
        {
            var reader = row.reader
            rows.append((try EntitlementRow(&reader), try reader.text()))
        }
        return rows.sorted {
            ($0.row.productKey, $0.row.environment, $0.row.ground) < (
                $1.row.productKey, $1.row.environment, $1.row.ground
            )
        }
    }

    /// The grounds of a customer's access to one product, claimed seats included.
    func rows(
        of customer: Int64, product: Int64, environment: Int64
    ) throws(LedgerStorageError) -> [EntitlementRow] {
        let parameters: [LedgerValue] = [.integer(customer), .integer(product), .integer(environment)]
        let product = EntitlementWrites.Product(customer: customer, product: product, environment: environment)
        guard let writes, writes.isKnown(product) else {
            return try EntitlementRow.query(Self.ofName, parameters, connection).sorted { $0.ground < $1.ground }
        }
        let rows = try EntitlementRow.query(
            Self.ofName.sql, of: [SeatRow.table.name, SeatAccessRow.table.name], parameters, connection)
        return writes.applied(to: rows, of: product).sorted { $0.ground < $1.ground }
    }

    func row(
        _ customer: Int64, product: Int64, environment: Int64, ground: Int64
    ) throws(LedgerStorageError) -> EntitlementRow? {
        try EntitlementRow.first(
            "WHERE customer_key = ?1 AND product_key = ?2 AND environment = ?3 AND ground = ?4",
            [.integer(customer), .integer(product), .integer(environment), .integer(ground)], connection)
    }

    /// Inserts or replaces a ground.
    func write(_ row: EntitlementRow) throws(LedgerStorageError) {
        try connection.insert(Self.replacement, row.values)
        writes?.note(row)
    }

    /// Adds to a balance and to its shortfall. The lots must be written first, because the newest one explains an empty
    /// balance.
    ///
    /// - Returns: both new values.
    @discardableResult
    func add(
        _ balance: Int64, shortfall: Int64, to row: EntitlementRow
    ) throws(LedgerStorageError) -> (balance: Int64, shortfall: Int64) {
        var row = row
        let former = try rows(of: row.customerKey, product: row.productKey, environment: row.environment)
            .first { $0.ground == row.ground }
        // Without a row, both were 0.
        row.balance = former.map { $0.balance + balance } ?? max(0, balance)
        row.shortfall = former.map { $0.shortfall + shortfall } ?? max(0, shortfall)
        row.reason = nil
        try write(row)
        if row.balance == 0 { try explain(row) }
        return (row.balance, row.shortfall)
    }

    /// Records why a balance is empty: the reason of its newest lot, or that the used units belong to another customer.
    /// A customer who has no lot and used nothing has no balance.
    func explain(_ row: EntitlementRow) throws(LedgerStorageError) {
        guard writes?.noteUnexplained(row) != true else { return }
        writes?.forget(row)
        let reason = try LotsTable(connection: connection)
            .emptiness(row.customerKey, product: row.productKey, environment: row.environment)
        if reason == nil {
            try connection.send(
                to: "entitlements",
                """
                DELETE FROM entitlements WHERE customer_key = ?1 AND product_key = ?2 AND environment = ?3
                AND ground = ?4 AND balance = 0 AND shortfall = 0
                """,
                [
                    .integer(row.customerKey), .integer(row.productKey), .integer(row.environment),
                    .integer(row.ground),
                ])
        }
        try connection.send(
            to: "entitlements",
            """
            UPDATE entitlements SET reason = ?5 WHERE customer_key = ?1 AND product_key = ?2 AND environment = ?3
            AND ground = ?4 AND balance = 0
            """,
            [
                .integer(row.customerKey), .integer(row.productKey), .integer(row.environment), .integer(row.ground),
                .text((reason ?? .ownedByAnother).rawValue),
            ])
    }

    /// Records why balances are empty that were left to the end of the write.
    func explainRest() throws(LedgerStorageError) {
        for row in writes?.takeUnexplained() ?? [] { try explain(row) }
    }

    func deleteAll(of customer: Int64) throws(LedgerStorageError) {
        try connection.send(
            to: "entitlements", "DELETE FROM entitlements WHERE customer_key = ?1", [.integer(customer)])
        writes?.forgetEverything()
    }

    func delete(
        _ customer: Int64, product: Int64, environment: Int64, ground: Int64
    ) throws(LedgerStorageError) {
        try connection.send(
            to: "entitlements",
            """
            DELETE FROM entitlements WHERE customer_key = ?1 AND product_key = ?2 AND environment = ?3 AND ground = ?4
            """, [.integer(customer), .integer(product), .integer(environment), .integer(ground)])
        writes?.noteDeletion(
            of: EntitlementWrites.Product(customer: customer, product: product, environment: environment),
            ground: ground)
    }
}

/// One ground of a customer's access to a product.
struct EntitlementRow: TableRow, Equatable {
    static let table = Table(
        "entitlements", key: nil,
        columns: [
            "customer_key", "product_key", "environment", "ground", "kind", "balance", "shortfall", "timeline",
            "reason",
        ])

    /// The ground of a balance.
    static let wholeGround: Int64 = 0
    /// The ground of a chain of passes. A product can have both, if its kind in the settings changed.
    static let passGround: Int64 = -9_223_372_036_854_775_807

    /// The ground of a claimed seat is this number minus that of the claim's entry. Such a row is not stored; it stands
    /// for a seat whose timeline follows from the subscription (`SeatReading`).
    static let seatGround: Int64 = -4_611_686_018_427_387_904

    var customerKey: Int64
    var productKey: Int64
    var environment: Int64
    /// An original's key, `wholeGround`, `passGround`, or the negative key of a manual grant.
    var ground: Int64
    var kind: ProductKind
    var balance: Int64
    var shortfall: Int64
    /// When the ground gives access, in its stored form; `nil` for a balance.
    var timeline: [UInt8]?
    /// Why a balance is empty; `nil` if it is not.
    var reason: NoAccessReason?

    /// The entry of the claimed seat that the row stands for; `nil` for a stored row.
    var seatEntry: Int64? {
        ground < Self.seatGround && ground != Self.passGround ? Self.seatGround - ground : nil
    }

    init(_ reader: inout RowReader) throws(LedgerStorageError) {
        customerKey = try reader.integer()
        productKey = try reader.integer()
        environment = try reader.integer()
        ground = try reader.integer()
        kind = try reader.named(ProductKind.self)
        balance = try reader.integer()
        shortfall = try reader.integer()
        timeline = try reader.optionalBlob()
        reason = try reader.optionalNamed(NoAccessReason.self)
    }

    init(customerKey: Int64, productKey: Int64, environment: Int64, ground: Int64, kind: ProductKind) {
        self.customerKey = customerKey
        self.productKey = productKey
        self.environment = environment
        self.ground = ground
        self.kind = kind
        (balance, shortfall) = (0, 0)
    }

    /// A balance.
    init(balance: (balance: Int64, shortfall: Int64), of customer: Int64, product: Int64, environment: Int64) {
        self.init(
            customerKey: customer, productKey: product, environment: environment, ground: Self.wholeGround,
            kind: .consumable)
        (self.balance, shortfall) = balance
    }

    /// A timeline.
    init(
        _ timeline: AccessTimeline, _ kind: ProductKind, of customer: Int64, product: Int64, environment: Int64,
        ground: Int64
    ) {
        self.init(customerKey: customer, productKey: product, environment: environment, ground: ground, kind: kind)
        self.timeline = timeline.encoded
    }

    /// A note of a lot that gives another customer nothing.
    init(note reason: NoAccessReason, of customer: Int64, product: Int64, environment: Int64, ground: Int64) {
        self.init(
            customerKey: customer, productKey: product, environment: environment, ground: ground, kind: .consumable)
        self.reason = reason
    }

    var values: [LedgerValue] {
        [
            .integer(customerKey), .integer(productKey), .integer(environment), .integer(ground), .text(kind.rawValue),
            .integer(balance), .integer(shortfall), .blob(timeline), .text(reason?.rawValue),
        ]
    }
}

/// The entitlements that one write has changed, so that the write can read a customer's rows without sending its
/// changes to the database first.
final class EntitlementWrites {
    /// A customer's entitlement to a product.
    struct Product: Hashable {
        let customer: Int64
        let product: Int64
        let environment: Int64
    }

    /// The rows by product and ground; `nil` for a deleted row.
    private var rows: [Product: [Int64: EntitlementRow?]] = [:]
    /// Products whose rows were changed by a statement that only the database can evaluate.
    private var unknown: Set<Product> = []
    private var isEverythingUnknown = false
    /// The empty balances whose reasons are written last; `nil` if each is written at once.
    private var unexplained: [Product: EntitlementRow]?

    /// Whether the rows of a product are those of the database with the changes noted here.
    func isKnown(_ product: Product) -> Bool { !isEverythingUnknown && !unknown.contains(product) }

    func note(_ row: EntitlementRow) {
        let product = Product(customer: row.customerKey, product: row.productKey, environment: row.environment)
        rows[product, default: [:]][row.ground] = .some(row)
    }

    func noteDeletion(of product: Product, ground: Int64) {
        rows[product, default: [:]].updateValue(nil, forKey: ground)
    }

    func forget(_ row: EntitlementRow) {
        unknown.insert(Product(customer: row.customerKey, product: row.productKey, environment: row.environment))
    }

    /// Leaves the reasons of empty balances to the end of the write, because later decisions can change the lots.
    func explainLast() { unexplained = [:] }

    /// Notes an empty balance whose reason is written last.
    ///
    /// - Returns: whether reasons are.
    func noteUnexplained(_ row: EntitlementRow) -> Bool {
        guard unexplained != nil else { return false }
        unexplained?[Product(customer: row.customerKey, product: row.productKey, environment: row.environment)] = row
        return true
    }

    /// The balances whose reasons are to be written now.
    func takeUnexplained() -> [EntitlementRow] {
        let rows = unexplained?.values.sorted { ($0.customerKey, $0.productKey) < ($1.customerKey, $1.productKey) }
        unexplained = nil
        return rows ?? []
    }

    func forgetEverything() { isEverythingUnknown = true }

    /// The rows of a product after the changes, ordered by ground.
    ///
    /// - Parameter read: the rows of the database, with or without the changes.
    func applied(to read: [EntitlementRow], of product: Product) -> [EntitlementRow] {
        guard let changed = rows[product] else { return read }
        let unchanged = read.filter { changed[$0.ground] == nil }
        return (unchanged + changed.values.compactMap(\.self)).sorted { $0.ground < $1.ground }
    }
}
