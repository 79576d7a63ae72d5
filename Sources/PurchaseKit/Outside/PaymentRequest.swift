public import Foundation

/// A purchase that the customer is asked to make.
public struct PaymentRequest: Sendable, Equatable {
    public var productID: String
    public var quantity: Int
    /// The customer's UUID, which the App Store returns with the transaction.
    public var appAccountToken: UUID?

    /// A purchase of a product.
    public init(productID: String, quantity: Int = 1, appAccountToken: UUID? = nil) {
        self.productID = productID
        self.quantity = quantity
        self.appAccountToken = appAccountToken
    }
}
