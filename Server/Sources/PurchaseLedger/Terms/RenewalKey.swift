public import PurchaseVerification

/// Which subscription renewal info is about. It names neither an app nor the date of the purchase.
public struct RenewalKey: Sendable, Hashable {
    /// Where the subscription was bought.
    public let environment: AppStoreEnvironment
    /// The original transaction id.
    public let originalTransactionID: ExactText

    /// A key by its parts.
    public init(environment: AppStoreEnvironment, originalTransactionID: ExactText) {
        self.environment = environment
        self.originalTransactionID = originalTransactionID
    }
}
