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
        let details = TokenAssignedDetails(customer: customerID, token: token.text)
        return try details.run(try transaction.append(draft, details))
    }
}

/// `token_assigned`.
struct TokenAssignedDetails: LedgerInput {
    static var kind: JournalKind { .tokenAssigned }
    var customer: String
    var token: String

    /// - Returns: whether the token is new.
    @discardableResult
    func run(_ write: EntryWrite) throws -> Bool {
        guard let token = UUID(uuidString: token) else { return false }
        let (transaction, appKey) = (write.transaction, write.app.key)
        let tokens = AccountTokensTable(connection: write.connection)
        // The customer was erased later. Until then, the token decided who owned what belongs to others.
        let isErased = self.customer.isEmpty
        guard let customer = try isErased ? write.customer() : write.existing(self.customer) else { return false }
        let known = try tokens.customer(of: token, appKey: appKey)
        if !isErased {
            if let known, known != customer.key { try write.impossible("the token belongs to another customer") }
            try transaction.customers.setToken(token, of: customer.key)
            try transaction.tell(write.events.event(.tokenAssigned), to: customer.key)
        }
        guard known == nil else { return false }
        try tokens.insert(token, appKey: appKey, customer: customer.key, entry: write.entry.key)
        // Purchases with the token that arrived before the token was known.
        try write.settle(try transaction.transactions.originals(token: token, appKey: appKey))
        return true
    }
}
