import PurchaseLedger
import PurchaseVerification
import Testing

/// One row for each story of a purchase: the evidence, and the days with access.
@Suite("Stories of purchases")
struct SubscriptionTests {
    struct Row: Sendable, CustomTestStringConvertible {
        let name: String
        var story = PurchaseStory()
        /// Product, day, and the reason against access, `nil` for access.
        var answers: [(product: ExactText, day: Double, denial: NoAccessReason?)] = []

        var testDescription: String { name }

        init(
            _ name: String, _ statements: [TransactionStatement], _ renewals: [RenewalStatement] = [],
            _ answers: [(product: ExactText, day: Double, denial: NoAccessReason?)]
        ) {
            self.name = name
            story.statements = statements
            story.renewals = renewals
            story.claim("1", PurchaseStory.alice)
            self.answers = answers
        }
    }

    private static func period(
        _ id: String, _ product: ExactText = "monthly", on day: Double, until end: Double, stamp: Double? = nil,
        revoked: Double? = nil, isUpgraded: Bool = false
    ) -> TransactionStatement {
        .signed(
            id, product, .autoRenewable, on: day, original: "1", until: end, stamp: stamp, revoked: revoked,
            isUpgraded: isUpgraded)
    }

    static let rows: [Row] = [
        Row(
            "renewal", [period("1", on: 0, until: 30), period("2", on: 30, until: 60)], [],
            [("monthly", 45, nil), ("monthly", 60, .newsMissing), ("monthly", -1, .notStarted)]),
        Row(
            "late and out-of-order renewal",
            [period("3", on: 60, until: 90), period("1", on: 0, until: 30), period("2", on: 40, until: 60)], [],
            [("monthly", 35, .newsMissing), ("monthly", 50, nil), ("monthly", 80, nil)]),
        Row(
            "upgrade",
            [
                period("1", on: 0, until: 30, stamp: 10, isUpgraded: true),
                period("2", "yearly", on: 10, until: 375),
            ], [], [("monthly", 5, nil), ("monthly", 15, .upgraded), ("yearly", 15, nil)]),
        Row(
            "upgrade of which only the old period is known",
            [period("1", on: 0, until: 30, stamp: 10, isUpgraded: true)],
            [], [("monthly", 9, nil), ("monthly", 11, .upgraded)]),
        Row(
            "crossgrade",
            [period("1", "yearly", on: 0, until: 365), period("2", "monthly", on: 100, until: 130)], [],
            [("yearly", 99, nil), ("yearly", 101, .superseded), ("monthly", 101, nil), ("monthly", 131, .newsMissing)]),
        Row(
            "downgrade at renewal",
            [period("1", "yearly", on: 0, until: 365), period("2", "monthly", on: 365, until: 395)], [],
            [("yearly", 364, nil), ("yearly", 366, .expired), ("monthly", 366, nil)]),
        Row(
            "grace", [period("1", on: 0, until: 30)],
            [.signed("1", stamp: 30, grace: 46, isInBillingRetry: true)],
            [("monthly", 45, nil), ("monthly", 46, .billingRetry)]),
        Row(
            "grace that newer renewal info ends early", [period("1", on: 0, until: 30)],
            [.signed("1", stamp: 30, grace: 46), .signed("1", stamp: 40)],
            [("monthly", 39, nil), ("monthly", 40, .expired)]),
        Row(
            "billing retry for 60 days", [period("1", on: 0, until: 30)],
            [.signed("1", stamp: 30, isInBillingRetry: true)],
            [("monthly", 31, .billingRetry), ("monthly", 89, .billingRetry), ("monthly", 90, .expired)]),
        Row(
            "recovery", [period("1", on: 0, until: 30), period("2", on: 35, until: 65)],
            [.signed("1", stamp: 30, isInBillingRetry: true, beside: "1"), .signed("1", stamp: 35, beside: "2")],
            [("monthly", 32, .billingRetry), ("monthly", 36, nil), ("monthly", 65, .expired)]),
        Row(
            "extension", [period("1", on: 0, until: 30), period("1", on: 0, until: 44, stamp: 20)], [],
            [("monthly", 40, nil), ("monthly", 44, .newsMissing)]),
        Row(
            "refund of an old period",
            [period("1", on: 0, until: 30, stamp: 40, revoked: 40), period("2", on: 30, until: 60)], [],
            [("monthly", 20, nil), ("monthly", 45, nil)]),
        Row(
            "refund of the current period",
            [period("1", on: 0, until: 30), period("2", on: 30, until: 60, stamp: 40, revoked: 40)], [],
            [("monthly", 39, nil), ("monthly", 45, .revoked)]),
        Row(
            "reversal of a refund",
            [period("1", on: 0, until: 30, stamp: 10, revoked: 10), period("1", on: 0, until: 30, stamp: 12)], [],
            [("monthly", 20, nil)]),
        Row(
            "resubscription", [period("1", on: 0, until: 30), period("2", on: 100, until: 130)], [],
            [("monthly", 50, .newsMissing), ("monthly", 110, nil)]),
        Row(
            "offer code without a token",
            [period("1", on: 0, until: 30), period("2", "yearly", on: 20, until: 385)], [],
            [("yearly", 21, nil), ("monthly", 21, .superseded)]),
        Row(
            "partial refunds repeated",
            [
                .signed("1", "coins", .consumable, on: 0, quantity: 3, stamp: 5, revoked: 5, percentage: 33_333),
                .signed("1", "coins", .consumable, on: 0, quantity: 3, stamp: 7, revoked: 7, percentage: 66_667),
            ], [], [("coins", 8, nil)]),
        Row(
            "revocation of family sharing",
            [
                .signed(
                    "1", "pro", .nonConsumable, on: 0, stamp: 9, revoked: 9, isShared: true),
                .signed("2", "pro", .nonConsumable, on: 0, original: "1"),
            ], [], [("pro", 8, nil), ("pro", 10, .revoked)]),
    ]

