import PurchaseVerification

/// A transaction's row and facts, with their former state.
struct TransactionRecord {
    var row: TransactionRow {
        get { stored.row }
        set { stored = Stored(newValue) }
    }
    var facts: ObservedTransaction
    var productID: String
    /// The former facts; `nil` for a new transaction.
    let formerFacts: ObservedTransaction?
    var formerRow: TransactionRow? { former?.row }
    var formerOwner: Int64? { former?.row.ownerKey }
    var knownAt: Timestamp { stored.row.knownAt }
    /// A history has up to thousands of records, which are copied more often than they change.
    private var stored: Stored
    private let former: Stored?
    /// Fields in which new evidence differs.
    var contradictions: [Contradiction] = []
    /// Whether its cancellation comes from an unsigned App Store answer.
    var isCancelledByHint = false

    /// The account token that decides the owner: that of the facts, or the reference of an erased customer in its
    /// place.
    var accountToken: AppAccountToken? {
        guard let formerRow, formerFacts?.accountToken == facts.accountToken else { return facts.accountToken }
        return formerRow.token.map { AppAccountToken($0) }
    }
    /// When it was bought.
    var date: Timestamp { facts.purchaseDate ?? facts.originalPurchaseDate ?? .epoch }
    var isNew: Bool { formerFacts == nil }
    /// Whether it has an owner, and had none before.
    var hasFirstOwner: Bool { stored.row.ownerKey != nil && formerOwner == nil }
    /// Whether its owner was erased. Evidence of a transaction always names its product.
    var isErased: Bool { facts.productID == nil }
    var isChanged: Bool {
        guard let former else { return true }
        guard formerFacts === facts, stored !== former else { return formerFacts !== facts }
        let (row, formerRow) = (stored.row, former.row)
        return formerRow.ownerKey != row.ownerKey || formerRow.ownerReason != row.ownerReason
            || formerRow.kind != row.kind || formerRow.duration != row.duration
            || formerRow.productKey != row.productKey || formerRow.originalKey != row.originalKey
    }

    /// Whether it is of another original than before.
    var isMoved: Bool { former.map { $0.row.originalKey != stored.row.originalKey } ?? false }

    private final class Stored {
        let row: TransactionRow

        init(_ row: TransactionRow) { self.row = row }
    }

    /// A stored transaction.
    init(_ row: TransactionRow, facts: ObservedTransaction, productID: String) {
        stored = Stored(row)
        former = stored
        self.facts = facts
        self.productID = productID
        formerFacts = facts
    }

    /// A new transaction.
    init(new row: TransactionRow, facts: ObservedTransaction, productID: String) {
        stored = Stored(row)
        former = nil
        self.facts = facts
        self.productID = productID
        formerFacts = nil
    }

    /// Whether it has an owner, or none, by a rule.
    func isOwned(by key: Int64?, reason: String?) -> Bool {
        stored.row.ownerKey == key && stored.row.ownerReason == reason
    }

    /// What is known now.
    var current: ChangedTransaction.State { Self.state(of: facts, stored) }

    /// What was known before and is now.
    var change: ChangedTransaction {
        let current = current
        let isSame = formerFacts === facts && former === stored
        let known = isSame ? current : formerFacts.flatMap { facts in former.map { Self.state(of: facts, $0) } }
        var change = ChangedTransaction(from: known, to: current)
        (change.contradictions, change.isCancelledByHint) = (contradictions, isCancelledByHint)
        return change
    }

    private static func state(of facts: ObservedTransaction, _ stored: Stored) -> ChangedTransaction.State {
        ChangedTransaction.State(
            facts, owner: stored.row.ownerKey.map(CustomerNumber.init),
            terms: stored.row.kind.map { ProductTerms(kind: $0, duration: stored.row.duration) },
            product: stored.row.productKey, ownerReason: stored.row.ownerReason)
    }
}
