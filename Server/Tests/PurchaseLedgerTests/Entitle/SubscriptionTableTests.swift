import PurchaseLedger
import PurchaseVerification
import Testing

/// The rows of the state table that are most likely to go wrong, by name. Each holds in every order of arrival.
@Suite("The state of a subscription")
struct SubscriptionTableTests {
    private static let alice = PurchaseStory.alice
    private static let bob = PurchaseStory.bob
    private static let minute = 1.0 / 1440

    private static let copies = "1 0-30; 2 5-30 !9"
    private static let seats = "1 0-30 @5 seats; 2 5-30 @5 seats; 2 5-30 !8 seats"
    private static let refundedLate = "1 0-30; 2 30-60; 1 0-30 !62"
    private static let upgrade = "1 0-30; 1 0-30 @10 up; 2 yearly 10-375; 2 yearly 10-375 !12"
    private static let revoked = SignedStatus(value: 5, stamp: .day(10))

    static let rows = [
        StoryRow(
            "9 Refund seen on a copy, reversal on the original", "1 0-30; 9 3-30 !10 =1; 1 0-30 @12",
            says: "20 active"),
        StoryRow("9 Equal ends, one refunded", copies, says: "20 active"),
        StoryRow("9 Equal ends, both refunded", copies + "; 1 0-30 !11", says: "20 revoked, 10 active"),
        StoryRow("12 Addition of seats refunded", seats, says: "20 active"),
        StoryRow(
            "12 Every transaction of the period revoked", seats + "; 1 0-30 !9 seats", says: "20 revoked, 8.5 active"),
        StoryRow("13 EXPIRED lost", "1 0-30", says: "31 news_missing"),
        StoryRow("13 EXPIRED lost, then backfilled", "1 0-30", "30.1 auto0 intent1 by1", says: "31 expired"),
        StoryRow("13 RENEWED lost", "1 0-30", "1 auto1 by1", says: "31 news_missing, 300 news_missing"),
        StoryRow(
            "13 Grace after recovery; retry after 60 days", "1 0-30; 2 35-65",
            "30 grace46 retry auto1 by1; 35 auto1 by2; 65.1 retry auto1 by2",
            says: "33 in_grace, 50 active, 66 billing_retry, 124.9 billing_retry, 125 expired until65"),
        StoryRow(
            "13 An upgrade whose new period comes first", "2 yearly 10-375; 1 0-30; 1 0-30 @10.01 up",
            says: "yearly 15 active; monthly 15 upgraded, 9 active"),
        StoryRow("13 An upgrade without its flag", "2 yearly 10-375; 1 0-30", says: "15 superseded, 40 superseded"),
        // The notification of the refund has the old transaction beside the renewal info.
        StoryRow(
            "14 Refund of an old period during grace", refundedLate, "62 grace76 retry auto1 by1", says: "70 in_grace"),
        StoryRow("14 Renewal info alone in grace", refundedLate, "60 grace76 retry auto1", says: "70 in_grace"),
        // The grace period of the second period does not extend the third.
        StoryRow(
            "14 Recovered, asked for a time in the grace", refundedLate + "; 3 64-94",
            "60 grace76 retry auto1; 64 auto1 by3", says: "at 62 in_grace, 70 active, 95 news_missing"),
        StoryRow(
            "14 The end of a grace period, and a refund after it, do not change the answer for a time in it",
            "1 0-30; 2 50-80", "30.1 grace46 retry auto1 by1; 46 retry auto1 by1; 50 auto1 by2; 60 auto1 by1",
            says: "30 in_grace, 30.05 in_grace, 35 in_grace, 45.9 in_grace, 47 billing_retry, 51 active"),
        StoryRow(
            "15 The reversal is delivered before its refund", "1 0-30; 1 0-30 @12; 1 0-30 !10", says: "20 active"),
        StoryRow(
            "16 Addition of seats refunded, then grace", seats, "30 grace46 retry auto1 by2", says: "40 in_grace"),
        StoryRow(
            "16 The first transaction extended", seats + "; 1 0-44 @20 seats", says: "40 active, 45 news_missing"),
        StoryRow("17 Signed status 5", "1 0-30", status: revoked, says: "20 revoked, 9 active"),
        StoryRow("17 Signed status 1", "1 0-30", status: SignedStatus(value: 1, stamp: .day(10)), says: "20 active"),
        StoryRow(
            "17 Signed status 5, then a clean transaction", "1 0-30; 1 0-30 @11", status: revoked, says: "20 active"),
        StoryRow("17 Signed status 5 before the period", "1 0-30; 2 30-60", status: revoked, says: "40 active"),
        StoryRow(
            "19 Same product, long and short overlapping: the longer one", "1 0-60; 2 30-45",
            says: "40 active until60, 59 active, 50 active of1"),
        StoryRow("20 Upgrade flagged, yearly refunded", upgrade, says: "15 upgraded; yearly 15 revoked"),
        StoryRow(
            "20 Upgrade flagged, yearly refunded, monthly signed again without the flag", upgrade + "; 1 0-30 @13",
            says: "15 active, 30 -; yearly 11 active, 15 revoked"),
        StoryRow(
            "20 Two products of one original, the later refunded: nothing active",
            "1 0-30; 2 yearly 10-375; 2 yearly 10-375 !12; 1 0-30 @13", says: "15 superseded; yearly 15 revoked"),
        StoryRow("A share that ended", "1 0-30; 1 0-30 !9 unshared", says: "10 family_revoked"),
        StoryRow(
            "A share that ended, and another copy shows it", "1 0-30 !9 unshared; 2 1-30 @9 =1", says: "10 active"),
        StoryRow("A period without an end is unknown", "1 0-?", says: "10 period_unknown"),
        StoryRow(
            "A period without an end where another one covers the time", "1 0-30; 2 5-?",
            says: "10 active, 30 period_unknown"),
        StoryRow(
            "A copy without a line item that was bought after a refund is a purchase of its own",
            "1 0-30 !5 =; 2 6-30 =", says: "5.5 revoked, 7 active", purchases: 2),
    ]

