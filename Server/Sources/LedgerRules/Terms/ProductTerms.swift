/// The settings of a product, as they were when a purchase of it first counted.
public struct ProductTerms: Sendable, Hashable {
    public var kind: ProductKind
    /// The duration of a non-renewing subscription, which evidence does not state.
    public var duration: PassDuration?

    /// Creates terms.
    public init(kind: ProductKind, duration: PassDuration? = nil) {
        self.kind = kind
        self.duration = duration
    }
}
