import PurchaseVerification

public import struct Foundation.UUID

/// Assigns an account token to a customer. Purchases with the token belong to the customer; earlier tokens remain
/// assigned.
public struct AssignToken: LedgerOperation {
    public var app: String
    public var customerID: String
    public var token: UUID

    /// A token of a customer.
    public init(app: String, customerID: String, token: UUID) {
        self.app = app
        self.customerID = customerID
        self.token = token
    }

    public var locks: LedgerLocks { .parts([.customer(customerID), .token(token)]) }

    /// - Returns: whether the token is new.
    /// - Throws: `token_taken` if it belongs to another customer.
    public func perform(_ transaction: LedgerTransaction) throws -> Bool {
        let app = try transaction.app(app)
        guard ExactText(customerID).isIdentifier else { throw LedgerRefusal(.fieldMalformed, expected: "customer_id") }
        let tokens = AccountTokensTable(connection: transaction.connection)
        let known = try tokens.customer(of: token, appKey: app.key)
        let customer = try transaction.customerToWrite(customerID, app)
        guard known == nil || known == customer.key else { throw LedgerRefusal(.tokenTaken) }
        if customer.token == token { return false }
        var draft = transaction.draft(app)
        draft.customer = customer
        let entry = try transaction.journal.append(
            draft, TokenAssignedDetails(customer: customerID, token: token.text))
        if known == nil {
            try tokens.insert(token, appKey: app.key, customer: customer.key, entry: entry.key)
        }
        try transaction.customers.setToken(token, of: customer.key)
        let events = LedgerEvents(transaction, app: app, entry: entry)
        try transaction.tell(events.event(.tokenAssigned), to: customer.key)
        guard known == nil else { return false }
        try transferPurchases(transaction, app, entry)
        return true
    }

    /// Transfers purchases with the token that arrived before the token was known.
    private func transferPurchases(
        _ transaction: LedgerTransaction, _ app: RegistryApp, _ entry: JournalEntry
    ) throws(LedgerStorageError) {
        let originals = try transaction.transactions.originals(token: token, appKey: app.key)
        guard !originals.isEmpty else { return }
        let changes = LedgerChanges(transaction, app: app)
        for original in originals { _ = try changes.history(original) }
        try changes.settle()
        try changes.finish(entry)
    }
}