    @Test("Each story says what its row says, in every order", arguments: rows + SubscriptionTests.rows)
    func row(_ row: StoryRow) { row.check() }

    /// The state of alice's product.
    private func state(
        _ story: PurchaseStory, _ product: ExactText = "monthly", day: Double, isAboutNow: Bool = true,
        status: SignedStatus? = nil, tolerance: Int64 = 0
    ) -> SubscriptionState? {
        let table = SubscriptionTable(story.purchases, renewal: story.renewalFacts.values.first, status: status)
        return table.states(isAboutNow ? .now(.day(day)) : .at(.day(day)), tolerance: tolerance)
            .first { $0.key.productID == product && $0.key.owner == Self.alice }?.value
    }

    private func everyOrder(
        _ statements: [TransactionStatement], _ renewals: [RenewalStatement] = [], _ body: (PurchaseStory) -> Void
    ) {
        for statements in StoryRow.orders(statements) {
            for renewals in StoryRow.orders(renewals) {
                var story = PurchaseStory()
                story.claim("1", Self.alice)
                story.statements = statements + statements.prefix(1)
                story.renewals = renewals
                body(story)
            }
        }
    }

    @Test("10 Refused under deny, then move")
    func refusedThenMove() {
        var story = PurchaseStory("1 0-30")
        story.claim("1", Self.bob)
        #expect([Self.alice, Self.bob].map { story.isActive($0, "monthly", day: 5) } == [true, false])
        story.claim("1", Self.bob, mayTransfer: true)
        #expect(story.isActive(Self.bob, "monthly", day: 5))
        #expect(story.denial(Self.alice, "monthly", day: 5) == .ownedByAnother)
    }

    @Test("17 Of two signed statuses the newer one counts")
    func newerStatus() {
        let one = SignedStatus(value: 1, stamp: .day(10))
        #expect(SignedStatus.newer(one, Self.revoked) == Self.revoked)
        #expect(SignedStatus.newer(Self.revoked, one) == Self.revoked)
    }

