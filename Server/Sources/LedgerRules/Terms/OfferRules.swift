import PurchaseVerification

/// The offers of an app. What is not named is not signed.
public struct OfferRules: Sendable, Hashable {
    /// The promotional offers by their ids in App Store Connect.
    public var promotional: [String: OfferRule] = [:]
    /// For whom introductory offers are signed; `nil` for nobody.
    public var introductory: OfferRule?
    /// For whom requests of the Advanced Commerce API are signed; `nil` for nobody.
    public var advancedCommerce: OfferRule?

    public init() {}

    /// The rule of an offer; its id is compared byte by byte.
    package func rule(_ kind: OfferKind, _ offerID: String?) -> OfferRule? {
        switch kind {
        case .promotional, .promotionalV1:
            guard let offerID, let place = promotional.index(forKey: offerID),
                promotional[place].key.isSame(as: offerID)
            else { return nil }
            return promotional[place].value
        case .introductoryEligibility: return introductory
        case .advancedCommerce: return advancedCommerce
        }
    }
}
