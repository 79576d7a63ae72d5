import PurchaseVerification

/// The policies of an app for refund requests.
public struct RefundPolicies: Sendable, Hashable {
    /// The policy for products without one of their own.
    public var others = RefundPolicy()
    /// The policies by product id.
    public var products: [String: RefundPolicy] = [:]

    public init() {}

    /// The policy for a product; its id is compared byte by byte.
    public func policy(for productID: String?) -> RefundPolicy {
        guard let productID, let place = products.index(forKey: productID), products[place].key.isSame(as: productID)
        else { return others }
        return products[place].value
    }
}