    @Test(
        "A grace period without its end gives access until something newer is signed, and for at most 16 days, 6 of a week",
        arguments: [(length: 30.0, days: 16.0), (7, 6)])
    func graceWithoutEnd(length: Double, days: Double) {
        let periods = [TransactionStatement.story("1 0-\(length)")]
        let (end, latest) = (length, length + days)
        let grace = RenewalStatement.signed(
            "1", stamp: end - 0.1, isInBillingRetry: true, autoRenew: 1, beside: "1", isGraceEndUnknown: true)
        everyOrder(periods, [.signed("1", stamp: 1, autoRenew: 1, beside: "1"), grace]) { story in
            #expect(self.state(story, day: end - 0.01)?.name == .active)
            for day in [end, latest - 0.01] {
                #expect(self.state(story, day: day)?.name == .inGrace)
                let access = story.access(Self.alice, "monthly", day: day)
                #expect(access?.isInGrace == true && access?.until == .day(latest))
            }
            #expect(story.denial(Self.alice, "monthly", day: latest) == .billingRetry)
            // Whether a newer status ends it, and for which time.
            for (status, isOver) in [(4, false), (3, true), (2, true), (1, true)] as [(Int64, Bool)] {
                let newer = SignedStatus(value: status, stamp: .day(end + 2))
                #expect(self.state(story, day: end + 1, status: newer)?.name == .inGrace)
                #expect(self.state(story, day: end + 2, status: newer)?.name == (isOver ? .billingRetry : .inGrace))
                for stamp in [end - 0.2, end - 0.1] {
                    let older = SignedStatus(value: status, stamp: .day(stamp))
                    #expect(self.state(story, day: end + 2, status: older)?.name == .inGrace)
                }
            }
        }
        // Newer renewal info ends it, also with an end in the past or in the future.
        let news: [(RenewalStatement, SubscriptionState.Name)] = [
            (.signed("1", stamp: end + 2, isInBillingRetry: true, autoRenew: 1, beside: "1"), .billingRetry),
            (.signed("1", stamp: end + 2, autoRenew: 0, intent: 2), .expired),
            (.signed("1", stamp: end + 2, grace: end + 3, isInBillingRetry: true, autoRenew: 1), .inGrace),
        ]
        for (newer, name) in news {
            everyOrder(periods, [grace, newer]) { story in
                #expect(self.state(story, day: end + 1)?.name == .inGrace)
                #expect(self.state(story, day: end + 2)?.name == name)
                #expect(self.state(story, day: end + 3.1)?.name != .inGrace)
            }
        }
        // A refund, and the next period, decide before it; a newer statement of the same period says nothing of grace.
        let decided: [(String, SubscriptionState.Name)] = [
            ("1 0-\(length) @\(end + 1)", .inGrace), ("1 0-\(length) !\(end + 1)", .withdrawn),
            ("2 \(end)-\(end + length)", .active),
        ]
        for (statement, name) in decided {
            everyOrder(periods + [.story(statement)], [grace]) {
                #expect(self.state($0, day: end + 2)?.name == name, "\(statement)")
            }
        }
    }

