/// What the settings say of a product: those in force when a purchase of it first counted.
public struct ProductTerms: Sendable, Hashable {
    /// What kind of product it is.
    public var kind: ProductKind
    /// How long one of a non-renewing subscription lasts, which evidence does not say.
    public var duration: PassDuration?

    /// Terms by their parts.
    public init(kind: ProductKind, duration: PassDuration? = nil) {
        self.kind = kind
        self.duration = duration
    }
}
