import PurchaseVerification

public import struct Foundation.UUID

/// Creates an order. A customer's first order assigns them an account token.
public struct CreateOrder: LedgerOperation {
    public var app: String
    public var draft: OrderDraft
    /// The idempotency key, if the sender may repeat the request.
    public var once: IdempotentRequest?

    /// Creates an order in an app.
    public init(app: String, _ draft: OrderDraft, once: IdempotentRequest? = nil) {
        self.app = app
        self.draft = draft
        self.once = once
    }

    /// The order in its current state.
    public struct Outcome: Sendable {
        public var order: Order
        /// Whether an earlier request created it.
        public var isReplayed: Bool
    }

    public var locks: LedgerLocks { .parts([.customer(draft.customerID)]) }

    public func perform(_ transaction: LedgerTransaction) throws -> Outcome {
        let app = try transaction.app(app)
        if let earlier = try once?.earlierEntry(transaction), let key = earlier.orderKey,
            let row = try transaction.orders.row(key: key)
        {
            return Outcome(order: try transaction.order(row), isReplayed: true)
        }
        guard ExactText(draft.customerID).isIdentifier, draft.quantity > 0 else {
            throw LedgerRefusal(.fieldMalformed, expected: "customer_id, and a quantity from 1")
        }
        try requireQuantity(app)
        try transaction.requireProduct(draft.productID, app)
        let customer = try transaction.customerToWrite(draft.customerID, app)
        let now = transaction.now
        let details = OrderCreatedDetails(
            customer: draft.customerID, productID: draft.productID, quantity: draft.quantity,
            environment: draft.environment?.name, acceptsRenewal: draft.acceptsRenewal ? true : nil,
            token: (customer.token ?? RandomID.next()).text, assignsToken: customer.token == nil,
            metadata: draft.metadata, expiresAt: now.millisecondsSince1970 + app.settings.orderLifetime)
        let row = try details.insert(TimeOrderedID.next(at: now), of: customer, app, transaction)
        var entryDraft = transaction.draft(app)
        (entryDraft.customer, entryDraft.order) = (customer, row)
        let write = try transaction.append(entryDraft, details)
        try details.run(write)
        try once?.keep(write.entry, transaction)
        return Outcome(order: try transaction.order(row), isReplayed: false)
    }

    /// The App Store sells non-consumables one at a time, so an order of several could never be paid. Subscriptions can
    /// be sold by the seat.
    ///
    /// - Throws: `quantity_not_sold`.
    private func requireQuantity(_ app: RegistryApp) throws(LedgerRefusal) {
        switch app.settings.product(draft.productID)?.kind {
        case .nonConsumable:
            guard draft.quantity == 1 else {
                throw LedgerRefusal(.quantityNotSold, expected: "1", found: "\(draft.quantity)")
            }
        case .consumable, .nonRenewing, .autoRenewable, nil: return
        }
    }
}

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
        let row = try transaction.orderToWrite(orderID, app)
        switch row.status(at: transaction.now) {
        case .closed: return Outcome(order: try transaction.order(row), isReplayed: true)
        case .paid: break
        case let status:
            throw LedgerRefusal(.orderNotClosable, expected: OrderStatus.paid.rawValue, found: status.rawValue)
        }
        var draft = transaction.draft(app)
        (draft.order, draft.customer) = (
            row, try transaction.customers.surviving(try transaction.customers.row(row.customerKey))
        )
        let details = OrderClosedDetails(keyID: keyID, reason: reason)
        let changed = try details.run(try transaction.append(draft, details)) ?? row
        return Outcome(order: try transaction.order(changed), isReplayed: false)
    }
}

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
        let row = try transaction.orderToWrite(orderID, app)
        switch row.status(at: transaction.now) {
        case .cancelled: return try transaction.order(row)
        case .created: break
        case let status:
            throw LedgerRefusal(.orderNotCancellable, expected: OrderStatus.created.rawValue, found: status.rawValue)
        }
        var draft = transaction.draft(app)
        (draft.order, draft.customer) = (row, try transaction.customers.row(row.customerKey))
        let details = OrderCancelledDetails(keyID: keyID)
        return try transaction.order(try details.run(try transaction.append(draft, details)) ?? row)
    }
}

/// `order_created`.
struct OrderCreatedDetails: LedgerInput {
    static var kind: JournalKind { .orderCreated }
    var customer: String
    var productID: String
    var quantity: Int64
    var environment: String?
    /// Whether an automatic renewal pays it; `nil` for `false`.
    var acceptsRenewal: Bool?
    var token: String
    /// Whether the token is new and is assigned to the customer by this order.
    var assignsToken: Bool
    var metadata: String?
    var expiresAt: Int64

    /// Inserts the order, whose number the entry of a request refers to.
    func insert(
        _ id: UUID, of customer: CustomerRow, _ app: RegistryApp, _ transaction: LedgerTransaction
    ) throws(LedgerStorageError) -> OrderRow {
        var environmentKey: Int64?
        if let environment {
            environmentKey = try transaction.environments.keyToWrite(of: AppStoreEnvironment(environment))
        }
        return try transaction.orders.insert(
            OrderRow(
                id: id, appKey: app.key, customerKey: customer.key,
                productKey: try transaction.products.keyToWrite(productID, appKey: app.key, at: transaction.now),
                quantity: quantity, environment: environmentKey, acceptsRenewal: acceptsRenewal ?? false,
                token: UUID(uuidString: token) ?? OrderRow.noID, metadata: metadata, createdAt: transaction.now,
                expiresAt: Timestamp(millisecondsSince1970: expiresAt)))
    }

    func run(_ write: EntryWrite) throws {
        let (customer, transaction) = (try write.existing(self.customer), write.transaction)
        try write.endGuest(customer)
        guard let token = UUID(uuidString: token) else { return }
        var row = write.draft.order
        if let id = write.recorded?.leaf.order { row = try insert(id, of: customer, write.app, transaction) }
        guard let row else { return }
        if assignsToken {
            try AccountTokensTable(connection: write.connection).insert(
                token, appKey: write.app.key, customer: customer.key, entry: write.entry.key)
            try transaction.customers.setToken(token, of: customer.key)
        }
        try transaction.tell(write.events.event(of: row, from: nil), to: row.customerKey)
    }
}

/// `order_closed`.
struct OrderClosedDetails: LedgerInput {
    static var kind: JournalKind { .orderClosed }
    var keyID: String?
    var reason: String

    func run(_ write: EntryWrite) throws -> OrderRow? {
        try write.order(besides: [.cancelled, .closed]).map {
            try write.change($0, reason: reason) { ($0.status, $0.closedAt) = (.closed, write.transaction.now) }
        }
    }
}

/// `order_cancelled`.
struct OrderCancelledDetails: LedgerInput {
    static var kind: JournalKind { .orderCancelled }
    var keyID: String?

    func run(_ write: EntryWrite) throws -> OrderRow? {
        // Without evidence, it is not known whether it was paid.
        let paid: Set<OrderStatus> = write.isOfEntriesAlone ? [] : [.paid]
        return try write.order(besides: paid.union([.cancelled, .fulfilled])).map {
            try write.change($0) { ($0.status, $0.closedAt) = (.cancelled, write.transaction.now) }
        }
    }
}
