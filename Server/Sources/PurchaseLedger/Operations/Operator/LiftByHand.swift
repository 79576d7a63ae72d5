import PurchaseVerification

public import struct Foundation.UUID

/// Lifts a revocation, or ends a grant.
public struct LiftByHand: LedgerOperation {
    public var app: String
    public var customerID: String
    public var id: UUID
    /// The kind of act that the id must refer to; `nil` accepts both.
    public var act: Act?
    public var reason: String?

    /// The two acts that can be lifted.
    public enum Act: Sendable {
        case grant
        case revocation
    }

    /// Lifts the grant or the revocation with an id.
    public init(app: String, customerID: String, id: UUID, act: Act? = nil, reason: String? = nil) {
        self.app = app
        self.customerID = customerID
        self.id = id
        self.act = act
        self.reason = reason
    }

    public var locks: LedgerLocks { .parts([.customer(customerID)]) }

    public func perform(_ transaction: LedgerTransaction) throws {
        let app = try transaction.app(app)
        let grants = HandGrantsTable(connection: transaction.connection)
        guard let customer = try transaction.customer(customerID, app), var row = try grants.row(id: id),
            try row.customerKey == customer.key || isOfPurchase(row, of: customer, transaction), row.source == nil,
            act.map({ ($0 == .grant) == (row.kind == .grant) }) ?? true
        else { throw LedgerRefusal(.grantUnknown, expected: id.text) }
        guard row.liftedAt == nil else { return }
        row.liftedAt = transaction.now
        var draft = transaction.draft(app)
        draft.customer = customer
        let entry = try transaction.journal.append(draft, ActLiftedDetails(id: id.text, reason: reason))
        try grants.lift(row.key, at: transaction.now)
        try HandGrantWriter(transaction: transaction, app: app)
            .change(row, entry, .actLifted, reason: reason, customer: customer.key)
    }

    /// Whether a revocation concerns a purchase that now belongs to a customer: it was transferred, or its former owner
    /// was erased.
    private func isOfPurchase(
        _ row: HandGrantRow, of customer: CustomerRow, _ transaction: LedgerTransaction
    ) throws(LedgerStorageError) -> Bool {
        guard let original = row.revokedOriginal else { return false }
        let named = try HandRevocationOfPurchase(row, transaction.connection).transactionID
        for owned in try transaction.transactions.rows(originalKey: original) where owned.ownerKey == customer.key {
            let environment = try transaction.environments.environment(owned.environment)
            let isShared = try owned.observed(in: environment).ownership.holder != .buyer
            if isShared == row.revokedShared, !isShared || named == ExactText(owned.transactionID) { return true }
        }
        return false
    }
}
