import PurchaseVerification

/// Erases a customer: the outside names of the customer and of everybody merged into them, the details of their
/// entries, and the evidence that concerns nobody else. Leaves and hashes stay, and their purchases stay claimed. It
/// cannot be undone.
public struct EraseCustomer: LedgerOperation {
    public var app: String
    public var customerID: String
    public var reason: String

    /// Erases a customer.
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
        /// The pieces of evidence that were kept because they prove purchases of others, or because others also sent
        /// them.
        public var keptEvidence: Int
        /// The number of purchases that stay claimed.
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
        let events = LedgerEvents(transaction, app: app, entry: entry)
        try transaction.tell(events.event(.customerErased), to: customer.key)
        return Outcome(
            entries: scope.entries.count, evidence: scope.evidence.count, keptEvidence: scope.keptEvidence,
            transactions: scope.rows.count)
    }
}
