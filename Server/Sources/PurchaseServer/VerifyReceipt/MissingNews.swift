package import PurchaseVerification

/// The subscriptions of a receipt about whose latest period the ledger has no signed news.
package struct MissingNews: Sendable {
    /// The app of the settings.
    package let app: String
    package let bundleID: String
    package let environment: AppStoreEnvironment
    /// Their original transactions, in the order of the receipt.
    package let originals: [String]
}
