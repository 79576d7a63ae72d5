/// The transaction that an event is about.
public struct PurchaseReport: Sendable, Equatable {
    public let transactionID: String?
    public let productID: String
    /// The submission in the server's record.
    public let submissionID: String?
    /// The number of attempts.
    public let attempt: Int?

    init(
        _ transactionID: String?, _ productID: String, submissionID: String? = nil, attempt: Int? = nil
    ) {
        self.transactionID = transactionID
        self.productID = productID
        self.submissionID = submissionID
        self.attempt = attempt
    }

    init(_ transaction: PaymentTransaction) { self.init(transaction.transactionID, transaction.productID) }

    init(_ entry: OutboxEntry, submissionID: String? = nil) {
        self.init(
            entry.transaction.transactionID, entry.transaction.productID, submissionID: submissionID,
            attempt: entry.attempts + 1)
    }
}
