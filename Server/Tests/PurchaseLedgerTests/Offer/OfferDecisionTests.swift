import PurchaseLedger
import PurchaseVerification
import Testing

/// Who may have an offer, and how often.
@Suite("The decision about an offer")
struct OfferDecisionTests {
    private static let now = Timestamp(millisecondsSince1970: 1_000_000_000)

    private static func rule(_ change: (inout OfferRule) -> Void = { _ in }) -> OfferRule {
        var rule = OfferRule()
        change(&rule)
        return rule
    }

    private static func decision(
        _ rule: OfferRule?, product: String? = "monthly", audience: OfferAudience = .subscribers, ago: [Int64] = []
    ) -> OfferDecision {
        OfferDecision(
            rule, productID: product, audience: audience,
            signed: ago.map { Timestamp(millisecondsSince1970: now.millisecondsSince1970 - $0) }, at: now)
    }

    @Test("29.3 An offer that the settings do not have is not signed")
    func unknown() { #expect(Self.decision(nil) == .unknown) }

    @Test("29.3 An offer without conditions is signed for everybody, for every product, any number of times")
    func plain() {
        for audience in OfferAudience.allCases {
            #expect(Self.decision(Self.rule(), audience: audience, ago: Array(repeating: 1, count: 100)) == .sign)
        }
        #expect(Self.decision(Self.rule(), product: nil) == .sign)
    }

    @Test("29.3 An offer is for its products alone, compared byte by byte")
    func products() {
        let rule = Self.rule { $0.products = ["monthly", "caf\u{E9}"] }
        #expect(Self.decision(rule) == .sign)
        #expect(Self.decision(rule, product: "yearly") == .otherProduct)
        #expect(Self.decision(rule, product: "cafe\u{301}") == .otherProduct)
        #expect(Self.decision(rule, product: nil) == .otherProduct)
    }

    @Test("29.3 An offer for subscribers, former ones or new customers is for these alone")
    func audience() {
        for wanted in OfferAudience.allCases where wanted != .everybody {
            let rule = Self.rule { $0.audience = wanted }
            for audience in OfferAudience.allCases where audience != .everybody {
                #expect(
                    Self.decision(rule, audience: audience) == (audience == wanted ? .sign : .otherAudience(wanted)))
            }
        }
    }

    @Test("29.3 A limit counts all signatures, or those of the time that the settings name")
    func limit() {
        let ever = Self.rule { $0.limit = 2 }
        #expect(Self.decision(ever, ago: [900_000_000]) == .sign)
        #expect(Self.decision(ever, ago: [0, 900_000_000]) == .exhausted(limit: 2))
        let daily = Self.rule { ($0.limit, $0.within) = (1, 86_400_000) }
        #expect(Self.decision(daily, ago: [86_399_999]) == .exhausted(limit: 1))
        #expect(Self.decision(daily, ago: [86_400_000]) == .sign)
        // A clock that was set back does not give an offer again.
        #expect(Self.decision(daily, ago: [-1_000]) == .exhausted(limit: 1))
    }
}
