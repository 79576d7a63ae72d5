import PurchaseVerification

/// A transaction's row and facts, with their former state.
struct TransactionRecord {
    var row: TransactionRow {
        get { rows.row }
        set { rows = Rows(newValue, from: rows.former) }
    }
    var facts: ObservedTransaction
    var productID: String
    /// The former facts; `nil` for a new transaction.
    let formerFacts: ObservedTransaction?
    var formerRow: TransactionRow? { rows.former }
    /// A history has up to thousands of records, which are copied more often than they change.
    private var rows: Rows
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
    var hasFirstOwner: Bool { row.ownerKey != nil && formerRow?.ownerKey == nil }
    /// Whether its owner was erased. Evidence of a transaction always names its product.
    var isErased: Bool { facts.productID == nil }
    var isChanged: Bool {
        guard let formerRow else { return true }
        return formerFacts !== facts || formerRow.ownerKey != row.ownerKey || formerRow.ownerReason != row.ownerReason
            || formerRow.kind != row.kind || formerRow.duration != row.duration
            || formerRow.productKey != row.productKey || formerRow.originalKey != row.originalKey
    }

    /// The row and the former row; `nil` for a new transaction.
    private final class Rows {
        let row: TransactionRow
        let former: TransactionRow?

        init(_ row: TransactionRow, from former: TransactionRow?) { (self.row, self.former) = (row, former) }
    }

    /// A stored transaction.
    init(_ row: TransactionRow, facts: ObservedTransaction, productID: String) {
        rows = Rows(row, from: row)
        self.facts = facts
        self.productID = productID
        formerFacts = facts
    }

    /// A new transaction.
    init(new row: TransactionRow, facts: ObservedTransaction, productID: String) {
        rows = Rows(row, from: nil)
        self.facts = facts
        self.productID = productID
        formerFacts = nil
    }

    /// Sets the owner, and the rule that gave it. Most transactions keep theirs.
    mutating func setOwner(_ key: Int64?, reason: String?) {
        guard row.ownerKey != key || row.ownerReason != reason else { return }
        (row.ownerKey, row.ownerReason) = (key, reason)
    }

    /// What is known now.
    var current: ChangedTransaction.State { Self.state(of: facts, row) }

    /// What was known before and is now.
    var change: ChangedTransaction {
        let former = formerFacts.flatMap { facts in formerRow.map { Self.state(of: facts, $0) } }
        var change = ChangedTransaction(from: former, to: current)
        (change.contradictions, change.isCancelledByHint) = (contradictions, isCancelledByHint)
        return change
    }

    private static func state(of facts: ObservedTransaction, _ row: TransactionRow) -> ChangedTransaction.State {
        ChangedTransaction.State(
            facts, owner: row.ownerKey.map(CustomerNumber.init),
            terms: row.kind.map { ProductTerms(kind: $0, duration: row.duration) }, product: row.productKey,
            ownerReason: row.ownerReason)
    }
}
