public import Foundation
import TextFormats

extension AppStore {
    /// Creates the customer's receipt again, without finished consumables.
    /// - Throws: `unknown_app`, `unknown_customer`.
    @discardableResult
    public mutating func refreshReceipt(of bundleID: String, for customerID: String) throws(StoreError) -> StoreReceipt
    {
        _ = try app(bundleID)
        let customer = try customer(customerID)
        let receipt = makeReceipt(bundleID, customer)
        record(
            .receiptRefreshed, "the receipt of \(customerID) has \(counted(receipt.transactions.count, "purchase"))",
            bundleID: bundleID, customerID: customerID)
        return receipt
    }

    /// Restores the purchases of a customer: non-consumables, non-renewing and auto-renewable subscriptions that they
    /// bought or share and that were not revoked. Each gets a new transaction under its original, which replaces it in
    /// the receipt.
    /// - Returns: the new transactions, in the order of those they are copies of.
    /// - Throws: `unknown_app`, `unknown_customer`.
    @discardableResult
    public mutating func restore(_ bundleID: String, for customerID: String) throws(StoreError) -> [StoreTransaction] {
        _ = try app(bundleID)
        let customer = try customer(customerID)
        var restored: [StoreTransaction] = []
        for transaction in currentTransactions(of: bundleID, customerID)
        // Transactions of seats are never copies of each other.
        where transaction.kind != .consumable && transaction.revocation == nil && transaction.seats == nil {
            let copy = restoredCopy(of: transaction)
            record(.restored, "\(transaction.productID) is restored for \(customerID)", copy)
            restored.append(copy)
        }
        makeReceipt(bundleID, customer)
        return restored
    }

    /// The receipt on the customer's device; an empty receipt if the store has made none yet.
    public func receipt(of bundleID: String, for customerID: String) throws(StoreError) -> StoreReceipt {
        let app = try app(bundleID)
        _ = try customer(customerID)
        return state.receipts[StoreState.key(bundleID, customerID)]
            ?? StoreReceipt(
                bundleID: bundleID, customerID: customerID, creationDate: now, applicationVersion: app.version,
                originalPurchaseDate: now, transactions: [])
    }

    /// The purchases of a receipt made now, oldest first: all except finished consumables and purchases replaced by
    /// restored copies.
    public func currentTransactions(of bundleID: String, _ customerID: String) -> [StoreTransaction] {
        state.transactions.rows(ofGroup: StoreState.key(bundleID, customerID)).filter {
            $0.restoredAs == nil && !($0.kind == .consumable && $0.isFinished)
        }
    }

    @discardableResult
    mutating func makeReceipt(_ bundleID: String, _ customer: StoreCustomer) -> StoreReceipt {
        let key = StoreState.key(bundleID, customer.customerID)
        let receipt = StoreReceipt(
            bundleID: bundleID, customerID: customer.customerID, creationDate: now,
            applicationVersion: state.apps[bundleID]?.version ?? "1.0",
            originalPurchaseDate: state.receipts[key]?.originalPurchaseDate ?? now,
            transactions: currentTransactions(of: bundleID, customer.customerID))
        state.receipts[key] = receipt
        return receipt
    }

    /// Mints a copy under a new identifier.
    mutating func restoredCopy(of transaction: StoreTransaction) -> StoreTransaction {
        let transactionID = nextTransactionID(transaction.environment)
        var original = transaction
        original.restoredAs = transactionID
        state.transactions[original.transactionID] = original
        var copy = transaction.copy(as: transactionID)
        copy.restoredFrom = transaction.transactionID
        // A period of a subscription keeps its dates; any other copy has the date of the restore as its purchase date.
        if transaction.kind != .autoRenewable { copy.purchaseDate = now }
        copy.upgradeDate = transaction.upgradeDate
        copy.sharedFromTransactionID = transaction.sharedFromTransactionID
        state.transactions[transactionID] = copy
        if var subscription = state.subscriptions[transaction.originalTransactionID],
            subscription.transactionID == transaction.transactionID
        {
            subscription.transactionID = transactionID
            store(subscription)
        }
        return copy
    }
}

/// The app receipt on a customer's device, as the store last made it.
public struct StoreReceipt: Codable, Hashable, Sendable {
    public let bundleID: String
    public let customerID: String
    public let creationDate: Date
    /// The version of the app then.
    public let applicationVersion: String
    /// When the customer first got the app.
    public let originalPurchaseDate: Date
    /// The transactions in it, as they were then, oldest first.
    public let transactions: [StoreTransaction]
}

extension StoreReceipt {
    /// The identifier of the customer's copy of the app.
    var appTransactionID: String { StoreApp.appTransactionID(bundleID, customerID) }

    /// The same receipt if it has the transaction; otherwise a receipt of this moment with the customer's present
    /// transactions and this one. A device's receipt lacks renewals since its last refresh, and finished consumables
    /// after it.
    func containing(_ transaction: StoreTransaction, in store: AppStore) -> StoreReceipt {
        guard !transactions.contains(where: { $0.transactionID == transaction.transactionID }) else { return self }
        let current = store.currentTransactions(of: bundleID, customerID)
        let isCurrent = current.contains { $0.transactionID == transaction.transactionID }
        return StoreReceipt(
            bundleID: bundleID, customerID: customerID, creationDate: store.now,
            applicationVersion: applicationVersion, originalPurchaseDate: originalPurchaseDate,
            transactions: isCurrent ? current : current + [transaction])
    }
}
