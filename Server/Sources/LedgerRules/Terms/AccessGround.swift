public import PurchaseVerification

/// One ground of a customer's access to a product: a purchase or a subscription, a chain of passes, or a manual grant.
public struct AccessGround: Sendable, Hashable {
    public var customer: CustomerNumber
    public var productID: ExactText
    public var environment: AppStoreEnvironment
    /// The kind that determines its rule; `nil` if neither the settings nor the evidence state one.
    public var kind: ProductKind?
    public var source: AccessSource
    public var timeline: AccessTimeline

    /// Creates a ground.
    public init(
        customer: CustomerNumber, productID: ExactText, environment: AppStoreEnvironment, kind: ProductKind?,
        source: AccessSource, timeline: AccessTimeline
    ) {
        self.customer = customer
        self.productID = productID
        self.environment = environment
        self.kind = kind
        self.source = source
        self.timeline = timeline
    }
}

extension [AccessGround] {
    /// The joint timeline of the grounds of one customer and product, and its kind; `nil` if no kind is known.
    package var joined: (timeline: AccessTimeline, kind: ProductKind)? {
        guard let kind = compactMap(\.kind).min(by: { $0.rawValue < $1.rawValue }) else { return nil }
        return (AccessTimeline.joined(map(\.timeline)), kind)
    }
}
