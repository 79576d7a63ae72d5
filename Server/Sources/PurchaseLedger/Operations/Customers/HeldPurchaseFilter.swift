public import PurchaseVerification

/// The filter of a list of held purchases. Fields that are `nil` do not restrict it.
public struct HeldPurchaseFilter: Sendable, Equatable {
    public var environment: AppStoreEnvironment?
    public var productID: String?

    /// All held purchases.
    public init(environment: AppStoreEnvironment? = nil, productID: String? = nil) {
        self.environment = environment
        self.productID = productID
    }
}
