import PurchaseVerification

/// A withdrawal as it stands in the books.
struct RecordedWithdrawal {
    var app: String
    var environment: AppStoreEnvironment
    var transactionID: String
    var originalTransactionID: String
    var productID: String
    /// When the period was to end, for auto-renewable subscriptions.
    var expiresAt: Timestamp?
    /// The App Store's number of the period.
    var webOrderLineItemID: String?
    var kind: WithdrawalKind
    var withdrawnAt: Timestamp
    var recordedAt: Timestamp
    var submissionID: String

    init(
        _ purchase: ProvenPurchase, _ withdrawal: ProvenPurchase.Withdrawal, app: RegisteredApp, at time: Timestamp,
        submissionID: String
    ) {
        self.app = app.id
        environment = purchase.environment
        transactionID = purchase.transactionID
        originalTransactionID = purchase.originalTransactionID
        productID = purchase.productID
        if case .period = purchase.identity(app) {
            expiresAt = purchase.expiresDate
            webOrderLineItemID = purchase.webOrderLineItemID
        }
        kind = withdrawal.kind
        withdrawnAt = withdrawal.date
        recordedAt = time
        self.submissionID = submissionID
    }

    static let columns = """
        app, environment, transaction_id, original_transaction_id, product_id, expires_at, kind, withdrawn_at, \
        recorded_at, submission_id, web_order_line_item_id
        """

    var values: [LedgerValue] {
        [
            .text(app), .text(environment.name), .text(transactionID), .text(originalTransactionID), .text(productID),
            .time(expiresAt), .text(kind.rawValue), .time(withdrawnAt), .time(recordedAt), .text(submissionID),
            .text(webOrderLineItemID),
        ]
    }

    init(_ row: LedgerRow) throws(LedgerStorageError) {
        var reader = RowReader(row)
        app = try reader.text()
        environment = AppStoreEnvironment(try reader.text())
        transactionID = try reader.text()
        originalTransactionID = try reader.text()
        productID = try reader.text()
        expiresAt = try reader.optionalTime()
        kind = try reader.named(WithdrawalKind.self)
        withdrawnAt = try reader.time()
        recordedAt = try reader.time()
        submissionID = try reader.text()
        webOrderLineItemID = try reader.optionalText()
    }

    /// What is recorded, in words: the event has it, so that the audit can compare.
    var terms: String {
        "\(kind.rawValue) \(withdrawnAt), original \(originalTransactionID)"
            + (expiresAt.map { ", until \($0)" } ?? "") + (webOrderLineItemID.map { ", line item \($0)" } ?? "")
    }
}
