public import Foundation

/// A purchase that the customer is asked to make.
public struct PurchasePayment: Sendable, Equatable {
    public var productID: String
    /// How many units of a consumable, or how many seats of a subscription that is sold by the seat; otherwise 1.
    public var quantity: Int
    /// The customer's UUID, which the App Store returns with the transaction.
    public var appAccountToken: UUID?
    /// The offer that the purchase uses.
    public var offer: PaymentOffer?
    /// Whether the sandbox acts as if the customer had to ask a parent.
    public var simulatesAskToBuyInSandbox: Bool

    /// A purchase of a product.
    public init(
        productID: String, quantity: Int = 1, appAccountToken: UUID? = nil, offer: PaymentOffer? = nil,
        simulatesAskToBuyInSandbox: Bool = false
    ) {
        self.productID = productID
        self.quantity = quantity
        self.appAccountToken = appAccountToken
        self.offer = offer
        self.simulatesAskToBuyInSandbox = simulatesAskToBuyInSandbox
    }
}
