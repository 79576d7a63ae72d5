import PurchaseVerification

/// A product of an app.
public struct RegisteredProduct: Sendable, Hashable {
    public var kind: ProductKind
    /// The duration of a non-renewing subscription; evidence does not state it.
    public var duration: PassDuration?
    /// The named entitlements that the product gives, such as `pro`.
    public var entitlements: [String]

    /// Creates a product.
    public init(kind: ProductKind, duration: PassDuration? = nil, entitlements: [String] = []) {
        self.kind = kind
        self.duration = duration
        self.entitlements = entitlements
    }
}
