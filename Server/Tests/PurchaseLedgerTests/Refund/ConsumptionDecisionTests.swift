import PurchaseLedger
import Testing

/// What Apple is told about a purchase for which a customer asks a refund, case by case.
@Suite("The decision about a refund request")
struct ConsumptionDecisionTests {
    /// A delivered consumable of two units with consent.
    private static func situation(
        kind: ProductKind? = .consumable, _ change: (inout ConsumptionSituation) -> Void = { _ in }
    ) -> ConsumptionSituation {
        var situation = ConsumptionSituation(
            productID: "coins", kind: kind, holder: .buyer, isOwned: true, consent: .given, quantity: 2, used: 0,
            isDelivered: true, isWithdrawn: false)
        change(&situation)
        return situation
    }

    /// A policy in which each case has another preference.
    private static let policy: RefundPolicy = {
        var policy = RefundPolicy()
        (policy.unused, policy.partlyUsed, policy.used) = (.grantFull, .grantProrated, .decline)
        (policy.undelivered, policy.unmeasured) = (.grantFull, .decline)
        policy.providesSample = true
        return policy
    }()

    private static func answer(
        _ situation: ConsumptionSituation, _ policy: RefundPolicy = policy
    ) throws -> ConsumptionAnswer {
        guard case .send(let answer) = ConsumptionDecision(situation, policy) else { throw NoAnswer() }
        return answer
    }

    private struct NoAnswer: Error {}

    @Test(
        "29.3 The used share is exact: half is 50000, a part is never rounded to nothing or everything",
        arguments: [
            (2, 0, 0), (2, 1, 50_000), (2, 2, 100_000), (3, 1, 33_333), (3, 2, 66_667), (1, 1, 100_000),
            (1_000_000, 1, 1), (1_000_000_000, 1, 1), (1_000_000_000, 999_999_999, 99_999), (7, 5, 71_429),
            // More than was bought is everything; less than nothing is nothing.
            (2, 5, 100_000), (2, -1, 0),
        ] as [(Int64, Int64, Int64)])
    func share(quantity: Int64, used: Int64, percentage: Int64) throws {
        let answer = try Self.answer(Self.situation { ($0.quantity, $0.used) = (quantity, used) })
        #expect(answer.percentage == percentage && answer.isDelivered && answer.providesSample)
        let preference: PreferredRefund =
            percentage == 0 ? .grantFull : percentage == 100_000 ? .decline : .grantProrated
        #expect(answer.preference == preference)
    }

    @Test("29.3 What was not delivered is 0 used, whatever was counted, and has a preference of its own")
    func undelivered() throws {
        for kind in [ProductKind.consumable, .nonConsumable, .nonRenewing] {
            let answer = try Self.answer(Self.situation(kind: kind) { ($0.isDelivered, $0.used) = (false, 1) })
            #expect(!answer.isDelivered && answer.percentage == 0 && answer.preference == .grantFull)
        }
    }

    @Test("29.3 Auto-renewable subscriptions have no percentage, and no other kind is measured but consumables")
    func unmeasured() throws {
        var policy = Self.policy
        policy.unmeasured = .grantProrated
        for delivered in [true, false] {
            let answer = try Self.answer(Self.situation(kind: .autoRenewable) { $0.isDelivered = delivered }, policy)
            #expect(answer.percentage == nil)
            #expect(answer.preference == (delivered ? .grantProrated : .grantFull))
        }
        for kind in [ProductKind.nonConsumable, .nonRenewing] {
            let answer = try Self.answer(Self.situation(kind: kind), policy)
            // Apple takes a part only with its percentage.
            #expect(answer.percentage == nil && answer.preference == PreferredRefund.none)
        }
    }

    @Test("29.3 A part is never preferred of nothing, of everything, or of what was not delivered")
    func proration() throws {
        var policy = RefundPolicy()
        (policy.unused, policy.used, policy.undelivered) = (.grantProrated, .grantProrated, .grantProrated)
        for (used, delivered) in [(0, true), (2, true), (0, false)] as [(Int64, Bool)] {
            let answer = try Self.answer(Self.situation { ($0.used, $0.isDelivered) = (used, delivered) }, policy)
            #expect(answer.preference == PreferredRefund.none)
        }
    }

    @Test("29.3 Nothing is sent without the customer's consent, or of a purchase that nobody owns")
    func consent() {
        for consent in [ConsumptionSituation.Consent.unknown, .refused] {
            #expect(ConsumptionDecision(Self.situation { $0.consent = consent }, Self.policy) == .wait(.noConsent))
        }
        #expect(
            ConsumptionDecision(
                Self.situation {
                    $0.isOwned = false; $0.consent = .unknown
                }, Self.policy)
                == .wait(.noOwner))
    }

    @Test("29.3 Nothing is ever sent about assigned seats, shares of a family, what Apple took back, or by policy")
    func declined() {
        #expect(ConsumptionDecision(Self.situation { $0.holder = .seat }, Self.policy) == .decline(.assignedSeat))
        #expect(ConsumptionDecision(Self.situation { $0.holder = .family }, Self.policy) == .decline(.familyShared))
        #expect(ConsumptionDecision(Self.situation { $0.isWithdrawn = true }, Self.policy) == .decline(.refunded))
        var silent = Self.policy
        silent.answers = false
        #expect(ConsumptionDecision(Self.situation(), silent) == .decline(.policy))
        // A seat is declined also without an owner or a consent.
        #expect(
            ConsumptionDecision(
                Self.situation { ($0.holder, $0.isOwned, $0.consent) = (.seat, false, .unknown) }, Self.policy)
                == .decline(.assignedSeat))
    }

    @Test("29.3 A product without a policy of its own has that of the others, and ids are compared byte by byte")
    func policies() {
        var policies = RefundPolicies()
        policies.others.unused = .decline
        policies.products["caf\u{E9}"] = Self.policy
        #expect(policies.policy(for: "caf\u{E9}") == Self.policy)
        #expect(policies.policy(for: "cafe\u{301}") == policies.others && policies.policy(for: nil) == policies.others)
    }
}
