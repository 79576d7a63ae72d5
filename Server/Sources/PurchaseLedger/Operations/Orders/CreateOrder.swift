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
        let product = try transaction.productToWrite(draft.productID, app)
        let customer = try transaction.customerToWrite(draft.customerID, app)
        let token = customer.token ?? RandomID.next()
        var environment: Int64?
        if let named = draft.environment { environment = try transaction.environments.keyToWrite(of: named) }
        let now = transaction.now
        let expiry = Timestamp(millisecondsSince1970: now.millisecondsSince1970 + app.settings.orderLifetime)
        let row = try transaction.orders.insert(
            OrderRow(
                id: TimeOrderedID.next(at: now), appKey: app.key, customerKey: customer.key, productKey: product,
                quantity: draft.quantity, environment: environment, acceptsRenewal: draft.acceptsRenewal, token: token,
                metadata: draft.metadata, createdAt: now, expiresAt: expiry))
        var entryDraft = transaction.draft(app)
        entryDraft.customer = customer
        entryDraft.order = row
        let entry = try transaction.journal.append(
            entryDraft,
            OrderCreatedDetails(
                customer: draft.customerID, productID: draft.productID, quantity: draft.quantity,
                environment: draft.environment?.name, acceptsRenewal: draft.acceptsRenewal ? true : nil,
                token: token.text, assignsToken: customer.token == nil, metadata: draft.metadata,
                expiresAt: expiry.millisecondsSince1970))
        if customer.token == nil {
            try AccountTokensTable(connection: transaction.connection).insert(
                token, appKey: app.key, customer: customer.key, entry: entry.key)
            try transaction.customers.setToken(token, of: customer.key)
        }
        try once?.keep(entry, transaction)
        let events = LedgerEvents(transaction, app: app, entry: entry)
        try transaction.tell(events.event(of: row, from: nil), to: row.customerKey)
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
