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
        var draft = transaction.draft(app)
        (draft.customer, draft.former, draft.transactionKey) = (customer, former, row.key)
        let details = PurchaseMovedDetails(
            environment: try transaction.environments.environment(row.environment).name, transactionID: transactionID,
            second: row.xcodeSecond == 0 ? nil : row.xcodeSecond, from: former?.reference.text, to: customerID,
            reason: reason)
        let record = try details.run(try transaction.append(draft, details))
        // Otherwise each renewal names the former owner.
        if app.settings.setsAccountTokens, let record {
            try WorkOfEvidence.scheduleToken(of: record, app, transaction)
        }
        return former?.name
    }
}

/// `purchase_moved`.
struct PurchaseMovedDetails: LedgerInput {
    static var kind: JournalKind { .purchaseMoved }
    var environment: String
    var transactionID: String
    var second: Int64?
    /// The random reference of the former owner: the entry belongs to the new owner, and is kept when the former one is
    /// erased.
    var from: String?
    var to: String
    var reason: String

    func redacted(_ scope: ErasureScope) -> PurchaseMovedDetails? {
        var kept = self
        (kept.to, kept.reason) = ("", "")
        return kept
    }

    /// - Returns: the purchase; `nil` if it is not known.
    @discardableResult
    func run(_ write: EntryWrite) throws -> TransactionRecord? {
        let customer = try write.existing(to)
        let former = try from.flatMap { try write.former(reference: $0) }
        for row in [customer, former] { try write.endGuest(row) }
        let key = TransactionKey(
            environment: AppStoreEnvironment(environment), transactionID: ExactText(transactionID), second: second ?? 0)
        guard let (changes, place) = try write.history(of: key) else {
            if !write.isOfEntriesAlone { try write.impossible("the purchase is not known") }
            return nil
        }
        changes.move(key, from: former?.key, to: customer.key, in: place.history)
        try changes.settle()
        try changes.finish(write.entry)
        return changes.histories[place.history].records[place.record]
    }
}
