public import PurchaseVerification

/// The original transaction that restored copies and renewed periods share.
public struct OriginalKey: Sendable, Hashable {
    /// The environment of the purchase.
    public let environment: AppStoreEnvironment
    /// The original transaction id.
    public let transactionID: ExactText
    /// Seconds since 1970 of the original purchase in Xcode, where ids repeat; 0 in every other environment.
    public let second: Int64

    /// Creates a key.
    public init(environment: AppStoreEnvironment, transactionID: ExactText, second: Int64 = 0) {
        self.environment = environment
        self.transactionID = transactionID
        self.second = second
    }
}
