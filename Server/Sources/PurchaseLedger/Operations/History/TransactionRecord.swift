import PurchaseVerification

/// A transaction's row and facts, with their former state.
struct TransactionRecord {
    var row: TransactionRow
    var facts: ObservedTransaction
    var productID: String
    /// The former facts; `nil` for a new transaction.
    let formerFacts: ObservedTransaction?
    let formerRow: TransactionRow?
    /// Fields in which new evidence differs.
    var contradictions: [Contradiction] = []
    /// Whether its cancellation comes from an unsigned App Store answer.
    var isCancelledByHint = false

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

    /// A stored transaction.
    init(_ row: TransactionRow, facts: ObservedTransaction, productID: String) {
        self.row = row
        self.facts = facts
        self.productID = productID
        (formerFacts, formerRow) = (facts, row)
    }

    /// A new transaction.
    init(new row: TransactionRow, facts: ObservedTransaction, productID: String) {
        self.row = row
        self.facts = facts
        self.productID = productID
        (formerFacts, formerRow) = (nil, nil)
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
            terms: row.kind.map { ProductTerms(kind: $0, duration: row.duration) }, product: row.productKey)
    }
}
