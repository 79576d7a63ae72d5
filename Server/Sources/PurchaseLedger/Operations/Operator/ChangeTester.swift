import PurchaseVerification

/// Adds a customer to the list of testers, or removes them from it.
public struct ChangeTester: LedgerOperation {
    public var app: String
    public var customerID: String
    public var isTester: Bool
    public var reason: String?

    /// Makes a customer a tester, or ends that.
    public init(app: String, customerID: String, isTester: Bool, reason: String? = nil) {
        self.app = app
        self.customerID = customerID
        self.isTester = isTester
        self.reason = reason
    }

    public var locks: LedgerLocks { .parts([.customer(customerID)]) }

    /// - Returns: whether that changed the list.
    public func perform(_ transaction: LedgerTransaction) throws -> Bool {
        let app = try transaction.app(app)
        guard ExactText(customerID).isIdentifier else { throw LedgerRefusal(.fieldMalformed, expected: "customer_id") }
        let table = TestersTable(connection: transaction.connection)
        let known = try transaction.customer(customerID, app)
        let was =
            try known.map { row throws(LedgerStorageError) in try table.contains(row.key, appKey: app.key) } ?? false
        guard was != isTester else { return false }
        let customer = try transaction.customerToWrite(customerID, app)
        var draft = transaction.draft(app)
        draft.customer = customer
        let entry = try transaction.journal.append(
            draft, TestersChangedDetails(customer: customerID, isTester: isTester, reason: reason))
        return isTester
            ? try table.insert(customer.key, appKey: app.key, entry: entry.key)
            : try table.delete(customer.key, appKey: app.key)
    }
}
