/// The kinds of offers that a server signs.
public enum OfferKind: String, Sendable, CaseIterable {
    /// A promotional offer in the first form: an ECDSA signature beside its parts.
    case promotionalV1 = "promotional_v1"
    /// A promotional offer as a JSON Web Signature.
    case promotional
    /// The statement whether a customer may have an introductory offer.
    case introductoryEligibility = "introductory_eligibility"
    /// A request of the Advanced Commerce API, which the app passes to StoreKit.
    case advancedCommerce = "advanced_commerce"
}
