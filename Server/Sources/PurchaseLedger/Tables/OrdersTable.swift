public import PurchaseVerification

import struct Foundation.UUID

struct OrdersTable {
    let connection: any LedgerConnection

    private static let byNumber = OrderRow.table.select("WHERE order_key = ?1")
    static let byID = ReadShape(
        OrderRow.table.select("WHERE order_id = ?1"), of: ReadScope(OrderRow.table.name, by: "order_id"), [.value])
    static let byPayment = ReadShape(
        OrderRow.table.select("WHERE paid_by = ?1"), of: ReadScope(OrderRow.table.name, by: "paid_by"),
        [.column(0, of: TransactionsTable.byKey)])
    /// Open orders of the customer with a name, for a quantity of the product with an id.
    static let openOfName = ReadShape(
        OrderRow.table.select(
            """
            WHERE status = 'created' AND customer_key = ?1 AND product_key = ?2 AND quantity = ?3
            AND (expires_at, order_key) > (?4, ?5) ORDER BY expires_at, order_key LIMIT ?6
            """), of: [OrderRow.table.name],
        [
            .column(0, of: CustomersTable.byName), .column(0, of: ProductsTable.byID), .value, .value, .value, .value,
        ])

    /// Open orders of the owner of an original.
    static let openOfOwner = ReadShape(
        openOfName.sql, of: openOfName.scope,
        [
            .column(TransactionsTable.ownerColumn, of: TransactionsTable.ofOriginal),
            .column(0, of: ProductsTable.byID),
            .value, .value, .value, .value,
        ])

    func row(id: UUID) throws(LedgerStorageError) -> OrderRow? {
        try OrderRow.first(Self.byID, [.id(id)], connection)
    }

    /// The orders whose ids begin with hexadecimal digits; none for any other text, and for fewer than six digits, with
    /// which orders begin by chance.
    func beginning(with text: String, limit: Int64) throws(LedgerStorageError) -> [OrderRow] {
        let digits = text.filter { $0 != "-" }
        guard (6...32).contains(digits.utf8.count), digits.utf8.allSatisfy({ Character(UnicodeScalar($0)).isHexDigit })
        else { return [] }
        let bounds = ["0", "f"].map { filler in
            LedgerValue.blob([UInt8](hexadecimal: digits + String(repeating: filler, count: 32 - digits.utf8.count)))
        }
        return try OrderRow.query(
            OrderRow.table.select("WHERE order_id BETWEEN ?1 AND ?2 ORDER BY order_id LIMIT ?3"),
            of: [OrderRow.table.name],
            bounds + [.integer(limit)], connection)
    }

    func row(key: Int64) throws(LedgerStorageError) -> OrderRow? {
        try OrderRow.query(Self.byNumber, of: [OrderRow.table.name], [.integer(key)], connection).first
    }

    /// - Parameter addsChanges: whether the caller adds the orders that the write has changed.
    func row(paidBy transactionKey: Int64, addsChanges: Bool = false) throws(LedgerStorageError) -> OrderRow? {
        try OrderRow.query(
            Self.byPayment.sql, of: addsChanges ? [] : Self.byPayment.scope, [.integer(transactionKey)], connection
        ).first
    }

    /// A page of the unpaid orders of a customer for a quantity of a product, those first that expire first.
    ///
    /// - Parameters:
    ///   - cursor: the last order of the previous page; for the first page, the time of the purchase and the greatest
    ///     key.
    ///   - skipsChanges: whether the caller skips the orders that the write has changed.
    func open(
        of customer: Int64, product: Int64, quantity: Int64, after cursor: OrderCursor, limit: Int64, skipsChanges: Bool
    ) throws(LedgerStorageError) -> [OrderRow] {
        try OrderRow.query(
            Self.openOfName.sql, of: skipsChanges ? [] : Self.openOfName.scope,
            [
                .integer(customer), .integer(product), .integer(quantity), .time(cursor.expiresAt),
                .integer(cursor.key), .integer(limit),
            ], connection)
    }

    func insert(_ row: OrderRow) throws(LedgerStorageError) -> OrderRow {
        var row = row
        row.key = try OrderRow.table.insert(row.values, connection)
        return row
    }

    /// Writes a new state, if the order is still in the old one.
    ///
    /// - Throws: `constraint` if the state was changed concurrently, which locking prevents; at the latest with the
    ///   commit.
    func update(_ row: OrderRow, from old: OrderStatus) throws(LedgerStorageError) {
        // The state of an order is never null, so the database refuses the update of one in another state.
        try connection.send(
            to: "orders",
            """
            UPDATE orders SET status = CASE WHEN status = ?8 THEN ?2 END, paid_by = ?3, paid_at = ?4, fulfilled_at = ?5,
            closed_at = ?6, fulfilled_units = ?7 WHERE order_key = ?1
            """,
            [
                .integer(row.key), .text(row.status.rawValue), .integer(row.paidBy), .time(row.paidAt),
                .time(row.fulfilledAt), .time(row.closedAt), .integer(row.fulfilledUnits), .text(old.rawValue),
            ])
    }

