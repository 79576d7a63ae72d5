import PurchaseVerification

public import struct Foundation.UUID

/// Ends a paid order of which something will not be delivered: part of it was consumed or refunded, or its purchase
/// belongs to somebody else. Closing an order again changes nothing.
///
/// The order keeps its payment, and what remains of the purchase stays in the customer's balance.
public struct CloseOrder: LedgerOperation {
    public var app: String
    public var orderID: UUID
    /// The operator's reason.
    public var reason: String
    public var keyID: String?

    /// Closes the order with an id.
    public init(app: String, orderID: UUID, reason: String, keyID: String? = nil) {
        self.app = app
        self.orderID = orderID
        self.reason = reason
        self.keyID = keyID
    }

    /// The order.
    public struct Outcome: Sendable {
        public var order: Order
        /// Whether it was closed before.
        public var isReplayed: Bool
    }

    public var locks: LedgerLocks { .parts([.order(orderID)]) }

    public func perform(_ transaction: LedgerTransaction) throws -> Outcome {
        let app = try transaction.app(app)
        var row = try transaction.orderToWrite(orderID, app)
        let former = row
        switch row.status(at: transaction.now) {
        case .closed: return Outcome(order: try transaction.order(row), isReplayed: true)
        case .paid: break
        case let status:
            throw LedgerRefusal(.orderNotClosable, expected: OrderStatus.paid.rawValue, found: status.rawValue)
        }
        (row.status, row.closedAt) = (.closed, transaction.now)
        try transaction.orders.update(row, from: former.status)
        var draft = transaction.draft(app)
        draft.order = row
        draft.customer = try transaction.customers.surviving(try transaction.customers.row(row.customerKey))
        let entry = try transaction.journal.append(draft, OrderClosedDetails(keyID: keyID, reason: reason))
        let events = LedgerEvents(transaction, app: app, entry: entry)
        try transaction.tell(events.event(of: row, from: former, reason: reason), to: row.customerKey)
        return Outcome(order: try transaction.order(row), isReplayed: false)
    }
}
