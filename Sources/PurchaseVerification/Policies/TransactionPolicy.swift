/// The evidence proves the transaction that a client speaks of: the checks that Apple demanded of iOS 5 apps in 2012, when a
/// genuine receipt of one purchase was handed to every app (Apple, TP40012484).
public struct TransactionPolicy: PurchasePolicy {
    private let claimed: TransactionFacts

    /// - Parameter claimed: what the client says of the transaction; only what is not `nil` is compared.
    public init(_ claimed: TransactionFacts) { self.claimed = claimed }

    public var name: String { "transaction" }

    public func check(_ facts: some EvidenceFacts) throws(VerificationError) {
        let transactions = facts.transactions
        guard let found = transactions.first(where: { claimed.transactionID.isSame(as: $0.transactionID) }) else {
            throw VerificationError(
                .transactionMismatch, expected: "transaction \(claimed.transactionID)",
                found: transactions.count == 1 ? transactions[0].transactionID : "\(transactions.count) others")
        }
        try compare("product", claimed.productID, found.productID) { $0.isSame(as: $1) }
        try compare("quantity", claimed.quantity, found.quantity, ==)
        try compare("original transaction", claimed.originalTransactionID, found.originalTransactionID) {
            $0.isSame(as: $1)
        }
        try compare("purchase date", claimed.purchaseDate, found.purchaseDate, ==)
    }

    private func compare<Value>(
        _ name: String, _ claimed: Value?, _ found: Value?, _ isSame: (Value, Value?) -> Bool
    ) throws(VerificationError) {
        guard let claimed, !isSame(claimed, found) else { return }
        throw VerificationError(
            .transactionMismatch, expected: "\(name) \(claimed)", found: found.map { "\($0)" } ?? "none")
    }
}

/// None of the transactions was seen before: whoever sends the same proof twice, or somebody else's, gets nothing for it.
///
/// Meant for evidence of one transaction. An app receipt keeps its purchases, so that this policy takes it once only.
public struct UnseenTransactionPolicy: PurchasePolicy {
    private let isSeen: @Sendable (String) -> Bool

    /// - Parameter isSeen: whether the caller's store knows the transaction.
    public init(isSeen: @escaping @Sendable (_ transactionID: String) -> Bool) { self.isSeen = isSeen }

    public var name: String { "not seen before" }

    public func check(_ facts: some EvidenceFacts) throws(VerificationError) {
        for transaction in facts.transactions where isSeen(transaction.transactionID) {
            throw VerificationError(
                .transactionSeenBefore, expected: "a transaction that was not seen before",
                found: transaction.transactionID)
        }
    }
}
