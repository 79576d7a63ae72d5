import PurchaseVerification

public import struct Foundation.UUID

/// Cancels an unpaid order. Cancelling an order again changes nothing.
public struct CancelOrder: LedgerOperation {
    public var app: String
    public var orderID: UUID
    public var keyID: String?

    /// Cancels the order with an id.
    public init(app: String, orderID: UUID, keyID: String? = nil) {
        self.app = app
        self.orderID = orderID
        self.keyID = keyID
    }

    public var locks: LedgerLocks { .parts([.order(orderID)]) }

    public func perform(_ transaction: LedgerTransaction) throws -> Order {
        let app = try transaction.app(app)
        var row = try transaction.orderToWrite(orderID, app)
        let former = row
        switch row.status(at: transaction.now) {
        case .cancelled: return try transaction.order(row)
        case .created: break
        case let status:
            throw LedgerRefusal(.orderNotCancellable, expected: OrderStatus.created.rawValue, found: status.rawValue)
        }
        row.status = .cancelled
        row.closedAt = transaction.now
        try transaction.orders.update(row, from: former.status)
        var draft = transaction.draft(app)
        draft.order = row
        draft.customer = try transaction.customers.row(row.customerKey)
        let entry = try transaction.journal.append(draft, OrderCancelledDetails(keyID: keyID))
        let events = LedgerEvents(transaction, app: app, entry: entry)
        try transaction.tell(events.event(of: row, from: former), to: row.customerKey)
        return try transaction.order(row)
    }
}
