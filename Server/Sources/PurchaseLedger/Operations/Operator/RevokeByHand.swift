public import PurchaseVerification

public import struct Foundation.UUID

/// Revokes a purchase or a grant manually. The revocation takes precedence over Apple's data, and ends only when it is
/// lifted.
public struct RevokeByHand: LedgerOperation {
    public var app: String
    public var customerID: String
    public var target: Target
    public var reason: String
    /// The idempotency key, if the sender may repeat the request.
    public var once: IdempotentRequest?

    /// The target of a revocation.
    public enum Target: Sendable, Equatable {
        /// The original of a transaction.
        case purchase(transactionID: String, environment: AppStoreEnvironment?)
        /// A manual grant.
        case grant(UUID)
    }

    /// Revokes a purchase or a grant of a customer.
    public init(
        app: String, customerID: String, _ target: Target, reason: String, once: IdempotentRequest? = nil
    ) {
        self.app = app
        self.customerID = customerID
        self.target = target
        self.reason = reason
        self.once = once
    }

    public var locks: LedgerLocks { .parts([.customer(customerID)]) }

    /// - Returns: the id of the revocation, with which it can be lifted.
    public func perform(_ transaction: LedgerTransaction) throws -> UUID {
        let app = try transaction.app(app)
        if let details = try once?.earlierEntry(transaction)?.details,
            let id = UUID(uuidString: try RevocationAddedDetails(encoded: details).revocationID)
        {
            return id
        }
        guard let customer = try transaction.customer(customerID, app) else {
            throw LedgerRefusal(.customerUnknown, expected: customerID)
        }
        let id = TimeOrderedID.next(at: transaction.now)
        var row = HandGrantRow(
            id: id, appKey: app.key, customerKey: customer.key, productKey: 0, environment: 0, kind: .revocation,
            quantity: 0, startsAt: transaction.now, endsAt: nil, entryKey: 0)
        var details = RevocationAddedDetails(revocationID: id.text, customer: customerID, reason: reason)
        switch target {
        case .purchase(let transactionID, let environment):
            let purchase = try transaction.existingPurchase(transactionID, environment, app)
            guard purchase.ownerKey == customer.key else {
                throw LedgerRefusal(.purchaseUnknown, expected: transactionID)
            }
            let named = try transaction.environments.environment(purchase.environment)
            let facts = try purchase.observed(in: named)
            (row.productKey, row.environment) = (purchase.productKey, purchase.environment)
            (row.revokedOriginal, row.revokedShared) = (purchase.originalKey, facts.ownership.holder != .buyer)
            (details.environment, details.transactionID) = (named.name, transactionID)
            details.second = purchase.xcodeSecond == 0 ? nil : purchase.xcodeSecond
        case .grant(let grantID):
            guard let grant = try HandGrantsTable(connection: transaction.connection).row(id: grantID),
                grant.kind == .grant, grant.customerKey == customer.key
            else { throw LedgerRefusal(.grantUnknown, expected: grantID.text) }
            (row.productKey, row.environment, row.revokedGrant) = (grant.productKey, grant.environment, grant.key)
            details.grantID = grantID.text
        }
        var draft = transaction.draft(app)
        draft.customer = customer
        let entry = try transaction.journal.append(draft, details)
        row.entryKey = entry.key
        row = try HandGrantsTable(connection: transaction.connection).insert(row)
        try once?.keep(entry, transaction)
        try HandGrantWriter(transaction: transaction, app: app)
            .change(row, entry, .revocationAdded, reason: reason, customer: customer.key)
        return id
    }
}
