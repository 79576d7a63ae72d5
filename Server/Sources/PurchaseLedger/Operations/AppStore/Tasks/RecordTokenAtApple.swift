public import PurchaseVerification

public import struct Foundation.UUID

/// Records that the App Store accepted an account token for a purchase.
public struct RecordTokenAtApple: LedgerOperation {
    public var app: String
    public var environment: AppStoreEnvironment
    public var originalTransactionID: String
    public var customerID: String
    public var token: UUID

    public init(
        app: String, _ originalTransactionID: String, in environment: AppStoreEnvironment, customerID: String,
        token: UUID
    ) {
        self.app = app
        self.environment = environment
        self.originalTransactionID = originalTransactionID
        self.customerID = customerID
        self.token = token
    }

    public var locks: LedgerLocks { .parts([.customer(customerID)]) }

    public func perform(_ transaction: LedgerTransaction) throws {
        let app = try transaction.app(app)
        var draft = transaction.draft(app)
        draft.customer = try transaction.customer(customerID, app)
        if let number = try transaction.environments.key(of: environment),
            let original = try OriginalsTable(connection: transaction.connection)
                .rows(id: originalTransactionID, environment: number).first
        {
            draft.transactionKey = try transaction.transactions.rows(originalKey: original.key, limit: 1).first?.key
        }
        _ = try transaction.journal.append(
            draft,
            TokenSetAtAppleDetails(
                customer: customerID, environment: environment.name, originalTransactionID: originalTransactionID,
                token: token.text))
    }
}
