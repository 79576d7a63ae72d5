import PurchaseVerification

/// Merges a customer into another, who keeps the purchases of both. It cannot be undone.
///
/// The entry and the alias are committed first, and every later read answers as after the merge. The rows of purchases
/// follow in pieces (`PurchaseLedger.finishMerges`): those of two seconds before `PurchaseLedger.perform` returns, the
/// rest later.
public struct MergeCustomers: LedgerOperation {
    public var app: String
    /// The customer to merge, such as an anonymous one.
    public var customerID: String
    /// The customer that remains.
    public var into: String
    public var reason: String?

    /// Merges two customers.
    public init(app: String, customerID: String, into: String, reason: String? = nil) {
        self.app = app
        self.customerID = customerID
        self.into = into
        self.reason = reason
    }

    public func perform(_ transaction: LedgerTransaction) throws {
        let app = try transaction.app(app)
        guard let customer = try transaction.customer(customerID, app) else {
            throw LedgerRefusal(.customerUnknown, expected: customerID)
        }
        guard ExactText(into).isIdentifier else { throw LedgerRefusal(.fieldMalformed, expected: "customer_id") }
        let target = try transaction.customerToWrite(into, app)
        guard customer.key != target.key else { throw LedgerRefusal(.customerMergeCircular) }
        var draft = transaction.draft(app)
        draft.customer = target
        let entry = try transaction.journal.append(
            draft, CustomerMergedDetails(from: customer.reference.text, into: into, reason: reason))
        try Self.apply(customer, into: target, transaction, app, entry, reason: reason)
    }

    /// Applies the entry.
    static func apply(
        _ customer: CustomerRow, into target: CustomerRow, _ transaction: LedgerTransaction, _ app: RegistryApp,
        _ entry: JournalEntry, reason: String? = nil
    ) throws {
        try transaction.customers.merge(customer.key, into: target.key, entry: entry.key)
        if target.token == nil, let token = customer.token { try transaction.customers.setToken(token, of: target.key) }
        let row = CustomerMoveRow(targetKey: target.key, customerKey: customer.key, entryKey: entry.key)
        try CustomerMovesTable(connection: transaction.connection).insert(row)
        transaction.forgetMove()
        let move = try CustomerMove(row, transaction, app: app)
        try move.begin()
        let events = LedgerEvents(transaction, app: app, entry: entry)
        var event = events.event(.customerMerged)
        (event.formerKey, event.figures.reason) = (customer.key, reason)
        try transaction.tell(event, to: target.key)
        if let unmoved = transaction.unmoved { try move.finish(besides: unmoved.of(entry.id)) }
    }
}
