import PurchaseVerification

/// An offer, and whether a customer may have it next.
public struct CustomerOffer: Sendable, Equatable {
    public var productID: String
    /// Its id in App Store Connect; introductory offers have none.
    public var offerID: String?
    public var type: Kind
    public var isEligible: Bool
    public var reason: Reason

    public enum Kind: String, Sendable, CaseIterable {
        case introductory, promotional
        case winBack = "win_back"
    }

    /// Why the customer may have it, or may not.
    public enum Reason: String, Sendable, CaseIterable {
        /// They never had a subscription of the group.
        case neverSubscribed = "never_subscribed"
        /// They have a subscription of the group.
        case subscribed
        /// They had one, and have none now.
        case formerSubscriber = "former_subscriber"
        /// They had an introductory offer of the group.
        case introductoryOfferUsed = "introductory_offer_used"
        /// The App Store signed that they may have it.
        case signed
        /// The settings give it to others.
        case notForCustomer = "offer_not_for_customer"
        /// They got it as often as the settings allow.
        case exhausted = "offer_exhausted"
    }

    /// What is known of one subscription that a customer bought.
    public struct Subscription: Sendable {
        public var productID: String
        public var groupID: ExactText?
        public var isActive: Bool
        /// Whether a period of it had the introductory offer.
        public var hadIntroductory: Bool
        /// The win-back offers that its newest renewal info names, the best one first.
        public var winBack: [String] = []

        package init(productID: String, groupID: ExactText?, isActive: Bool, hadIntroductory: Bool) {
            self.productID = productID
            self.groupID = groupID
            self.isActive = isActive
            self.hadIntroductory = hadIntroductory
        }
    }

    /// The offers of an app for a customer, by products, each introductory first and win-back last.
    ///
    /// A subscription and a product whose groups are not both known count as of one group, so that no offer is shown
    /// that the App Store would refuse.
    ///
    /// - Parameters:
    ///   - rules: the settings of the app about offers.
    ///   - products: its auto-renewable products.
    ///   - groups: their subscription groups, as far as the settings name them.
    ///   - audience: what the customer is when an offer is signed.
    ///   - signed: when promotional offers were signed for the customer, by their ids, and under an empty id when the
    ///     introductory one was.
    package static func all(
        _ rules: OfferRules, products: [String], groups named: [String: ExactText] = [:],
        subscriptions: [Subscription], audience: OfferAudience, signed: [String: [Timestamp]], at now: Timestamp
    ) -> [CustomerOffer] {
        var offers: [CustomerOffer] = []
        for product in products {
            var groups = subscriptions.filter { $0.productID.isSame(as: product) }.map(\.groupID)
            if groups.isEmpty, let group = named[product] { groups = [group] }
            let related = subscriptions.filter { one in
                one.groupID == nil || groups.isEmpty || groups.contains { $0 == nil || $0 == one.groupID }
            }
            let former: Reason = related.isEmpty ? .neverSubscribed : .formerSubscriber
            let standing = related.contains(where: \.isActive) ? .subscribed : former
            func add(_ type: Kind, _ id: String?, _ rule: OfferRule?, refusal: Reason?, or eligible: Reason) {
                let decision = rule.map {
                    OfferDecision($0, productID: product, audience: audience, signed: signed[id ?? ""] ?? [], at: now)
                }
                let reason: Reason? =
                    switch decision {
                    case .otherAudience: .notForCustomer
                    case .exhausted: .exhausted
                    default: nil
                    }
                if case .otherProduct = decision { return }
                let found = refusal ?? reason
                offers.append(
                    CustomerOffer(
                        productID: product, offerID: id, type: type, isEligible: found == nil,
                        reason: found ?? eligible))
            }
            let isUsed = related.contains(where: \.hadIntroductory)
            add(
                .introductory, nil, rules.introductory,
                refusal: isUsed ? .introductoryOfferUsed : standing == .subscribed ? .subscribed : nil, or: standing)
            for (id, rule) in rules.promotional.sorted(by: { ExactText($0.key) < ExactText($1.key) }) {
                add(
                    .promotional, id, rule, refusal: standing == .neverSubscribed ? .neverSubscribed : nil,
                    or: standing)
            }
            var offered: Set<String> = []
            for one in subscriptions where one.productID.isSame(as: product) {
                for id in one.winBack where offered.insert(id).inserted {
                    add(.winBack, id, nil, refusal: standing == .subscribed ? .subscribed : nil, or: .signed)
                }
            }
        }
        return offers
    }
}
