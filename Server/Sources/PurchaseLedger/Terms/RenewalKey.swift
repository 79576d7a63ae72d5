public import PurchaseVerification

/// The subscription of renewal info. It has neither an app nor the date of the purchase.
public struct RenewalKey: Sendable, Hashable {
    /// The environment of the subscription.
    public let environment: AppStoreEnvironment
    /// The original transaction id.
    public let originalTransactionID: ExactText

    /// A key by its parts.
    public init(environment: AppStoreEnvironment, originalTransactionID: ExactText) {
        self.environment = environment
        self.originalTransactionID = originalTransactionID
    }
}
