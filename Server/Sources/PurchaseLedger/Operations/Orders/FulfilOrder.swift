import PurchaseVerification

public import struct Foundation.UUID

/// Records that the operator delivered what an order bought. Only the first caller is told to deliver.
///
/// Fulfilling the order of a consumable takes its whole lot, so that it is not delivered a second time out of the balance.
public struct FulfilOrder: LedgerOperation {
    public var app: String
    public var orderID: UUID
    public var keyID: String?

    /// The order of an id.
    public init(app: String, orderID: UUID, keyID: String? = nil) {
        self.app = app
        self.orderID = orderID
        self.keyID = keyID
    }

    /// The order.
    public struct Outcome: Sendable {
        public var order: Order
        /// Whether it was fulfilled before; then nothing is to be delivered.
        public var isReplayed: Bool
    }

    public var locks: LedgerLocks { .parts([.order(orderID)]) }

    public func perform(_ transaction: LedgerTransaction) throws -> Outcome {
        let app = try transaction.app(app)
        var row = try transaction.orderToWrite(orderID, app)
        let former = row
        switch row.status(at: transaction.now) {
        case .fulfilled: return Outcome(order: try transaction.order(row), isReplayed: true)
        case .paid: break
        case let status: throw LedgerRefusal(.orderNotPaid, expected: OrderStatus.paid.rawValue, found: status.rawValue)
        }
        let customer = try transaction.customers.surviving(try transaction.customers.row(row.customerKey))
        try requireNoRevocation(row, transaction)
        let taken = try take(row, customer, transaction)
        row.status = .fulfilled
        row.fulfilledAt = transaction.now
        try transaction.orders.update(row, from: former.status)
        var draft = transaction.draft(app)
        draft.order = row
        draft.customer = customer
        let entry = try transaction.journal.append(draft, OrderFulfilledDetails(keyID: keyID, takes: taken.takes))
        let events = EventWriter(transaction: transaction, app: app, entry: entry)
        try events.write(order: row, former: former, balance: taken.balance)
        return Outcome(order: try transaction.order(row), isReplayed: false)
    }

    /// A revocation by an operator leaves the order paid, because lifting it makes the purchase count again.
    ///
    /// - Throws: `order_revoked` if such a revocation is in force.
    private func requireNoRevocation(_ row: OrderRow, _ transaction: LedgerTransaction) throws {
        guard let key = row.paidBy, let paid = try transaction.transactions.row(key) else { return }
        let revocations = try HandGrantsTable(connection: transaction.connection)
            .revocations(ofOriginal: paid.originalKey)
        guard revocations.allSatisfy({ $0.revokedShared || $0.liftedAt != nil }) else {
            throw LedgerRefusal(.orderRevoked, expected: nil, found: paid.transactionID)
        }
    }

    /// Takes the whole lot of a consumable.
    ///
    /// - Throws: `order_consumed` if part of it was consumed, withdrawn, or went to another customer.
    private func take(
        _ row: OrderRow, _ customer: CustomerRow, _ transaction: LedgerTransaction
    ) throws -> LotTaking.Taken {
        guard let key = row.paidBy, let paid = try transaction.transactions.row(key), paid.kind == .consumable else {
            return LotTaking.Taken()
        }
        let lots = LotsTable(connection: transaction.connection)
        guard let lot = try lots.row(paid.originalKey), lot.customerKey == customer.key, lot.available == lot.quantity
        else {
            throw LedgerRefusal(.orderConsumed, expected: "\(row.quantity)", found: nil)
        }
        let taking = LotTaking(transaction: transaction)
        return try taking.take([(lot, lot.quantity)], by: customer.key)
    }
}
