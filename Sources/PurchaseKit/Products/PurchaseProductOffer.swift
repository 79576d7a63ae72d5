public import Foundation
import PurchaseMessages

/// An offer of a subscription, as a shop shows it.
public struct PurchaseProductOffer: Sendable, Hashable {
    /// The id; an introductory offer has none.
    public var offerID: String?
    public var kind: Kind
    public var payment: Payment
    public var price: Decimal
    /// The price as the App Store of the customer writes it.
    public var priceText: String
    public var period: PurchasePeriod
    /// For how many periods the price holds.
    public var periodCount: Int
    /// Whether this customer may have it, as the system and the server know; `nil` if only your server decides, as with
    /// promotional offers, and could not be asked.
    public var isEligible: Bool?

    /// For whom an offer is.
    public enum Kind: String, Sendable, Hashable, Codable {
        /// New subscribers.
        case introductory
        /// Present and former subscribers, as your server decides and signs.
        case promotional
        /// Former subscribers, as App Store Connect decides.
        case winBack
    }

    public enum Payment: String, Sendable, Hashable, Codable { case freeTrial, payAsYouGo, payUpFront }

    public init(
        offerID: String?, kind: Kind, payment: Payment, price: Decimal, priceText: String, period: PurchasePeriod,
        periodCount: Int = 1, isEligible: Bool? = nil
    ) {
        (self.offerID, self.kind, self.payment) = (offerID, kind, payment)
        (self.price, self.priceText, self.period) = (price, priceText, period)
        (self.periodCount, self.isEligible) = (periodCount, isEligible)
    }
}

extension PurchaseProduct {
    /// The product with the server's decisions beside those of the system: an offer needs both. About introductory
    /// offers the system knows more: the server does not know the groups of products that were never bought.
    func decided(by decisions: [CustomerOffers.Offer]) -> Self {
        var product = self
        for (place, offer) in offers.enumerated() {
            let type = offer.kind == .winBack ? "win_back" : offer.kind.rawValue
            let decision = decisions.first {
                $0.productID == productID && $0.offerID == offer.offerID && $0.type == type
            }
            guard let decision else { continue }
            let isOfSettings = ["offer_not_for_customer", "offer_exhausted"].contains(decision.reason)
            if offer.kind == .introductory, offer.isEligible != nil, !isOfSettings { continue }
            product.offers[place].isEligible = decision.eligible && offer.isEligible ?? true
        }
        return product
    }
}
