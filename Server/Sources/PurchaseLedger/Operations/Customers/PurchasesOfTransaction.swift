import PurchaseVerification

/// The purchases of a transaction id, one for each environment. They may be held.
public struct PurchasesOfTransaction: LedgerQuery {
    public static let access = LedgerReadAccess.keys

    public var app: String
    public var transactionID: String

    /// The purchases of an id.
    public init(app: String, transactionID: String) {
        self.app = app
        self.transactionID = transactionID
    }

    public func answer(_ reader: LedgerTransaction) throws -> [RecordedPurchase] {
        let app = try reader.app(app)
        var purchases: [RecordedPurchase] = []
        var (withdrawals, renewals) = (PurchaseWithdrawals(reader), PurchaseRenewals(reader))
        for row in try reader.transactions.rows(id: transactionID)
        where try !row.isErased && OriginalsTable(connection: reader.connection).row(row.originalKey).appKey == app.key
        {
            purchases.append(try reader.purchase(row, &withdrawals, &renewals))
        }
        return purchases
    }
}
