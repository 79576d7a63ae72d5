public import Foundation

/// The app receipt on a customer's device, as the store last made it.
public struct StoreReceipt: Codable, Hashable, Sendable {
    /// The app.
    public let bundleID: String
    public let customerID: String
    /// When it was made.
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
