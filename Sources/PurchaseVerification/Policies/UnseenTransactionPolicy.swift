/// Requires that no transaction was seen before: a repeated proof, or a copied one, grants nothing.
///
/// For evidence of one transaction. An app receipt keeps its purchases, so this policy accepts it only once.
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
