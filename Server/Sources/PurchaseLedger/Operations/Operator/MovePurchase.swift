public import PurchaseVerification

/// Transfers the original of a transaction to another customer, at the request of an operator.
public struct MovePurchase: LedgerOperation {
    public var app: String
    public var transactionID: String
    public var environment: AppStoreEnvironment?
    public var customerID: String
    public var reason: String

    /// Transfers a purchase to a customer.
    public init(
        app: String, transactionID: String, environment: AppStoreEnvironment? = nil, to customerID: String,
        reason: String
    ) {
        self.app = app
        self.transactionID = transactionID
        self.environment = environment
        self.customerID = customerID
        self.reason = reason
    }

    /// - Returns: the former owner's name.
    public func perform(_ transaction: LedgerTransaction) throws -> String? {
        let app = try transaction.app(app)
        guard ExactText(customerID).isIdentifier else { throw LedgerRefusal(.fieldMalformed, expected: "customer_id") }
        let row = try transaction.existingPurchase(transactionID, environment, app)
        let customer = try transaction.customerToWrite(customerID, app)
        guard row.ownerKey != customer.key else { throw LedgerRefusal(.purchaseNotMovable) }
        let former = try row.ownerKey.map { key throws(LedgerStorageError) in try transaction.customers.row(key) }
        let changes = LedgerChanges(transaction, app: app)
        let index = try changes.history(row.originalKey)
        guard let record = changes.histories[index].records.first(where: { $0.row.key == row.key }) else {
            throw LedgerStorageError(.corrupt, "transaction \(row.key) is not in its original")
        }
        changes.move(record.facts.key, from: row.ownerKey, to: customer.key, in: index)
        try changes.settle()
        var draft = transaction.draft(app)
        draft.customer = customer
        draft.transactionKey = row.key
        let entry = try transaction.journal.append(
            draft,
            PurchaseMovedDetails(
                environment: record.facts.key.environment.name, transactionID: transactionID,
                second: row.xcodeSecond == 0 ? nil : row.xcodeSecond, from: former?.reference.text,
                to: customerID,
                reason: reason))
        try changes.finish(entry)
        // Otherwise each renewal names the former owner.
        if app.settings.setsAccountTokens { try AppStoreTaskScheduling.scheduleToken(of: record, app, transaction) }
        return former?.name
    }
}
