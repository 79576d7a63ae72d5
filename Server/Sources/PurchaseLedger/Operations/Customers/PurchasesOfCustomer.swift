import PurchaseVerification

/// The purchases of a customer, the last seen first.
public struct PurchasesOfCustomer: LedgerQuery {
    public static let access = LedgerReadAccess.lists

    public var app: String
    public var customerID: String
    /// The cursor that the previous page returned.
    public var before: Int64?
    public var limit: Int

    /// A page of purchases.
    public init(app: String, customerID: String, before: Int64? = nil, limit: Int) {
        self.app = app
        self.customerID = customerID
        self.before = before
        self.limit = limit
    }

    /// A page, and the start of the next one; `nil` if this is the last.
    public struct Answer: Sendable {
        public var purchases: [RecordedPurchase]
        public var next: Int64?
        /// The customer into whom the named one was merged; `nil` if it was not.
        public var mergedInto: String?
    }

    public func answer(_ reader: LedgerTransaction) throws -> Answer {
        let app = try reader.app(app)
        guard let customer = try reader.customer(customerID, app) else { return Answer(purchases: [], next: nil) }
        var rows = try reader.transactions.rows(of: customer.key, before: before, limit: Int64(max(1, limit)) + 1)
        var next: Int64?
        if rows.count > max(1, limit) {
            rows.removeLast()
            next = rows.last?.key
        }
        var (withdrawals, renewals) = (PurchaseWithdrawals(reader), PurchaseRenewals(reader))
        return Answer(
            purchases: try rows.map { try reader.purchase($0, &withdrawals, &renewals) }, next: next,
            mergedInto: customer.survivor(of: customerID))
    }
}

extension LedgerTransaction {
    /// A purchase as it is answered.
    func purchase(
        _ row: TransactionRow, _ withdrawals: inout PurchaseWithdrawals, _ renewals: inout PurchaseRenewals
    ) throws(LedgerStorageError) -> RecordedPurchase {
        let environment = try environments.environment(row.environment)
        let facts = try row.observed(in: environment)
        let stored = try row.ownerKey.map { key throws(LedgerStorageError) in try customers.row(key) }
        let owner = try stored.map { owner throws(LedgerStorageError) in try customers.surviving(owner) }
        return RecordedPurchase(
            environment: environment, transactionID: row.transactionID,
            originalTransactionID: facts.original.transactionID.string, customerID: owner?.name,
            productID: try products.id(row.productKey),
            productKind: row.kind, quantity: facts.quantity, purchasedAt: facts.purchaseDate, expiresAt: facts.end,
            withdrawal: try withdrawals.withdrawal(of: row), upgradedAt: facts.upgradedAt, price: facts.price,
            orderLineID: facts.lineItemID?.string,
            offer: facts.offer,
            isFamilyShared: facts.ownership.isFamilyShared,
            seats: facts.seatsOfPurchaser,
            // The row of a merged customer has not moved yet.
            ownerReason: stored?.mergedInto == nil ? row.ownerReason : "merge", knownAt: row.knownAt,
            orderID: try orders.row(paidBy: row.key)?.id, renewal: try renewals.renewal(of: row, facts))
    }
}