    @Test("14 A grace period is that of the newer product, also if the upgraded period would have ended later")
    func graceAfterUpgrade() {
        // The period that was left ends, by an extension, while the grace period of its successor runs.
        let periods: [TransactionStatement] = .story("1 basic 0-30; 1 basic 0-64 @5; 2 20-50")
        let (first, second) = ("50 grace78 retry auto1 by2", "65 grace78 retry auto1 by2")
        for known in [first, second, "\(first); \(second)"] {
            everyOrder(periods, .story(known)) { story in
                for day in [51, 63, 64.5, 70, 77.9] { #expect(self.state(story, day: day)?.name == .inGrace, "\(day)") }
                #expect(self.state(story, day: 79)?.name != .inGrace)
                #expect(self.state(story, "basic", day: 70)?.name != .inGrace)
            }
        }
    }

    @Test("18 Sandbox month of five minutes, gap, tolerance")
    func sandboxMonth() {
        let length = 5 * Self.minute
        let second = TransactionStatement.story("2 0+10m-0+15m")
        everyOrder([.story("1 0-0+5m"), second]) { story in
            for isAboutNow in [true, false] {
                #expect(self.state(story, day: 1.5 * length, isAboutNow: isAboutNow)?.name == .expired)
            }
            let early = 2 * length - Self.minute * 0.4
            #expect(self.state(story, day: early)?.name == .active)
            #expect(self.state(story, day: early, isAboutNow: false)?.name == .expired)
            let entitlements = story.entitlements(of: Self.alice)
            for (question, isActive) in [
                (AccessQuestion.now(.day(1.5 * length)), false), (.now(.day(early)), true), (.at(.day(early)), false),
                (.at(.day(2 * length)), true),
            ] {
                let access = entitlements.access(question, refundShortfall: .forgive).first
                #expect(access?.isActive == isActive, "\(question)")
            }
        }
        // A grace period of the first month does not extend a later, longer period.
        let renewal = RenewalStatement.signed("1", stamp: length, grace: 3, isInBillingRetry: true, autoRenew: 1)
        everyOrder(.story("1 0-0+5m; 2 0+5m-0+65m"), [renewal]) {
            #expect($0.denial(Self.alice, "monthly", day: 14 * length) == .newsMissing)
        }
    }

    @Test("18 Stamp equal to the end; auto-renew on signed ten seconds after it: assumed")
    func assumed() {
        let tolerance: Int64 = 86_400_000
        for stamp in [30, 30 + 10.0 / 86_400] {
            everyOrder(.story("1 0-30"), [.signed("1", stamp: stamp, autoRenew: 1, beside: "1")]) {
                let state = self.state($0, day: 30.5, tolerance: tolerance)
                #expect(state?.name == .active && state?.isAssumed == true && state?.until == .day(31))
                #expect(self.state($0, day: 31, tolerance: tolerance)?.reason == .newsMissing)
                #expect(self.state($0, day: 30.5)?.reason == .newsMissing)
            }
        }
        // Half of a short period is the most; off and retried are not assumed.
        let short = 10 * Self.minute
        everyOrder(.story("1 0-0+10m")) {
            #expect(self.state($0, day: short * 1.4, tolerance: tolerance)?.isAssumed == true)
            #expect(self.state($0, day: short * 1.5, tolerance: tolerance)?.reason == .newsMissing)
        }
        for renewal in [
            RenewalStatement.signed("1", stamp: 30, autoRenew: 0, beside: "1"),
            .signed("1", stamp: 30, isInBillingRetry: true, autoRenew: 1, beside: "1"),
        ] {
            everyOrder(.story("1 0-30"), [renewal]) {
                #expect(self.state($0, day: 30.5, tolerance: tolerance)?.isAssumed == false)
            }
        }
    }

    @Test("Each step of a timeline agrees with the table at every time, with the tolerance and without")
    func timelines() throws {
        var random = RandomStatements(seed: 2_026_112_313)
        for _ in 0..<60 {
            var story = PurchaseStory()
            story.claim("1", Self.alice)
            for id in 1...random.pick([1, 2, 3, 4]) {
                let (start, length) = (random.pick([0, 5, 10, 20.0]), random.pick([5, 10, 30.0]))
                let revoked = random.chance(25) ? start + random.pick([1, 6, 12]) : nil
                let isUpgraded = random.chance(15)
                story.statements.append(
                    .signed(
                        "\(id)", random.pick(["monthly", "yearly"]), .autoRenewable, on: start, original: "1",
                        until: start + length, stamp: revoked ?? (isUpgraded ? start + 1 : start), revoked: revoked,
                        isUpgraded: isUpgraded))
                guard random.chance(50) else { continue }
                story.renewals.append(
                    .signed(
                        "1", stamp: start + length, grace: random.maybe([start + length + 4]),
                        isInBillingRetry: random.maybe([true]), autoRenew: random.maybe([0, 1]),
                        beside: ExactText("\(id)")))
            }
            let entitlements = story.entitlements(of: Self.alice)
            let table = SubscriptionTable(story.purchases, renewal: story.renewalFacts.values.first)
            for day in stride(from: -0.5, to: 60, by: 0.5) {
                for (isAboutNow, shift) in [(true, 0), (false, 0), (true, -Self.minute), (false, -Self.minute)] {
                    let moment = Timestamp.day(day + shift)
                    let question = isAboutNow ? AccessQuestion.now(moment) : .at(moment)
                    let found = entitlements.access(question, refundShortfall: .forgive)
                    let states = table.states(question)
                    for product in ["monthly", "yearly"] as [ExactText] {
                        let state = states.first { $0.key.productID == product && $0.key.owner == Self.alice }?.value
                        let access = found.first { $0.productID == product }
                        try #require(
                            access?.isActive ?? false == state?.givesAccess ?? false,
                            "day \(day + shift) \(isAboutNow) \(product): \(story.statements) \(story.renewals)")
                    }
                }
            }
        }
    }
}
