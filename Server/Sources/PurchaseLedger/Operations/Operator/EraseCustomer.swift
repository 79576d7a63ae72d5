import PurchaseVerification

/// Erases a person: the outside names of a customer and of everybody merged into them, the details of their entries,
/// and the evidence that belongs to nobody else. Leaves and hashes stay, and their purchases stay claimed. It cannot be
/// undone.
public struct EraseCustomer: LedgerOperation {
    public var app: String
    public var customerID: String
    public var reason: String

    /// An erasure of a customer.
    public init(app: String, customerID: String, reason: String) {
        self.app = app
        self.customerID = customerID
        self.reason = reason
    }

    /// The result of the erasure.
    public struct Outcome: Sendable, Equatable {
        /// Journal entries whose details were deleted.
        public var entries: Int
        /// Pieces of evidence whose bytes were deleted.
        public var evidence: Int
        /// Evidence that was kept because it proves purchases of others, or because others also sent it.
        public var keptEvidence: Int
        /// Purchases that stay claimed.
        public var transactions: Int
    }

    /// - Throws: `customer_unknown`.
    public func perform(_ transaction: LedgerTransaction) throws -> Outcome {
        let app = try transaction.app(app)
        guard let customer = try transaction.customer(customerID, app) else {
            throw LedgerRefusal(.customerUnknown, expected: customerID)
        }
        let scope = try ErasureScope(of: customer, transaction, app)
        var draft = transaction.draft(app)
        draft.customer = customer
        let entry = try transaction.journal.append(draft, try scope.details(reason: reason))
        try ErasureWriter(scope: scope, entry: entry).write()
        let events = EventWriter(transaction: transaction, app: app, entry: entry)
        try events.write(events.event(.customerErased), customer: customer.key)
        return Outcome(
            entries: scope.entries.count, evidence: scope.evidence.count, keptEvidence: scope.keptEvidence,
            transactions: scope.rows.count)
    }
}
