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
    /// The settings under which the purchase counted before.
    var formerTerms: ProductTerms? {
        formerRow.flatMap { row in row.kind.map { ProductTerms(kind: $0, duration: row.duration) } }
    }
    /// The settings under which the purchase counts.
    var terms: ProductTerms? { row.kind.map { ProductTerms(kind: $0, duration: row.duration) } }
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
}
