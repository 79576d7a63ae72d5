public import PurchaseVerification

/// The subscription that renewal info belongs to. Renewal info states neither an app nor the date of the purchase.
public struct RenewalKey: Sendable, Hashable {
    /// The environment of the subscription.
    public let environment: AppStoreEnvironment
    public let originalTransactionID: ExactText

    /// Creates a key.
    public init(environment: AppStoreEnvironment, originalTransactionID: ExactText) {
        self.environment = environment
        self.originalTransactionID = originalTransactionID
    }
}
