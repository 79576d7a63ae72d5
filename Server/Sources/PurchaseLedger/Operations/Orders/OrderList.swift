import PurchaseVerification

public import struct Foundation.UUID

/// One order.
public struct OrderByID: LedgerQuery {
    public static let access = LedgerReadAccess.keys

    public var app: String
    public var orderID: UUID

    /// The order of an id.
    public init(app: String, orderID: UUID) {
        self.app = app
        self.orderID = orderID
    }

    /// - Throws: `order_unknown`.
    public func answer(_ reader: LedgerTransaction) throws -> Order {
        try reader.order(try reader.existingOrder(orderID, try reader.app(app)))
    }
}

/// Orders of an app, the newest first.
public struct OrderList: LedgerQuery {
    public static let access = LedgerReadAccess.lists

    public var app: String
    public var status: OrderStatus?
    public var customerID: String?
    /// Where the page before ended.
    public var cursor: OrderCursor?
    public var limit: Int

    /// A page of orders.
    public init(
        app: String, status: OrderStatus? = nil, customerID: String? = nil, cursor: OrderCursor? = nil, limit: Int
    ) {
        self.app = app
        self.status = status
        self.customerID = customerID
        self.cursor = cursor
        self.limit = limit
    }

    /// A page, and where the next one begins; `nil` if this is the last.
    public struct Answer: Sendable {
        public var orders: [Order]
        public var next: OrderCursor?
    }

    public func answer(_ reader: LedgerTransaction) throws -> Answer {
        let app = try reader.app(app)
        let count = Int64(max(1, limit))
        var rows: [OrderRow]
        if let customerID {
            guard let customer = try reader.customer(customerID, app) else { return Answer(orders: [], next: nil) }
            rows = try reader.orders.page(customer: customer.key, cursor: cursor, limit: count + 1)
        } else if let status {
            rows = try reader.orders.page(
                appKey: app.key, status: status, at: reader.now, cursor: cursor, limit: count + 1)
        } else {
            rows = try reader.orders.page(appKey: app.key, cursor: cursor, limit: count + 1)
        }
        var next: OrderCursor?
        if rows.count > Int(count) {
            rows.removeLast()
            next = rows.last.map { OrderCursor(expiresAt: $0.expiresAt, key: $0.key) }
        }
        if customerID != nil, let status { rows = rows.filter { $0.status(at: reader.now) == status } }
        return Answer(orders: try rows.map { try reader.order($0) }, next: next)
    }
}