    @Test("gives access on the right days", arguments: rows)
    func row(_ row: Row) {
        for (product, day, denial) in row.answers {
            let access = row.story.access(PurchaseStory.alice, product, day: day)
            #expect(access != nil, "\(product) on day \(day)")
            #expect(access?.denial == denial, "\(product) on day \(day)")
            #expect(access?.isActive == (denial == nil))
        }
    }

    @Test("the two refunds of one of three leave one")
    func partialRefunds() throws {
        let row = try #require(Self.rows.first { $0.name == "partial refunds repeated" })
        #expect(row.story.balance(PurchaseStory.alice, day: 8) == 1)
        var first = row.story
        first.statements.removeLast()
        #expect(first.balance(PurchaseStory.alice, day: 8) == 2)
    }

    @Test("if two customers claim two periods of one original, the first has both, unless tokens decide otherwise")
    func twoCustomers() throws {
        var story = PurchaseStory()
        story.statements = [Self.period("1", on: 0, until: 30), Self.period("2", on: 30, until: 60)]
        story.claim("2", PurchaseStory.bob)
        story.claim("1", PurchaseStory.alice)
        #expect(story.owner("1") == PurchaseStory.bob)
        #expect(story.owner("2") == PurchaseStory.bob)
        #expect(story.access(PurchaseStory.alice, "monthly", day: 40) == nil)
        try story.tokens.assign(.sample(1), to: PurchaseStory.alice)
        story.statements.append(
            .signed("1", "monthly", .autoRenewable, on: 0, original: "1", until: 30, token: 1))
        #expect(story.owner("1") == PurchaseStory.alice)
        #expect(story.owner("2") == PurchaseStory.alice)
        #expect(story.denial(PurchaseStory.bob, "monthly", day: 40) == .ownedByAnother)
    }

    @Test("a subscription of ten years of weeks is two steps of one row")
    func tenYears() {
        var story = PurchaseStory()
        story.claim("1", PurchaseStory.alice)
        story.statements = (0..<520).map { week in
            Self.period("\(week + 1)", on: Double(week) * 7, until: Double(week + 1) * 7)
        }
        let grounds = story.entitlements(of: PurchaseStory.alice).grounds
        #expect(grounds.count == 1)
        let steps = grounds.first?.timeline.steps ?? []
        #expect(steps.map(\.reason) == [nil, .newsMissing])
        #expect(steps.first?.until == .day(3640))
        #expect(steps.first?.transaction == .sample("520"))
    }

    @Test("copies of a period count once; periods with their own line items count separately, though they end together")
    func copies() {
        var story = PurchaseStory()
        story.claim("1", PurchaseStory.alice)
        var copy = Self.period("9", on: 5, until: 30)
        copy.lineItemID = nil
        story.statements = [
            Self.period("1", on: 0, until: 30), copy, Self.period("2", on: 28, until: 30, stamp: 29, revoked: 29),
        ]
        #expect(story.purchases.count == 2)
        #expect(story.isActive(PurchaseStory.alice, "monthly", day: 29.5))
        copy.revocation = Revocation(date: .day(6))
        story.statements.append(copy)
        // The copy of the first period was revoked, so the period is.
        #expect(story.denial(PurchaseStory.alice, "monthly", day: 29.5) == .revoked)
    }

    @Test("starts have five minutes of tolerance, and ends none")
    func tolerance() {
        var story = PurchaseStory()
        story.claim("1", PurchaseStory.alice)
        story.statements = [Self.period("1", on: 1, until: 2)]
        let minute = 1.0 / 1440
        #expect(story.isActive(PurchaseStory.alice, "monthly", day: 1 - 5 * minute))
        #expect(story.denial(PurchaseStory.alice, "monthly", day: 1 - 6 * minute) == .notStarted)
        #expect(story.isActive(PurchaseStory.alice, "monthly", day: 2 - minute))
        #expect(!story.isActive(PurchaseStory.alice, "monthly", day: 2))
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
            Self.isConfirmed(
                on: 40, renewal: .signed("1", stamp: stamp, autoRenew: 0, intent: intent, beside: "1"))
        }
        #expect(confirmed == [false, false, true, true, true, true])
    }
}
