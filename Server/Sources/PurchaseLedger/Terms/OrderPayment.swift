public import PurchaseVerification

/// The payment of an order.
public struct OrderPayment: Sendable, Equatable {
    public var environment: AppStoreEnvironment
    public var transactionID: String
    public var price: PurchasePrice?
    /// A free trial pays an order of its subscription.
    public var offer: PurchaseOffer?
}
