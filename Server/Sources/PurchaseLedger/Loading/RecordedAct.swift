import PurchaseVerification

/// A claim that binds, or a transfer by an operator.
struct RecordedAct {
    /// The journal entry; `nil` before it is written.
    var entry: Int64?
    var transaction: TransactionKey
    /// The claimant, or the new owner.
    var customerKey: Int64
    /// The former owner in an operator's transfer; `nil` for a held transaction or a claim.
    var formerKey: Int64?
    var kind: OwnershipActKind
    /// Whether one of the customers may have been merged into another since.
    var isMerged = false

    /// What the rules read of it. An act without an entry is the last one.
    var content: OwnershipAct {
        let customer = CustomerNumber(rawValue: customerKey)
        let content: OwnershipAct.Content =
            switch kind {
            case .claim: .claim(transaction: transaction, customer: customer, mayTransfer: false)
            case .movingClaim: .claim(transaction: transaction, customer: customer, mayTransfer: true)
            case .move: .move(transaction: transaction, from: formerKey.map(CustomerNumber.init), to: customer)
            }
        return OwnershipAct(entry: entry ?? .max, content: content)
    }
}
