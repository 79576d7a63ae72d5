import PurchaseVerification

/// Merges a customer into another, who keeps the purchases of both. It cannot be undone.
public struct MergeCustomers: LedgerOperation {
    public var app: String
    /// The customer to merge, such as an anonymous one.
    public var customerID: String
    /// The customer that remains.
    public var into: String
    public var reason: String?
    /// Whether the merge may hold all writes for its time, however many purchases it renames: otherwise
    /// `PurchaseLedger.mergeOriginals` is the limit.
    public var holdsWrites: Bool
    /// Whether who was merged before is refused, and not the survivor merged in their place.
    public var isFirst = false

    /// Merges two customers.
    public init(app: String, customerID: String, into: String, reason: String? = nil, holdsWrites: Bool = false) {
        self.app = app
        self.customerID = customerID
        self.into = into
        self.reason = reason
        self.holdsWrites = holdsWrites
    }

    public var locks: LedgerLocks { .parts([.customer(customerID), .customer(into)]) }

    public func perform(_ transaction: LedgerTransaction) throws {
        let app = try transaction.app(app)
        guard let customer = try transaction.customer(customerID, app) else {
            throw LedgerRefusal(.customerUnknown, expected: customerID)
        }
        guard !isFirst || customer.name.map({ ExactText($0) == ExactText(customerID) }) ?? false else {
            throw LedgerRefusal(.customerMergeCircular)
        }
        guard ExactText(into).isIdentifier else { throw LedgerRefusal(.fieldMalformed, expected: "customer_id") }
        let target = try transaction.customerToWrite(into, app)
        guard customer.key != target.key else { throw LedgerRefusal(.customerMergeCircular) }
        let count = try CustomerRenaming.count(of: customer.key, transaction.connection)
        guard holdsWrites || count <= transaction.mergeOriginals else {
            throw LedgerRefusal(
                .mergeTooLarge,
                expected: "at most \(transaction.mergeOriginals) purchases (limits.merge_originals)", found: "\(count)")
        }
        try transaction.connection.lock { () throws(LedgerStorageError) in
            try CustomerRenaming.locks(of: customer, into: target, transaction)
        }
        var draft = transaction.draft(app)
        (draft.customer, draft.former) = (target, customer)
        let details = CustomerMergedDetails(from: customer.reference.text, into: into, reason: reason)
        try details.run(try transaction.append(draft, details))
    }
}

/// `customer_merged`.
struct CustomerMergedDetails: LedgerInput {
    static var kind: JournalKind { .customerMerged }
    /// The random reference of the customer who was merged.
    var from: String
    var into: String
    var reason: String?

    func redacted(_ scope: ErasureScope) -> CustomerMergedDetails? {
        var kept = self
        (kept.into, kept.reason) = ("", nil)
        return kept
    }

    func run(_ write: EntryWrite) throws {
        let (target, transaction) = (try write.existing(into), write.transaction)
        guard let customer = try write.former(reference: from), customer.key != target.key else {
            return try write.impossible("the merged customer is not known, or was merged before", unlessErased: true)
        }
        for row in [customer, target] { try write.endGuest(row) }
        let purchases = try CustomerRenaming.count(of: customer.key, write.connection)
        try transaction.customers.merge(customer.key, into: target.key, entry: write.entry.key)
        if target.token == nil, let token = customer.token { try transaction.customers.setToken(token, of: target.key) }
        var event = write.events.event(.customerMerged)
        (event.formerKey, event.figures.reason, event.figures.units) = (customer.key, reason, purchases)
        try transaction.tell(event, to: target.key)
        try CustomerRenaming(
            transaction: transaction, app: write.app, from: customer.key, to: target.key, entry: write.entry
        ).run()
    }
}
