public import PurchaseVerification

/// Whether an offer is signed for a customer.
public enum OfferDecision: Sendable, Equatable {
    case sign
    /// The settings do not have the offer.
    case unknown
    /// The offer is not for the product.
    case otherProduct
    /// The customer is not one of those who may have it.
    case otherAudience(OfferAudience)
    /// The customer got it as often as they may.
    case exhausted(limit: Int64)

    /// The decision under a rule.
    ///
    /// - Parameters:
    ///   - rule: the rule of the offer; `nil` if the settings have none.
    ///   - audience: what the customer is now: a subscriber, a former one, or new.
    ///   - signed: when the offer was signed for the customer.
    public init(
        _ rule: OfferRule?, productID: String?, audience: OfferAudience, signed: [Timestamp], at now: Timestamp
    ) {
        guard let rule else {
            self = .unknown
            return
        }
        let isOfProduct =
            rule.products.isEmpty || productID.map { id in rule.products.contains { $0.isSame(as: id) } } ?? false
        guard isOfProduct else {
            self = .otherProduct
            return
        }
        guard rule.audience == .everybody || rule.audience == audience else {
            self = .otherAudience(rule.audience)
            return
        }
        if let limit = rule.limit {
            let start = rule.within.map { now.millisecondsSince1970 - $0 } ?? .min
            let count = signed.count { $0.millisecondsSince1970 > start }
            if count >= limit {
                self = .exhausted(limit: limit)
                return
            }
        }
        self = .sign
    }
}
