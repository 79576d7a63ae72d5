public import PurchaseVerification

public import struct Foundation.UUID

/// Grants a product to a customer manually.
public struct GrantByHand: LedgerOperation {
    public var app: String
    public var customerID: String
    public var productID: String
    public var environment: AppStoreEnvironment
    /// Units of a consumable.
    public var quantity: Int64
    /// When the grant ends; `nil` if it does not end.
    public var until: Timestamp?
    public var reason: String
    /// The idempotency key, if the sender may repeat the request.
    public var once: IdempotentRequest?

    /// Grants a product to a customer.
    public init(
        app: String, customerID: String, productID: String, environment: AppStoreEnvironment = .production,
        quantity: Int64 = 1, until: Timestamp? = nil, reason: String, once: IdempotentRequest? = nil
    ) {
        self.app = app
        self.customerID = customerID
        self.productID = productID
        self.environment = environment
        self.quantity = quantity
        self.until = until
        self.reason = reason
        self.once = once
    }

    public var locks: LedgerLocks { .parts([.customer(customerID)]) }

    /// - Returns: the id of the grant.
    public func perform(_ transaction: LedgerTransaction) throws -> UUID {
        let app = try transaction.app(app)
        if let details = try once?.earlierEntry(transaction)?.details,
            let id = UUID(uuidString: try GrantAddedDetails(encoded: details).grantID)
        {
            return id
        }
        guard ExactText(customerID).isIdentifier, quantity > 0 else {
            throw LedgerRefusal(.fieldMalformed, expected: "customer_id, and a quantity from 1")
        }
        guard let kind = app.settings.product(productID)?.kind else {
            throw LedgerRefusal(.productUnknown, found: productID)
        }
        guard kind == .consumable || quantity == 1 else {
            throw LedgerRefusal(
                .fieldMalformed, expected: "quantity: 1, because only a consumable has units", found: "\(quantity)")
        }
        guard kind != .consumable || until == nil else {
            throw LedgerRefusal(
                .fieldMalformed, expected: "until: absent, because units of a consumable do not end",
                found: until.map { "\($0)" })
        }
        guard until.map({ $0 > transaction.now }) ?? true else {
            throw LedgerRefusal(
                .fieldMalformed, expected: "until: a time in the future", found: until.map { "\($0)" })
        }
        let product = try transaction.productToWrite(productID, app)
        let customer = try transaction.customerToWrite(customerID, app)
        let key = try transaction.environments.keyToWrite(of: environment)
        let id = TimeOrderedID.next(at: transaction.now)
        var draft = transaction.draft(app)
        draft.customer = customer
        let entry = try transaction.journal.append(
            draft,
            GrantAddedDetails(
                grantID: id.text, customer: customerID, productID: productID, environment: environment.name,
                kind: kind.rawValue, quantity: quantity, startsAt: transaction.now.millisecondsSince1970,
                endsAt: until?.millisecondsSince1970, reason: reason))
        let row = try HandGrantsTable(connection: transaction.connection).insert(
            HandGrantRow(
                id: id, appKey: app.key, customerKey: customer.key, productKey: product, environment: key, kind: .grant,
                quantity: quantity, startsAt: transaction.now, endsAt: until, entryKey: entry.key))
        try once?.keep(entry, transaction)
        let balances = try HandGrantWriter(transaction: transaction, app: app).write(row, kind: kind)
        let events = LedgerEvents(transaction, app: app, entry: entry)
        try transaction.tell(events.granted(row, balances, reason: reason), to: customer.key)
        return id
    }
}