    /// Removes everything from a customer's orders except their ids, and their app, so that they cannot be found.
    func erase(of customer: Int64) throws(LedgerStorageError) {
        let empty = OrderRow(erased: OrderRow.noID, customerKey: customer, at: .epoch)
        try connection.send(
            to: "orders",
            """
            UPDATE orders SET app_key = 0, product_key = 0, quantity = 0, environment = NULL, token = ?2, metadata = NULL,
            expires_at = created_at, status = ?3, paid_by = NULL, paid_at = NULL, fulfilled_at = NULL, closed_at = NULL,
            accepts_renewal = 0, fulfilled_units = 0
            WHERE customer_key = ?1
            """, [.integer(customer), .id(empty.token), .text(empty.status.rawValue)])
    }

    /// The orders of an index, the latest first.
    func order(_ index: ListIndex, by columns: [String]) -> ListOrder<OrderRow, OrderCursor> {
        ListOrder(connection, [index], by: columns) { OrderCursor(expiresAt: $0.expiresAt, key: $0.key) }
    }

    /// Records that a transaction paid an order. Only a rebuild calls it, for an erased transaction.
    func pay(_ id: UUID, with transactionKey: Int64, at time: Timestamp?, _ status: String) throws(LedgerStorageError) {
        try connection.send(
            to: "orders",
            "UPDATE orders SET paid_by = ?2, paid_at = ?3, status = ?4 WHERE order_id = ?1",
            [.id(id), .integer(transactionKey), .time(time), .text(status)])
    }
}

/// An order.
struct OrderRow: TableRow {
    static let table = Table(
        "orders", key: "order_key",
        columns: [
            "order_id", "app_key", "customer_key", "product_key", "quantity", "environment", "token", "metadata",
            "created_at", "expires_at", "status", "paid_by", "paid_at", "fulfilled_at", "closed_at", "accepts_renewal",
            "fulfilled_units",
        ])

    var key: Int64
    var id: UUID
    var appKey: Int64
    var customerKey: Int64
    var productKey: Int64
    var quantity: Int64
    /// The environment that the order names.
    var environment: Int64?
    var token: UUID
    var metadata: String?
    var createdAt: Timestamp
    var expiresAt: Timestamp
    /// The state; never `expired`, which depends on the time.
    var status: OrderStatus
    var paidBy: Int64?
    var paidAt: Timestamp?
    var fulfilledAt: Timestamp?
    var closedAt: Timestamp?
    /// Whether an automatic renewal pays it, although no claim names it.
    var acceptsRenewal = false
    /// Units that were delivered.
    var fulfilledUnits: Int64 = 0

    init(_ reader: inout RowReader) throws(LedgerStorageError) {
        key = try reader.integer()
        id = try reader.id()
        appKey = try reader.integer()
        customerKey = try reader.integer()
        productKey = try reader.integer()
        quantity = try reader.integer()
        environment = try reader.optionalInteger()
        token = try reader.id()
        metadata = try reader.optionalText()
        createdAt = try reader.time()
        expiresAt = try reader.time()
        status = try reader.named(OrderStatus.self)
        paidBy = try reader.optionalInteger()
        paidAt = try reader.optionalTime()
        fulfilledAt = try reader.optionalTime()
        closedAt = try reader.optionalTime()
        acceptsRenewal = try reader.integer() != 0
        fulfilledUnits = try reader.integer()
    }

    init(
        id: UUID, appKey: Int64, customerKey: Int64, productKey: Int64, quantity: Int64, environment: Int64?,
        acceptsRenewal: Bool = false, token: UUID, metadata: String?, createdAt: Timestamp, expiresAt: Timestamp
    ) {
        key = 0
        self.id = id
        self.appKey = appKey
        self.customerKey = customerKey
        self.productKey = productKey
        self.quantity = quantity
        self.environment = environment
        self.acceptsRenewal = acceptsRenewal
        self.token = token
        self.metadata = metadata
        self.createdAt = createdAt
        self.expiresAt = expiresAt
        status = .created
    }

    /// The token of an erased order.
    static let noID = UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0))

    /// An erased order, which keeps only the id, the customer's key and a time.
    init(erased id: UUID, customerKey: Int64, at time: Timestamp) {
        self.init(
            id: id, appKey: 0, customerKey: customerKey, productKey: 0, quantity: 0, environment: nil, token: Self.noID,
            metadata: nil, createdAt: time, expiresAt: time)
        status = .cancelled
    }

    var values: [LedgerValue] {
        [
            .id(id), .integer(appKey), .integer(customerKey), .integer(productKey), .integer(quantity),
            .integer(environment), .id(token), .text(metadata), .time(createdAt), .time(expiresAt),
            .text(status.rawValue), .integer(paidBy), .time(paidAt), .time(fulfilledAt), .time(closedAt),
            .integer(acceptsRenewal ? 1 : 0), .integer(fulfilledUnits),
        ]
    }

    /// The state at a time: an unpaid order expires.
    func status(at time: Timestamp) -> OrderStatus { status == .created && expiresAt <= time ? .expired : status }
}

/// The position at which a page of orders continues.
public struct OrderCursor: ListCursor {
    /// When the last order of the previous page expires.
    public var expiresAt: Timestamp
    public var key: Int64

    /// Creates a cursor.
    public init(expiresAt: Timestamp, key: Int64) {
        self.expiresAt = expiresAt
        self.key = key
    }

    public init?(numbers: [Int64]) {
        guard numbers.count == 2 else { return nil }
        self.init(expiresAt: Timestamp(millisecondsSince1970: numbers[0]), key: numbers[1])
    }

    public var numbers: [Int64] { [expiresAt.millisecondsSince1970, key] }
}
