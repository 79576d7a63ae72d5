import Crypto
public import PurchaseVerification

import struct Foundation.UUID

extension LedgerTransaction {
    /// Makes an order.
    ///
    /// - Throws: `LedgerRefusal` if the product is not one of the app's; `LedgerStorageError`.
    public func createOrder(_ draft: OrderDraft, app: RegisteredApp) throws -> Order {
        guard app.products.isEmpty || app.product(draft.productID) != nil else {
            throw LedgerRefusal(.productUnknown, found: draft.productID)
        }
        let order = Order(
            id: UUID().uuidString.lowercased(), app: app.id, customerID: draft.customerID,
            productID: draft.productID, quantity: draft.quantity, metadata: draft.metadata,
            appAccountToken: UUID().uuidString.lowercased(), recordedStatus: .created, createdAt: now,
            expiresAt: Timestamp(millisecondsSince1970: now.millisecondsSince1970 + app.orderLifetime))
        let placeholders = (1...order.values.count).map { "?\($0)" }.joined(separator: ", ")
        try connection.execute("INSERT INTO orders (\(Order.columns)) VALUES (\(placeholders))", order.values)
        try record(event(.orderCreated, order, detail: order.terms))
        return order
    }

    /// Notes that the operator gave what was paid. Noting it again changes nothing.
    ///
    /// - Throws: `LedgerRefusal` if it is not paid; `LedgerStorageError`.
    public func fulfil(_ orderID: String, app: String) throws -> Order {
        var order = try existing(orderID, app)
        switch order.status(at: now) {
        case .fulfilled: return order
        case .paid: break
        case let status: throw LedgerRefusal(.orderNotPaid, expected: OrderStatus.paid.rawValue, found: status.rawValue)
        }
        order.recordedStatus = .fulfilled
        order.fulfilledAt = now
        try connection.execute(
            "UPDATE orders SET status = 'fulfilled', fulfilled_at = ?1 WHERE order_id = ?2",
            [.time(now), .text(order.id)])
        try record(event(.orderFulfilled, order))
        return order
    }

    /// Cancels an order that waits for its payment. Cancelling it again changes nothing.
    ///
    /// - Throws: `LedgerRefusal` if it is paid or expired; `LedgerStorageError`.
    public func cancel(_ orderID: String, app: String) throws -> Order {
        var order = try existing(orderID, app)
        switch order.status(at: now) {
        case .cancelled: return order
        case .created: break
        case let status:
            throw LedgerRefusal(
                .orderNotCancellable, expected: OrderStatus.created.rawValue, found: status.rawValue)
        }
        order.recordedStatus = .cancelled
        order.closedAt = now
        try connection.execute(
            "UPDATE orders SET status = 'cancelled', closed_at = ?1 WHERE order_id = ?2",
            [.time(now), .text(order.id)])
        try record(event(.orderCancelled, order))
        return order
    }

    /// Notes that a purchase pays an order. The decision has seen that it waits for its payment.
    func pay(_ orderID: String, with purchase: RecordedPurchase, submissionID: String) throws(LedgerStorageError) {
        let changed = try connection.execute(
            """
            UPDATE orders SET status = 'paid', paid_at = ?1, environment = ?2, transaction_id = ?3
            WHERE order_id = ?4 AND app = ?5 AND status = 'created'
            """,
            [
                .time(now), .text(purchase.environment.name), .text(purchase.transactionID), .text(orderID),
                .text(purchase.app),
            ])
        guard changed == 1 else { throw LedgerStorageError(.constraint, "the order \(orderID) cannot be paid") }
        try record(
            LedgerEvent(
                .orderPaid, at: now, app: purchase.app, customerID: purchase.customerID, orderID: orderID,
                environment: purchase.environment.name, transactionID: purchase.transactionID,
                productID: purchase.productID, quantity: purchase.quantity, submissionID: submissionID))
    }

    /// Notes that the purchase of an order was taken back.
    func refund(_ orderID: String, _ purchase: RecordedPurchase, submissionID: String?) throws(LedgerStorageError) {
        guard let order = try reader.order(orderID, app: purchase.app), order.recordedStatus != .refunded else {
            return
        }
        try connection.execute(
            "UPDATE orders SET status = 'refunded', closed_at = ?1 WHERE order_id = ?2 AND app = ?3",
            [.time(now), .text(orderID), .text(purchase.app)])
        // The purchase may have moved since; the order stays with whom it was made for.
        try record(
            LedgerEvent(
                .orderRefunded, at: now, app: purchase.app, customerID: order.customerID, orderID: orderID,
                environment: purchase.environment.name, transactionID: purchase.transactionID,
                productID: purchase.productID, quantity: purchase.quantity, submissionID: submissionID))
    }

    private func existing(_ orderID: String, _ app: String) throws -> Order {
        guard let order = try reader.order(orderID, app: app) else {
            throw LedgerRefusal(.orderUnknown, expected: orderID)
        }
        return order
    }

