import PurchaseVerification

public import struct Foundation.UUID

/// Records that the operator delivered the product of an order, or some units of it. Only the first caller is told to
/// deliver.
///
/// Fulfilling an order of a consumable takes the units from its lot, so that they are not delivered a second time from
/// the balance.
public struct FulfilOrder: LedgerOperation {
    public var app: String
    public var orderID: UUID
    /// The number of units to deliver; at most the remaining ones are taken. If it is `nil`, the order is fulfilled as
    /// a whole.
    public var units: Int64?
    public var keyID: String?
    /// The idempotency key. Without one, a request for some of the units takes units each time.
    public var once: IdempotentRequest?

    /// Fulfils the order with an id.
    public init(
        app: String, orderID: UUID, units: Int64? = nil, keyID: String? = nil, once: IdempotentRequest? = nil
    ) {
        self.app = app
        self.orderID = orderID
        self.units = units
        self.keyID = keyID
        self.once = once
    }

    /// The order, and the units to deliver.
    public struct Outcome: Sendable {
        public var order: Order
        /// The units that this request took, or the request that it repeats. `nil` if the order was fulfilled before by
        /// another.
        public var units: Int64?
        /// Whether it was fulfilled before; if so, nothing must be delivered.
        public var isReplayed: Bool
    }

    public var locks: LedgerLocks { .parts([.order(orderID)]) }

    public func perform(_ transaction: LedgerTransaction) throws -> Outcome {
        let app = try transaction.app(app)
        guard units.map({ $0 > 0 }) ?? true else {
            throw LedgerRefusal(.fieldMalformed, expected: "units from 1", found: units.map(String.init))
        }
        var row = try transaction.orderToWrite(orderID, app)
        if let earlier = try once?.earlierEntry(transaction) {
            let details = try earlier.details.map { content throws(LedgerStorageError) in
                try OrderFulfilledDetails(encoded: content)
            }
            return Outcome(order: try transaction.order(row), units: details?.units, isReplayed: true)
        }
        let former = row
        switch row.status(at: transaction.now) {
        case .fulfilled: return Outcome(order: try transaction.order(row), units: nil, isReplayed: true)
        case .paid: break
        case let status: throw LedgerRefusal(.orderNotPaid, expected: OrderStatus.paid.rawValue, found: status.rawValue)
        }
        let customer = try transaction.customers.surviving(try transaction.customers.row(row.customerKey))
        try requireNoRevocation(row, transaction)
        try requireCounting(row, customer, app, transaction)
        let delivery = try OrderDelivery(of: row, to: customer, transaction, app)
        let count = try delivery.units(units)
        let taken = try delivery.take(count, by: customer, transaction)
        row.deliver(count, remaining: delivery.remaining - count, at: transaction.now)
        try transaction.orders.update(row, from: former.status)
        var draft = transaction.draft(app)
        draft.order = row
        draft.customer = customer
        let entry = try transaction.journal.append(
            draft,
            OrderFulfilledDetails(
                keyID: keyID, takes: taken.takes, units: count, remaining: delivery.remaining - count))
        try once?.keep(entry, transaction)
        let events = LedgerEvents(transaction, app: app, entry: entry)
        try transaction.tell(events.event(of: row, from: former, balance: taken.balance), to: row.customerKey)
        return Outcome(order: try transaction.order(row), units: count, isReplayed: false)
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
}

extension OrderRow {
    /// Counts delivered units. The order is fulfilled once no unit remains.
    mutating func deliver(_ units: Int64, remaining: Int64, at time: Timestamp) {
        fulfilledUnits += units
        guard remaining == 0 else { return }
        status = .fulfilled
        fulfilledAt = time
    }
}
