import PurchaseVerification

import struct Foundation.UUID

struct OrdersTable {
    let connection: any LedgerConnection

    /// A query of whole rows, in which an order that a merge still moves has its new customer.
    private static func select(_ condition: String) -> String {
        let customer = """
            coalesce((SELECT target_key FROM customer_moves WHERE customer_moves.customer_key = orders.customer_key),
            customer_key)
            """
        let columns = OrderRow.table.columns.replacing("customer_key", with: customer)
        return "SELECT \(columns) FROM orders \(condition)"
    }

    /// Fulfilled orders with a payment. It scans the table; only a repair calls it.
    func fulfilled() throws(LedgerStorageError) -> [OrderRow] {
        try OrderRow.all("WHERE status = 'fulfilled' AND paid_by IS NOT NULL ORDER BY order_key", [], connection)
    }

    private static let byNumber = select("WHERE order_key = ?1")
    static let byID = ReadShape(
        select("WHERE order_id = ?1"), of: ReadScope(OrderRow.table.name, by: "order_id"), [.value])
    static let byPayment = ReadShape(
        select("WHERE paid_by = ?1"), of: ReadScope(OrderRow.table.name, by: "paid_by"),
        [.column(0, of: TransactionsTable.byKey)])
    /// The condition of open orders of a customer, for a quantity of a product.
    private static func open(of customer: String) -> String {
        let rows = select(
            """
            WHERE status = 'created' AND customer_key = \(customer) AND product_key = ?2 AND quantity = ?3
            AND (expires_at, order_key) > (?4, ?5) ORDER BY expires_at, order_key LIMIT ?6
            """)
        return "SELECT * FROM (\(rows)) AS open"
    }
    /// The customer whose rows still move to the first parameter.
    private static let moving = "(SELECT customer_key FROM customer_moves WHERE target_key = ?1)"
    /// Open orders of the customer with a name, for a quantity of the product with an id, and those that a merge still
    /// moves to them.
    static let openOfName = ReadShape(
        "\(open(of: "?1")) UNION ALL \(open(of: moving))", of: [OrderRow.table.name, CustomerMoveRow.table.name],
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
            Self.select("WHERE order_id BETWEEN ?1 AND ?2 ORDER BY order_id LIMIT ?3"), of: [OrderRow.table.name],
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
        let rows = try OrderRow.query(
            Self.openOfName.sql, of: skipsChanges ? [CustomerMoveRow.table.name] : Self.openOfName.scope,
            [
                .integer(customer), .integer(product), .integer(quantity), .time(cursor.expiresAt),
                .integer(cursor.key), .integer(limit),
            ], connection)
        return Array(rows.sorted { ($0.expiresAt, $0.key) < ($1.expiresAt, $1.key) }.prefix(Int(limit)))
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

    /// Records that a transaction paid an order. Only a rebuild calls it, for an erased transaction.
    func pay(_ id: UUID, with transactionKey: Int64, at time: Timestamp?, _ status: String) throws(LedgerStorageError) {
        try connection.send(
            to: "orders",
            "UPDATE orders SET paid_by = ?2, paid_at = ?3, status = ?4 WHERE order_id = ?1",
            [.id(id), .integer(transactionKey), .time(time), .text(status)])
    }

    /// Moves orders of a merged customer to the other one, the oldest first.
    ///
    /// - Returns: how many were moved.
    func move(from customer: Int64, to target: Int64, limit: Int64) throws(LedgerStorageError) -> Int {
        let orders = try ids(of: customer, limit: limit)
        guard let last = orders.last else { return 0 }
        try connection.send(
            to: "orders", "UPDATE orders SET customer_key = ?2 WHERE customer_key = ?1 AND order_key <= ?3",
            [.integer(customer), .integer(target), .integer(last.key)])
        return orders.count
    }

    /// Moves an order.
    func move(_ key: Int64, to target: Int64) throws(LedgerStorageError) {
        try connection.send(
            to: "orders", "UPDATE orders SET customer_key = ?2 WHERE order_key = ?1", [.integer(key), .integer(target)])
    }

    /// The first orders of a customer.
    func ids(of customer: Int64, limit: Int64) throws(LedgerStorageError) -> [(key: Int64, id: UUID)] {
        try OrderRow.all(
            "WHERE customer_key = ?1 ORDER BY order_key LIMIT ?2", [.integer(customer), .integer(limit)], connection
        ).map { ($0.key, $0.id) }
    }

    /// Orders of an app, newest first.
    func page(appKey: Int64, cursor: OrderCursor?, limit: Int64) throws(LedgerStorageError) -> [OrderRow] {
        try OrderRow.all(
            "WHERE app_key = ?1 AND order_key < ?2 ORDER BY order_key DESC LIMIT ?3",
            [.integer(appKey), .integer(cursor?.key ?? .max), .integer(limit)], connection)
    }

    /// Orders of a customer, newest first.
    ///
    /// - Parameter customers: the customer's keys.
    func page(customers: [Int64], cursor: OrderCursor?, limit: Int64) throws(LedgerStorageError) -> [OrderRow] {
        var rows: [OrderRow] = []
        for key in customers {
            rows += try OrderRow.query(
                Self.select("WHERE customer_key = ?1 AND order_key < ?2 ORDER BY order_key DESC LIMIT ?3"),
                of: [OrderRow.table.name],
                [.integer(key), .integer(cursor?.key ?? .max), .integer(limit)], connection)
        }
        return customers.count == 1 ? rows : Array(rows.sorted { $0.key > $1.key }.prefix(Int(limit)))
    }

    /// Orders of an app in a state, in the order of expiry, latest first.
    ///
    /// - Parameters:
    ///   - status: the state at `time`; unpaid orders are open or expired by it.
    func page(
        appKey: Int64, status: OrderStatus, at time: Timestamp, cursor: OrderCursor?, limit: Int64
    ) throws(LedgerStorageError) -> [OrderRow] {
        let stored = status == .expired ? OrderStatus.created : status
        let end = Timestamp(millisecondsSince1970: .max)
        var upper = cursor ?? OrderCursor(expiresAt: end, key: .max)
        if status == .expired, upper.expiresAt > time { upper = OrderCursor(expiresAt: time, key: .max) }
        let lower = status == .created ? time : Timestamp(millisecondsSince1970: .min)
        return try OrderRow.all(
            """
            WHERE app_key = ?1 AND status = ?2 AND (expires_at, order_key) < (?3, ?4) AND expires_at > ?5
            ORDER BY expires_at DESC, order_key DESC LIMIT ?6
            """,
            [
                .integer(appKey), .text(stored.rawValue), .time(upper.expiresAt), .integer(upper.key), .time(lower),
                .integer(limit),
            ], connection)
    }
}
