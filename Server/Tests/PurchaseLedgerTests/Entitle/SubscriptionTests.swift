import PurchaseLedger
import PurchaseVerification
import Testing

/// One row for each story of a purchase: the evidence, and the days with access. `SubscriptionTableTests` checks them.
@Suite("Stories of purchases")
struct SubscriptionTests {
    static let rows = [
        StoryRow("renewal", "1 0-30; 2 30-60", says: "45 active, 60 news_missing, -1 not_started"),
        StoryRow(
            "late and out-of-order renewal", "3 60-90; 1 0-30; 2 40-60",
            says: "35 news_missing, 50 active, 80 active"),
        StoryRow("upgrade", "1 0-30 @10 up; 2 yearly 10-375", says: "5 active, 15 upgraded; yearly 15 active"),
        StoryRow("upgrade of which only the old period is known", "1 0-30 @10 up", says: "9 active, 11 upgraded"),
        StoryRow(
            "crossgrade", "1 yearly 0-365; 2 100-130",
            says: "yearly 99 active, 101 superseded; monthly 101 active, 131 news_missing"),
        StoryRow(
            "downgrade at renewal", "1 yearly 0-365; 2 365-395",
            says: "yearly 364 active, 366 expired; monthly 366 active"),
        StoryRow("grace", "1 0-30", "30 grace46 retry", says: "45 in_grace, 46 billing_retry"),
        StoryRow(
            "grace that newer renewal info ends early", "1 0-30", "30 grace46; 40", says: "39 in_grace, 40 expired"),
        StoryRow(
            "billing retry for 60 days", "1 0-30", "30 retry", says: "31 billing_retry, 89 billing_retry, 90 expired"),
        StoryRow(
            "recovery", "1 0-30; 2 35-65", "30 retry by1; 35 by2", says: "32 billing_retry, 36 active, 65 expired"),
        StoryRow("extension", "1 0-30; 1 0-44 @20", says: "40 active, 44 news_missing"),
        StoryRow("refund of an old period", "1 0-30 !40; 2 30-60", says: "20 active, 45 active"),
        StoryRow("refund of the current period", "1 0-30; 2 30-60 !40", says: "39 active, 45 revoked"),
        StoryRow("reversal of a refund", "1 0-30 !10; 1 0-30 @12", says: "20 active"),
        StoryRow("resubscription", "1 0-30; 2 100-130", says: "50 news_missing, 110 active"),
        StoryRow(
            "offer code without a token", "1 0-30; 2 yearly 20-385", says: "yearly 21 active; monthly 21 superseded"),
        StoryRow("partial refund", "1 coins 0 x3 !5 %33333", says: "coins 8 2"),
        StoryRow("partial refunds repeated", "1 coins 0 x3 !5 %33333; 1 coins 0 x3 !7 %66667", says: "coins 8 1"),
        StoryRow(
            "revocation of family sharing", "1 pro 0 !9 shared; 2 pro 0 of1", says: "pro 8 active, 10 revoked"),
        StoryRow(
            "starts have five minutes of tolerance, and ends none", "1 1-2",
            says: "1-5m active, 1-6m not_started, 2-1m active, 2 -"),
    ]

    @Test("if two customers claim two periods of one original, the first has both, unless tokens decide otherwise")
    func twoCustomers() throws {
        var story = PurchaseStory()
        story.statements = .story("1 0-30; 2 30-60")
        story.claim("2", PurchaseStory.bob)
        story.claim("1", PurchaseStory.alice)
        #expect(["1", "2"].map(story.owner) == [PurchaseStory.bob, PurchaseStory.bob])
        #expect(story.access(PurchaseStory.alice, "monthly", day: 40) == nil)
        try story.tokens.assign(.sample(1), to: PurchaseStory.alice)
        story.statements.append(.story("1 0-30 t1"))
        #expect(["1", "2"].map(story.owner) == [PurchaseStory.alice, PurchaseStory.alice])
        #expect(story.denial(PurchaseStory.bob, "monthly", day: 40) == .ownedByAnother)
    }

    @Test("a subscription of ten years of weeks is two steps of one row")
    func tenYears() {
        let weeks = (0..<520).map { TransactionStatement.story("\($0 + 1) \($0 * 7)-\($0 * 7 + 7)") }
        let story = PurchaseStory(weeks, claimedBy: PurchaseStory.alice)
        let grounds = story.entitlements(of: PurchaseStory.alice).grounds
        #expect(grounds.count == 1)
        let steps = grounds.first?.timeline.steps ?? []
        #expect(steps.map(\.reason) == [nil, .newsMissing] && steps.first?.until == .day(3640))
        #expect(steps.first?.transaction == .sample("520"))
    }

    @Test("copies of a period count once; periods with their own line items count separately, though they end together")
    func copies() {
        var story = PurchaseStory("1 0-30; 9 5-30 =; 2 28-30 !29")
        #expect(story.purchases.count == 2)
        #expect(story.isActive(PurchaseStory.alice, "monthly", day: 29.5))
        story.statements.append(.story("9 5-30 @5 !6 ="))
        // The copy of the first period was revoked, so the period is.
        #expect(story.denial(PurchaseStory.alice, "monthly", day: 29.5) == .revoked)
    }
}

/// Whether what is known about a subscription is up to date (docs/drop-in.md, "live").
@Suite("What is known about a subscription")
struct SubscriptionStandingTests {
    /// Whether news confirm what is known of one period, from day 0 to day 30.
    private static func isConfirmed(
        on day: Double, renewal: RenewalStatement? = nil, status: SignedStatus? = nil
    ) -> Bool? {
        var story = PurchaseStory()
        story.claim("1", PurchaseStory.alice)
        story.statements = [.signed("1", "monthly", .autoRenewable, on: 0, until: 30)]
        return SubscriptionTable(story.purchases, renewal: renewal.map(ObservedRenewal.init), status: status)
            .standing(.at(.day(day)))?.isConfirmed
    }

    @Test("33.3 A status confirms a period if it was signed after its start")
    func status() {
        let stamps = [-1, 0, 0.001, 10]
        let confirmed = stamps.map {
            Self.isConfirmed(on: 15, status: SignedStatus(value: 1, stamp: .day($0)))
        }
        #expect(confirmed == [false, false, true, true])
        #expect(Self.isConfirmed(on: 15) == false)
    }

    @Test("33.3 Renewal info confirms the end of a period if it was signed at its end or later, or says why it ended")
    func end() {
        let told = [(10, nil), (29.999, nil), (30, nil), (31, nil), (10, 1), (31, 1)] as [(Double, Int64?)]
        let confirmed = told.map { stamp, intent in
            Self.isConfirmed(on: 40, renewal: .signed("1", stamp: stamp, autoRenew: 0, intent: intent, beside: "1"))
        }
        #expect(confirmed == [false, false, true, true, true, true])
    }
}
