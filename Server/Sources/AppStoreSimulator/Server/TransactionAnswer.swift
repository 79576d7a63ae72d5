import EvidenceMint

/// A transaction, its subscription, and its evidence.
struct TransactionAnswer: Encodable {
    let transaction: StoreTransaction
    let subscription: StoreSubscription?
    let evidence: TransactionEvidence
    /// The number of the order in the customer's mail; nil if nothing was paid.
    let orderID: String?

    init(
        _ transaction: StoreTransaction, _ state: inout ServiceState, _ issuer: EvidenceIssuer,
        _ version: TransactionReceiptVersion = .four, _ faults: EvidenceFaults? = nil
    ) throws {
        self.transaction = transaction
        orderID = transaction.orderID
        subscription = state.store.state.subscriptions[transaction.originalTransactionID]
        evidence = try state.evidence(of: transaction, by: issuer, version: version, faults: faults)
    }
}
