import PurchaseVerification

/// Orders of an app, newest first; if a state is given, in the order of expiry, latest first.
public struct OrderList: LedgerQuery {
    public static let access = LedgerReadAccess.lists

    /// The maximum number of a customer's orders that a page reads to find those in a state, or the page's limit if
    /// that is higher. A page can be shorter than its limit; the next page continues.
    private static let readOrders = 512
    private static let pageAfterFirst = 64

    public var app: String
    public var status: OrderStatus?
    public var customerID: String?
    /// The position at which the previous page ended.
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

    /// A page, and the start of the next one; `nil` if this is the last. With a customer and a state, a page can be
    /// shorter than the limit, or empty, although there is a next one.
    public struct Answer: Sendable {
        public var orders: [Order]
        public var next: OrderCursor?
    }

    public func answer(_ reader: LedgerTransaction) throws -> Answer {
        let app = try reader.app(app)
        let count = max(1, limit)
        guard let customerID else {
            let rows =
                if let status {
                    try reader.orders.page(
                        appKey: app.key, status: status, at: reader.now, cursor: cursor, limit: Int64(count) + 1)
                } else { try reader.orders.page(appKey: app.key, cursor: cursor, limit: Int64(count) + 1) }
            return try answer(rows, isMore: rows.count > count, reader)
        }
        guard let customer = try reader.customer(customerID, app) else { return Answer(orders: [], next: nil) }
        return try answer(of: customer, reader)
    }

    private func answer(of customer: CustomerRow, _ reader: LedgerTransaction) throws -> Answer {
        let count = max(1, limit)
        var found: [OrderRow] = []
        var place = cursor
        var readCount = 0
        while readCount < max(count, Self.readOrders) {
            // First as many as the limit; if the state excludes orders, more at a time.
            let size = readCount == 0 ? count + 1 : max(count + 1, Self.pageAfterFirst)
            let rows = try reader.orders.page(
                customer: customer.key, cursor: place, limit: Int64(size))
            found += rows.filter { row in status.map { row.status(at: reader.now) == $0 } ?? true }
            if found.count > count { return try answer(found, isMore: true, reader) }
            guard rows.count == size else { return try answer(found, isMore: false, reader) }
            place = rows.last.map { OrderCursor(expiresAt: $0.expiresAt, key: $0.key) }
            readCount += rows.count
        }
        return Answer(orders: try found.map { try reader.order($0) }, next: place)
    }

    /// - Parameter isMore: whether there are more rows than the page has.
    private func answer(_ rows: [OrderRow], isMore: Bool, _ reader: LedgerTransaction) throws -> Answer {
        let page = isMore ? rows.prefix(max(1, limit)) : rows[...]
        let next = isMore ? page.last.map { OrderCursor(expiresAt: $0.expiresAt, key: $0.key) } : nil
        return Answer(orders: try page.map { try reader.order($0) }, next: next)
    }
}
