/// Who may have an offer, and how often.
public struct OfferRule: Sendable, Hashable {
    /// The products of the offer; empty for all.
    public var products: Set<String> = []
    public var audience = OfferAudience.everybody
    /// How often one customer gets it; `nil` for no limit.
    public var limit: Int64?
    /// The time in which the limit counts, in milliseconds; `nil` for ever.
    public var within: Int64?

    /// The rule that gives an offer to everybody.
    public init() {}
}
