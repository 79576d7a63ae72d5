import PurchaseVerification

public import struct Foundation.UUID

extension LedgerTransaction {
    /// An order in the form of an answer.
    func order(_ row: OrderRow) throws(LedgerStorageError) -> Order {
        let customerID = try customers.surviving(try customers.row(row.customerKey)).name
        guard let key = row.paidBy, let paid = try transactions.row(key) else {
            return try order(row, of: customerID, paidBy: nil)
        }
        let environment = try environments.environment(paid.environment)
        return try order(row, of: customerID, paidBy: OrderPayment(try paid.observed(in: environment)))
    }

    /// An order in the form of an answer, with its known customer and payment.
    func order(
        _ row: OrderRow, of customerID: String?, paidBy payment: OrderPayment?
    ) throws(LedgerStorageError) -> Order {
        Order(
            id: row.id, app: registry.app(key: row.appKey)?.settings.id ?? "",
            customerID: customerID ?? "",
            productID: try products.id(row.productKey), quantity: row.quantity,
            environment: try row.environment.map { key throws(LedgerStorageError) in try environments.environment(key)
            },
            acceptsRenewal: row.acceptsRenewal, appAccountToken: row.token, metadata: row.metadata,
            status: row.status(at: now), createdAt: row.createdAt,
            expiresAt: row.expiresAt, paidAt: row.paidAt, fulfilledUnits: row.fulfilledUnits,
            fulfilledAt: row.fulfilledAt, closedAt: row.closedAt,
            payment: payment)
    }

    /// The transactions of the purchase that a transaction belongs to, including itself. One of them may pay its order.
    func copies(of row: TransactionRow) throws(LedgerStorageError) -> [Int64] {
        guard let history = try HistoryReader(transaction: self).histories([row.originalKey]).first else { return [] }
        let purchase = history.purchases.first { purchase in
            purchase.transactions.contains { $0.key.transactionID.string == row.transactionID }
        }
        return purchase?.transactions.compactMap { copy in
            history.index(of: copy.key).map { history.records[$0].row.key }
        } ?? [row.key]
    }

    func existingOrder(_ id: UUID, _ app: RegistryApp) throws -> OrderRow {
        guard let row = try orders.row(id: id), row.appKey == app.key else {
            throw LedgerRefusal(.orderUnknown, expected: id.text)
        }
        return row
    }

    /// The order of an app with an id, with its customer locked.
    func orderToWrite(_ id: UUID, _ app: RegistryApp) throws -> OrderRow {
        let row = try existingOrder(id, app)
        try lock(customers: { [row.customerKey] })
        return row
    }
}

extension OrderPayment {
    /// The payment by a transaction.
    init(_ facts: ObservedTransaction) {
        self.init(
            environment: facts.key.environment, transactionID: facts.key.transactionID.string, price: facts.price,
            offer: facts.offer)
    }
}

/// One order.
public struct OrderByID: LedgerQuery {
    public static let access = LedgerReadAccess.keys

    public var app: String
    public var orderID: UUID

    /// The order with an id.
    public init(app: String, orderID: UUID) {
        self.app = app
        self.orderID = orderID
    }

    /// - Throws: `order_unknown`.
    public func answer(_ reader: LedgerTransaction) throws -> Order {
        try reader.order(try reader.existingOrder(orderID, try reader.app(app)))
    }
}

/// Orders of an app, newest first; if a state is given and no customer, in the order of expiry, latest first.
public struct OrderList: LedgerList {
    public var app: String
    public var status: OrderStatus?
    public var customerID: String?
    public var cursor: OrderCursor?
    public var limit: Int

    /// A page of orders.
    public init(
        app: String, status: OrderStatus? = nil, customerID: String? = nil, cursor: OrderCursor? = nil, limit: Int = 50
    ) {
        (self.app, self.status, self.customerID, self.cursor, self.limit) = (app, status, customerID, cursor, limit)
    }

    public func answer(_ reader: LedgerTransaction) throws -> ListPage<Order, OrderCursor> {
        let app = try reader.app(app)
        var (index, columns, cursor) = (ListIndex("app_key = ?1", app.key), ["order_key"], cursor)
        if let customerID {
            guard let customer = try reader.customer(customerID, app) else { return ListPage() }
            index = ListIndex("customer_key = ?1", customer.key)
        } else if let status {
            // The time tells open orders from expired ones.
            let stored = status == .expired ? OrderStatus.created : status
            let earliest = status == .created ? reader.now.millisecondsSince1970 : .min
            index = ListIndex(
                "app_key = ?1 AND status = ?2 AND expires_at > ?3",
                [.integer(app.key), .text(stored.rawValue), .integer(earliest)])
            columns = ["expires_at", "order_key"]
            if status == .expired, cursor.map({ $0.expiresAt > reader.now }) ?? true {
                cursor = OrderCursor(expiresAt: reader.now, key: .max)
            }
        }
        return try reader.orders.order(index, by: columns).page(after: cursor, limit: limit) {
            status == nil || $0.status(at: reader.now) == status ? $0 : nil
        }.map { try reader.order($0) }
    }
}

/// The units of a paid order that can still be delivered.
struct OrderDelivery {
    /// The units that are neither delivered, consumed nor refunded.
    let remaining: Int64
    private let quantity: Int64
    /// The lot of a consumable.
    private let lot: LotRow?

    /// - Parameter customer: the customer of the order.
    init(
        of order: OrderRow, to customer: CustomerRow, _ transaction: LedgerTransaction, _ app: RegistryApp
    ) throws(LedgerStorageError) {
        quantity = order.quantity
        let ordered = max(0, order.quantity - order.fulfilledUnits)
        guard let key = order.paidBy, let paid = try transaction.transactions.row(key) else {
            (lot, remaining) = (nil, ordered)
            return
        }
        guard paid.kind == .consumable else {
            let facts = try paid.observed(in: try transaction.environments.environment(paid.environment))
            var withdrawals = PurchaseWithdrawals(transaction)
            // Any refund of an indivisible purchase refunds its order, but seats are refunded one by one.
            let withdrawn =
                paid.kind == .nonRenewing
                ? try withdrawals.withdrawal(of: paid)?.units ?? 0 : facts.refundedSeats
            (lot, remaining) = (nil, max(0, min(ordered, order.quantity - withdrawn - order.fulfilledUnits)))
            return
        }
        let found = try LotsTable(connection: transaction.connection).row(paid.originalKey)
        lot = found.flatMap { $0.customerKey == customer.key ? $0 : nil }
        remaining = min(ordered, lot?.available ?? 0)
    }

    /// The units that a request takes.
    ///
    /// - Parameter requested: the number in the request; `nil` for the order as a whole.
    /// - Throws: `order_consumed` if nothing remains, or less than the whole order.
    func units(_ requested: Int64?) throws(LedgerRefusal) -> Int64 {
        let units = min(requested ?? quantity, remaining)
        guard units > 0, requested != nil || units == quantity else {
            throw LedgerRefusal(.orderConsumed, expected: "\(requested ?? quantity)", found: "\(remaining)")
        }
        return units
    }

    /// Takes units from the lot of a consumable.
    func take(
        _ units: Int64, by customer: CustomerRow, _ transaction: LedgerTransaction
    ) throws(LedgerStorageError) -> LotTaking.Taken {
        guard let lot else { return LotTaking.Taken() }
        return try LotTaking(transaction: transaction).take([(lot, units)], by: customer.key)
    }
}
