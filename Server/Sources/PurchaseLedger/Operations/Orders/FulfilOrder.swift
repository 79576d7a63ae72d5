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
        let row = try transaction.orderToWrite(orderID, app)
        if let earlier = try once?.earlierEntry(transaction) {
            let details = try earlier.details.map { content throws(LedgerStorageError) in
                try OrderFulfilledDetails(encoded: content)
            }
            return Outcome(order: try transaction.order(row), units: details?.units, isReplayed: true)
        }
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
        var draft = transaction.draft(app)
        (draft.order, draft.customer) = (row, customer)
        let details = OrderFulfilledDetails(
            keyID: keyID, takes: taken.takes, units: count, remaining: delivery.remaining - count)
        let write = try transaction.append(draft, details)
        try once?.keep(write.entry, transaction)
        let changed = try details.deliver(row, write, balance: taken.balance)
        return Outcome(order: try transaction.order(changed), units: count, isReplayed: false)
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

/// `order_fulfilled`: for a consumable, with the units that fulfilment took from the lot.
struct OrderFulfilledDetails: LedgerInput {
    static var kind: JournalKind { .orderFulfilled }
    var keyID: String?
    var takes: [LotTake]
    /// The delivered units; `nil` for the whole order, as recorded before it could be delivered in parts.
    var units: Int64?
    /// The units that remained afterwards; `nil` for 0.
    var remaining: Int64?

    func run(_ write: EntryWrite) throws {
        let order = try write.order(besides: [.cancelled, .closed])
        let customer = try order.map { order throws(LedgerStorageError) in
            try write.transaction.customers.surviving(try write.transaction.customers.row(order.customerKey)).key
        }
        let balance = try customer.flatMap { try write.recorded?.take(takes, by: $0, write) }
        if let order { _ = try deliver(order, write, balance: balance) }
    }

    /// Counts the units, which were taken before.
    func deliver(
        _ order: OrderRow, _ write: EntryWrite, balance: Balances.Value?
    ) throws(LedgerStorageError) -> OrderRow {
        try write.change(order, balance: balance) {
            $0.deliver(units ?? $0.quantity, remaining: remaining ?? 0, at: write.transaction.now)
        }
    }
}