    private func event(_ kind: LedgerEvent.Kind, _ order: Order, detail: String? = nil) -> LedgerEvent {
        LedgerEvent(
            kind, at: now, app: order.app, customerID: order.customerID, orderID: order.id,
            environment: order.environment?.name, transactionID: order.transactionID, productID: order.productID,
            quantity: order.quantity, detail: detail)
    }
}

extension LedgerReader {
    /// An order of an app.
    public func order(_ id: String, app: String) throws(LedgerStorageError) -> Order? {
        try order("order_id", id, app)
    }

    /// The order that a token binds purchases to.
    func order(token: String, app: String) throws(LedgerStorageError) -> Order? {
        try order("app_account_token", token.lowercased(), app)
    }

    /// The orders of an app in one state, oldest first: how a backend learns of those that are paid.
    ///
    /// - Parameters:
    ///   - status: the state.
    ///   - customerID: whose; `nil` for all.
    ///   - page: where to go on, as the answer before says.
    ///   - limit: how many at most.
    public func orders(
        _ status: OrderStatus?, customerID: String?, app: String, page: OrderPage? = nil, limit: Int
    ) throws(LedgerStorageError) -> (orders: [Order], next: OrderPage?) {
        var conditions = ["app = ?1"]
        var parameters: [LedgerValue] = [.text(app), .integer(Int64(limit) + 1)]
        func add(_ value: LedgerValue) -> String {
            parameters.append(value)
            return "?\(parameters.count)"
        }
        switch status {
        case .created: conditions.append("status = 'created' AND expires_at > \(add(.time(now)))")
        case .expired: conditions.append("status = 'created' AND expires_at <= \(add(.time(now)))")
        case let status?: conditions.append("status = \(add(.text(status.rawValue)))")
        case nil: break
        }
        if let customerID { conditions.append("customer_id = \(add(.text(customerID)))") }
        if let page {
            let (time, id) = (add(.time(page.createdAt)), add(.text(page.orderID)))
            conditions.append("(created_at > \(time) OR (created_at = \(time) AND order_id > \(id)))")
        }
        var orders: [Order] = []
        for row in try connection.rows(
            """
            SELECT \(Order.columns) FROM orders WHERE \(conditions.joined(separator: " AND "))
            ORDER BY created_at, order_id LIMIT ?2
            """, parameters)
        {
            orders.append(try Order(row))
        }
        guard orders.count > limit else { return (orders, nil) }
        orders.removeLast()
        return (orders, orders.last.map { OrderPage(createdAt: $0.createdAt, orderID: $0.id) })
    }

    private func order(_ column: String, _ value: String, _ app: String) throws(LedgerStorageError) -> Order? {
        let rows = try connection.rows(
            "SELECT \(Order.columns) FROM orders WHERE \(column) = ?1 AND app = ?2", [.text(value), .text(app)])
        guard let row = rows.first else { return nil }
        return try Order(row)
    }
}

/// The place in a list of orders after which it goes on.
public struct OrderPage: Sendable, Equatable {
    public var createdAt: Timestamp
    public var orderID: String

    /// A place by its parts.
    public init(createdAt: Timestamp, orderID: String) {
        self.createdAt = createdAt
        self.orderID = orderID
    }
}

extension Order {
    static let columns = """
        order_id, app, customer_id, product_id, quantity, metadata, app_account_token, status, created_at, expires_at, \
        paid_at, fulfilled_at, closed_at, environment, transaction_id
        """

    var values: [LedgerValue] {
        [
            .text(id), .text(app), .text(customerID), .text(productID), .integer(quantity), .text(metadata),
            .text(appAccountToken), .text(recordedStatus.rawValue), .time(createdAt), .time(expiresAt), .time(paidAt),
            .time(fulfilledAt), .time(closedAt), .text(environment?.name), .text(transactionID),
        ]
    }

    /// What never changes, in words: the event of the order has it, so that the audit can compare.
    var terms: String {
        var terms = "token \(appAccountToken), until \(expiresAt)"
        if let metadata { terms += ", metadata SHA-256 \(hexadecimal(SHA256.hash(data: Array(metadata.utf8))))" }
        return terms
    }

    init(_ row: LedgerRow) throws(LedgerStorageError) {
        var reader = RowReader(row)
        id = try reader.text()
        app = try reader.text()
        customerID = try reader.text()
        productID = try reader.text()
        quantity = try reader.integer()
        metadata = try reader.optionalText()
        appAccountToken = try reader.text()
        recordedStatus = try reader.named(OrderStatus.self)
        createdAt = try reader.time()
        expiresAt = try reader.time()
        paidAt = try reader.optionalTime()
        fulfilledAt = try reader.optionalTime()
        closedAt = try reader.optionalTime()
        environment = try reader.optionalText().map { AppStoreEnvironment($0) }
        transactionID = try reader.optionalText()
    }
}
