import PurchaseVerification

public import struct Foundation.UUID

/// Records that the operator delivered the product of an order. Only the first caller is told to deliver.
///
/// Fulfilling an order of a consumable takes its whole lot, so that the units are not delivered a second time from the balance.
public struct FulfilOrder: LedgerOperation {
    public var app: String
    public var orderID: UUID
    public var keyID: String?

    /// Fulfils the order with an id.
    public init(app: String, orderID: UUID, keyID: String? = nil) {
        self.app = app
        self.orderID = orderID
        self.keyID = keyID
    }

    /// The order.
    public struct Outcome: Sendable {
        public var order: Order
        /// Whether it was fulfilled before; if so, nothing must be delivered.
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
        try requireCounting(row, customer, app, transaction)
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

    /// A manual revocation leaves the order paid, because the purchase counts again once the revocation is lifted.
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

    /// - Throws: `order_environment_mismatch` if the purchase that paid the order no longer counts for the customer.
    private func requireCounting(
        _ row: OrderRow, _ customer: CustomerRow, _ app: RegistryApp, _ transaction: LedgerTransaction
    ) throws {
        guard let key = row.paidBy, let paid = try transaction.transactions.row(key) else { return }
        let environment = try transaction.environments.environment(paid.environment)
        guard try transaction.counts(environment, for: customer.key, app) else {
            throw LedgerRefusal(.orderEnvironmentMismatch, expected: "a purchase that counts", found: environment.name)
        }
    }

    /// Takes the whole lot of a consumable.
    ///
    /// - Throws: `order_consumed` if part of it was consumed, withdrawn, or transferred to another customer.
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
