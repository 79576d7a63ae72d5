public import PurchaseVerification

public import struct Foundation.UUID

/// The purchases of a customer, the last seen first.
public struct PurchasesOfCustomer: LedgerList {
    public var app: String
    public var customerID: String
    public var cursor: Int64?
    public var limit: Int

    /// A page of purchases.
    public init(app: String, customerID: String, before cursor: Int64? = nil, limit: Int = 50) {
        (self.app, self.customerID, self.cursor, self.limit) = (app, customerID, cursor, limit)
    }

    public func answer(_ reader: LedgerTransaction) throws -> ListPage<RecordedPurchase, Int64> {
        guard let customer = try reader.customer(customerID, try reader.app(app)) else { return ListPage() }
        var (withdrawals, renewals) = (PurchaseWithdrawals(reader), PurchaseRenewals(reader))
        var page = try reader.transactions.order(of: customer.key).page(after: cursor, limit: limit)
            .map { try reader.purchase($0, &withdrawals, &renewals) }
        page.mergedInto = customer.survivor(of: customerID)
        return page
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
        for row in try reader.rows(transaction: transactionID, app) where !row.isErased {
            purchases.append(try reader.purchase(row, &withdrawals, &renewals))
        }
        return purchases
    }
}

/// A purchase as recorded, whether or not it gives access now.
public struct RecordedPurchase: Sendable, Equatable {
    public var environment: AppStoreEnvironment
    public var transactionID: String
    public var originalTransactionID: String
    /// The owner; `nil` if it is held.
    public var customerID: String?
    public var productID: String
    /// The kind; `nil` if the settings do not agree with the facts.
    public var productKind: ProductKind?
    public var quantity: Int64
    public var purchasedAt: Timestamp?
    public var expiresAt: Timestamp?
    /// Apple's withdrawal, by the statements of all copies of the purchase together.
    public var withdrawal: Withdrawal?
    public var upgradedAt: Timestamp?
    public var price: PurchasePrice?
    /// Apple's number of the line of its order (`webOrderLineItemId`); only of periods of subscriptions.
    public var orderLineID: String?
    public var offer: PurchaseOffer?
    public var isFamilyShared: Bool
    /// The seats that the transaction has left, without those that were refunded; `nil` if it is not sold by the seat,
    /// and for members.
    public var seats: Int64?
    /// The rule that gave it its owner: `account_token`, `inherited_token`, `claim`, `transfer`, `operator_move`,
    /// `merge`.
    public var ownerReason: String?
    public var knownAt: Timestamp
    /// The order that it paid.
    public var orderID: UUID?
    /// The signed renewal info about its period; only for auto-renewable subscriptions.
    public var renewal: RenewalStatement?
}

extension LedgerTransaction {
    /// The transactions of an app with an id, one for each environment. Another app can have one with the same id.
    func rows(transaction id: String, _ app: RegistryApp) throws(LedgerStorageError) -> [TransactionRow] {
        let originals = OriginalsTable(connection: connection)
        var rows: [TransactionRow] = []
        for row in try transactions.rows(id: id) where try originals.row(row.originalKey).appKey == app.key {
            rows.append(row)
        }
        return rows
    }

    /// The transaction of an app by its id.
    ///
    /// - Throws: `purchase_unknown`, or `purchase_ambiguous` if there are several and no environment is named.
    func existingPurchase(
        _ transactionID: String, _ environment: AppStoreEnvironment?, _ app: RegistryApp
    ) throws -> TransactionRow {
        var found: [TransactionRow] = []
        for row in try rows(transaction: transactionID, app) where !row.isErased {
            if let environment, try environments.environment(row.environment) != environment { continue }
            found.append(row)
        }
        guard let row = found.first else { throw LedgerRefusal(.purchaseUnknown, expected: transactionID) }
        guard found.count == 1 else { throw LedgerRefusal(.purchaseAmbiguous, expected: transactionID) }
        return row
    }
}
