public import PurchaseVerification

/// The content of an order.
public struct OrderDraft: Sendable, Equatable {
    public var customerID: String
    public var productID: String
    public var quantity: Int64
    public var environment: AppStoreEnvironment?
    /// Whether an automatic renewal of the subscription pays it, although no claim names it.
    public var acceptsRenewal: Bool
    public var metadata: String?

    /// Creates an order of a customer for a product.
    public init(
        customerID: String, productID: String, quantity: Int64 = 1, environment: AppStoreEnvironment? = nil,
        acceptsRenewal: Bool = false, metadata: String? = nil
    ) {
        self.customerID = customerID
        self.productID = productID
        self.quantity = quantity
        self.environment = environment
        self.acceptsRenewal = acceptsRenewal
        self.metadata = metadata
    }
}
