import PurchaseLedger
import PurchaseVerification
import Testing

/// The rows of the state table that are most likely to go wrong, by name. Each holds in every order of arrival.
@Suite("The state of a subscription")
struct SubscriptionTableTests {
    private static let alice = PurchaseStory.alice
    private static let bob = PurchaseStory.bob
    private static let minute = 1.0 / 1440

    private static func period(
        _ id: String, _ product: ExactText = "monthly", on day: Double, until end: Double?, stamp: Double? = nil,
        revoked: Double? = nil, isUpgraded: Bool = false, lineItem: ExactText? = nil
    ) -> TransactionStatement {
        var statement = TransactionStatement.signed(
            id, product, .autoRenewable, on: day, original: "1", until: end, stamp: stamp, revoked: revoked,
            isUpgraded: isUpgraded)
        if let lineItem { statement.lineItemID = lineItem }
        return statement
    }

    /// Calls the body with the story of the statements in every order; of more than five, with rotations of both
    /// directions.
    private func everyOrder(
        _ statements: [TransactionStatement], _ renewals: [RenewalStatement] = [], _ body: (PurchaseStory) -> Void
    ) {
        for statements in Self.orders(statements) {
            for renewals in Self.orders(renewals) {
                var story = PurchaseStory()
                story.claim("1", Self.alice)
                story.statements = statements + statements.prefix(1)
                story.renewals = renewals
                body(story)
            }
        }
    }

    private static func orders<Value>(_ values: [Value]) -> [[Value]] {
        guard values.count > 1 else { return [values] }
        guard values.count <= 5 else {
            return values.indices.flatMap { place in
                let rotated = Array(values[place...] + values[..<place])
                return [rotated, rotated.reversed()]
            }
        }
        return values.indices.flatMap { place in
            var rest = values
            let first = rest.remove(at: place)
            return orders(rest).map { [first] + $0 }
        }
    }

    /// The state of alice's product.
    private func state(
        _ story: PurchaseStory, _ product: ExactText = "monthly", day: Double, isAboutNow: Bool = true,
        status: SignedStatus? = nil, tolerance: Int64 = 0
    ) -> SubscriptionState? {
        let table = SubscriptionTable(story.purchases, renewal: story.renewalFacts.values.first, status: status)
        return table.states(isAboutNow ? .now(.day(day)) : .at(.day(day)), tolerance: tolerance)
            .first { $0.key.productID == product && $0.key.owner == Self.alice }?.value
    }

    @Test("9 Refund seen on a copy, reversal on the original; equal ends, one refunded")
    func copies() {
        let copy = Self.period("9", on: 3, until: 30, stamp: 10, revoked: 10, lineItem: "line-1")
        everyOrder([Self.period("1", on: 0, until: 30), copy, Self.period("1", on: 0, until: 30, stamp: 12)]) {
            #expect($0.isActive(Self.alice, "monthly", day: 20))
        }
        let ends = [Self.period("1", on: 0, until: 30), Self.period("2", on: 5, until: 30, stamp: 9, revoked: 9)]
        everyOrder(ends) { #expect($0.isActive(Self.alice, "monthly", day: 20)) }
        everyOrder(ends + [Self.period("1", on: 0, until: 30, stamp: 11, revoked: 11)]) {
            #expect($0.denial(Self.alice, "monthly", day: 20) == .revoked)
            #expect($0.isActive(Self.alice, "monthly", day: 10))
        }
    }

    @Test("10 Refused under deny, then move")
    func refusedThenMove() {
        var story = PurchaseStory()
        story.statements = [Self.period("1", on: 0, until: 30)]
        story.claim("1", Self.alice)
        story.claim("1", Self.bob)
        #expect(story.isActive(Self.alice, "monthly", day: 5))
        #expect(!story.isActive(Self.bob, "monthly", day: 5))
        story.claim("1", Self.bob, mayTransfer: true)
        #expect(story.isActive(Self.bob, "monthly", day: 5))
        #expect(story.denial(Self.alice, "monthly", day: 5) == .ownedByAnother)
    }

    private static func seats(_ id: String, on day: Double, until end: Double, stamp: Double, revoked: Double? = nil)
        -> TransactionStatement
    {
        var statement = period(id, on: day, until: end, stamp: stamp, revoked: revoked)
        statement.seats = SeatFacts(quantity: 3, additionReason: "SEAT_ADDITION")
        return statement
    }

    @Test("12 Addition of seats refunded; every transaction of the period revoked")
    func seatsRefunded() {
        let statements = [
            Self.seats("1", on: 0, until: 30, stamp: 5), Self.seats("2", on: 5, until: 30, stamp: 5),
            Self.seats("2", on: 5, until: 30, stamp: 8, revoked: 8),
        ]
        everyOrder(statements) { #expect($0.isActive(Self.alice, "monthly", day: 20)) }
        everyOrder(statements + [Self.seats("1", on: 0, until: 30, stamp: 9, revoked: 9)]) {
            #expect($0.denial(Self.alice, "monthly", day: 20) == .revoked)
            #expect($0.isActive(Self.alice, "monthly", day: 8.5))
        }
    }

    @Test("13 EXPIRED lost, then backfilled")
    func expiredLost() {
        let first = Self.period("1", on: 0, until: 30)
        everyOrder([first]) { #expect($0.denial(Self.alice, "monthly", day: 31) == .newsMissing) }
        everyOrder([first], [.signed("1", stamp: 30.1, autoRenew: 0, intent: 1, beside: "1")]) {
            #expect($0.denial(Self.alice, "monthly", day: 31) == .expired)
        }
        everyOrder([first], [.signed("1", stamp: 1, autoRenew: 1, beside: "1")]) {
            #expect($0.denial(Self.alice, "monthly", day: 31) == .newsMissing)
            #expect($0.denial(Self.alice, "monthly", day: 300) == .newsMissing)
        }
    }

    @Test("13 Grace after recovery; retry after 60 days")
    func graceAfterRecovery() {
        let periods = [Self.period("1", on: 0, until: 30), Self.period("2", on: 35, until: 65)]
        let renewals: [RenewalStatement] = [
            .signed("1", stamp: 30, grace: 46, isInBillingRetry: true, autoRenew: 1, beside: "1"),
            .signed("1", stamp: 35, autoRenew: 1, beside: "2"),
            .signed("1", stamp: 65.1, isInBillingRetry: true, autoRenew: 1, beside: "2"),
        ]
        everyOrder(periods, renewals) { story in
            #expect(self.state(story, day: 33)?.name == .inGrace)
            #expect(story.access(Self.alice, "monthly", day: 33)?.isInGrace == true)
            #expect(self.state(story, day: 50)?.name == .active)
            #expect(story.denial(Self.alice, "monthly", day: 66) == .billingRetry)
            #expect(story.denial(Self.alice, "monthly", day: 124.9) == .billingRetry)
            #expect(story.denial(Self.alice, "monthly", day: 125) == .expired)
            #expect(story.access(Self.alice, "monthly", day: 125)?.until == .day(65))
        }
    }

    @Test(
        "A grace period without its end gives access until something newer is signed, and for at most 16 days, 6 of a week",
        arguments: [(length: 30.0, days: 16.0), (7, 6)])
    func graceWithoutEnd(length: Double, days: Double) {
        let periods = [Self.period("1", on: 0, until: length)]
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
        everyOrder(periods + [Self.period("1", on: 0, until: length, stamp: end + 1)], [grace]) {
            #expect(self.state($0, day: end + 2)?.name == .inGrace)
        }
        everyOrder(periods + [Self.period("1", on: 0, until: length, stamp: end + 1, revoked: end + 1)], [grace]) {
            #expect(self.state($0, day: end + 2)?.name == .withdrawn)
        }
        everyOrder(periods + [Self.period("2", on: end, until: end + length)], [grace]) {
            #expect(self.state($0, day: end + 2)?.name == .active)
        }
    }

    @Test("13 An upgrade whose new period comes first")
    func upgradeNewPeriodFirst() {
        everyOrder([
            Self.period("2", "yearly", on: 10, until: 375), Self.period("1", on: 0, until: 30),
            Self.period("1", on: 0, until: 30, stamp: 10.01, isUpgraded: true),
        ]) { story in
            #expect(story.isActive(Self.alice, "yearly", day: 15))
            #expect(story.denial(Self.alice, "monthly", day: 15) == .upgraded)
            #expect(story.isActive(Self.alice, "monthly", day: 9))
        }
        everyOrder([Self.period("2", "yearly", on: 10, until: 375), Self.period("1", on: 0, until: 30)]) { story in
            #expect(story.denial(Self.alice, "monthly", day: 15) == .superseded)
            #expect(story.denial(Self.alice, "monthly", day: 40) == .superseded)
        }
    }

    @Test(
        "14 Refund of an old period during grace; renewal info alone in grace; recovered, asked for a time in the grace"
    )
    func graceOfTheRightPeriod() {
        let periods = [
            Self.period("1", on: 0, until: 30), Self.period("2", on: 30, until: 60),
            Self.period("1", on: 0, until: 30, stamp: 62, revoked: 62),
        ]
        // The notification of the refund has the old transaction beside the renewal info.
        everyOrder(periods, [.signed("1", stamp: 62, grace: 76, isInBillingRetry: true, autoRenew: 1, beside: "1")]) {
            #expect(self.state($0, day: 70)?.name == .inGrace)
        }
        let alone = RenewalStatement.signed("1", stamp: 60, grace: 76, isInBillingRetry: true, autoRenew: 1)
        everyOrder(periods, [alone]) { #expect(self.state($0, day: 70)?.name == .inGrace) }
        everyOrder(
            periods + [Self.period("3", on: 64, until: 94)],
            [alone, .signed("1", stamp: 64, autoRenew: 1, beside: "3")]
        ) { story in
            #expect(self.state(story, day: 62, isAboutNow: false)?.name == .inGrace)
            #expect(self.state(story, day: 70)?.name == .active)
            // The grace period of the second period does not extend the third.
            #expect(story.denial(Self.alice, "monthly", day: 95) == .newsMissing)
        }
    }

    @Test("14 A grace period is that of the newer product, also if the upgraded period would have ended later")
    func graceAfterUpgrade() {
        // The period that was left ends, by an extension, while the grace period of its successor runs.
        let periods = [
            Self.period("1", "basic", on: 0, until: 30), Self.period("1", "basic", on: 0, until: 64, stamp: 5),
            Self.period("2", on: 20, until: 50),
        ]
        let renewals: [RenewalStatement] = [
            .signed("1", stamp: 50, grace: 78, isInBillingRetry: true, autoRenew: 1, beside: "2"),
            .signed("1", stamp: 65, grace: 78, isInBillingRetry: true, autoRenew: 1, beside: "2"),
        ]
        for known in [renewals, [renewals[0]], [renewals[1]]] {
            everyOrder(periods, known) { story in
                for day in [51, 63, 64.5, 70, 77.9] { #expect(self.state(story, day: day)?.name == .inGrace, "\(day)") }
                #expect(self.state(story, day: 79)?.name != .inGrace)
                #expect(self.state(story, "basic", day: 70)?.name != .inGrace)
            }
        }
    }

    @Test("14 The end of a grace period, and a refund after it, do not change the answer for a time in it")
    func pastGrace() {
        let periods = [Self.period("1", on: 0, until: 30), Self.period("2", on: 50, until: 80)]
        let renewals: [RenewalStatement] = [
            .signed("1", stamp: 30.1, grace: 46, isInBillingRetry: true, autoRenew: 1, beside: "1"),
            .signed("1", stamp: 46, isInBillingRetry: true, autoRenew: 1, beside: "1"),
            .signed("1", stamp: 50, autoRenew: 1, beside: "2"), .signed("1", stamp: 60, autoRenew: 1, beside: "1"),
        ]
        everyOrder(periods, renewals) { story in
            for day in [30, 30.05, 35, 45.9] { #expect(self.state(story, day: day)?.name == .inGrace, "\(day)") }
            #expect(self.state(story, day: 47)?.name == .billingRetry)
            #expect(story.isActive(Self.alice, "monthly", day: 51))
        }
    }

    @Test("15 The reversal is delivered before its refund")
    func reversalFirst() {
        everyOrder([
            Self.period("1", on: 0, until: 30), Self.period("1", on: 0, until: 30, stamp: 12),
            Self.period("1", on: 0, until: 30, stamp: 10, revoked: 10),
        ]) { #expect($0.isActive(Self.alice, "monthly", day: 20)) }
    }

    @Test("16 Addition of seats refunded, then grace; the first transaction extended")
    func seatsInGrace() {
        let statements = [
            Self.seats("1", on: 0, until: 30, stamp: 5), Self.seats("2", on: 5, until: 30, stamp: 5),
            Self.seats("2", on: 5, until: 30, stamp: 8, revoked: 8),
        ]
        let grace = RenewalStatement.signed(
            "1", stamp: 30, grace: 46, isInBillingRetry: true, autoRenew: 1, beside: "2")
        everyOrder(statements, [grace]) { #expect(self.state($0, day: 40)?.name == .inGrace) }
        everyOrder(statements + [Self.seats("1", on: 0, until: 44, stamp: 20)]) {
            #expect($0.isActive(Self.alice, "monthly", day: 40))
            #expect($0.denial(Self.alice, "monthly", day: 45) == .newsMissing)
        }
    }

    @Test("17 Signed status 5, then a clean transaction; signed 5 without one")
    func signedStatus() {
        let revoked = SignedStatus(value: 5, stamp: .day(10))
        everyOrder([Self.period("1", on: 0, until: 30)]) { story in
            #expect(self.state(story, day: 20, status: revoked)?.reason == .revoked)
            #expect(self.state(story, day: 9, status: revoked)?.name == .active)
            #expect(self.state(story, day: 20, status: SignedStatus(value: 1, stamp: .day(10)))?.name == .active)
        }
        everyOrder([Self.period("1", on: 0, until: 30), Self.period("1", on: 0, until: 30, stamp: 11)]) {
            #expect(self.state($0, day: 20, status: revoked)?.name == .active)
        }
        // A status from before the period says nothing about it.
        everyOrder([Self.period("1", on: 0, until: 30), Self.period("2", on: 30, until: 60)]) {
            #expect(self.state($0, day: 40, status: revoked)?.name == .active)
        }
        let one = SignedStatus(value: 1, stamp: .day(10))
        #expect(SignedStatus.newer(one, revoked) == revoked && SignedStatus.newer(revoked, one) == revoked)
    }

    @Test("18 Sandbox month of five minutes, gap, tolerance")
    func sandboxMonth() {
        let length = 5 * Self.minute
        let second = Self.period("2", on: 2 * length, until: 3 * length)
        everyOrder([Self.period("1", on: 0, until: length), second]) { story in
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
        everyOrder(
            [Self.period("1", on: 0, until: length), Self.period("2", on: length, until: 13 * length)], [renewal]
        ) {
            #expect($0.denial(Self.alice, "monthly", day: 14 * length) == .newsMissing)
        }
    }

    @Test("18 Stamp equal to the end; auto-renew on signed ten seconds after it: assumed")
    func assumed() {
        let tolerance: Int64 = 86_400_000
        for stamp in [30, 30 + 10.0 / 86_400] {
            everyOrder([Self.period("1", on: 0, until: 30)], [.signed("1", stamp: stamp, autoRenew: 1, beside: "1")]) {
                let state = self.state($0, day: 30.5, tolerance: tolerance)
                #expect(state?.name == .active && state?.isAssumed == true && state?.until == .day(31))
                #expect(self.state($0, day: 31, tolerance: tolerance)?.reason == .newsMissing)
                #expect(self.state($0, day: 30.5)?.reason == .newsMissing)
            }
        }
        // Half of a short period is the most; off and retried are not assumed.
        let short = 10 * Self.minute
        everyOrder([Self.period("1", on: 0, until: short)]) {
            #expect(self.state($0, day: short * 1.4, tolerance: tolerance)?.isAssumed == true)
            #expect(self.state($0, day: short * 1.5, tolerance: tolerance)?.reason == .newsMissing)
        }
        for renewal in [
            RenewalStatement.signed("1", stamp: 30, autoRenew: 0, beside: "1"),
            .signed("1", stamp: 30, isInBillingRetry: true, autoRenew: 1, beside: "1"),
        ] {
            everyOrder([Self.period("1", on: 0, until: 30)], [renewal]) {
                #expect(self.state($0, day: 30.5, tolerance: tolerance)?.isAssumed == false)
            }
        }
    }

    @Test("19 Same product, long and short overlapping: the longer one")
    func longAndShort() {
        everyOrder([Self.period("1", on: 0, until: 60), Self.period("2", on: 30, until: 45)]) { story in
            #expect(self.state(story, day: 40)?.until == .day(60))
            #expect(story.isActive(Self.alice, "monthly", day: 59))
            #expect(story.access(Self.alice, "monthly", day: 50)?.transaction == .sample("1"))
        }
    }

    @Test("20 Upgrade flagged, yearly refunded, monthly signed again without the flag")
    func upgradeTakenBack() {
        let periods = [
            Self.period("1", on: 0, until: 30), Self.period("1", on: 0, until: 30, stamp: 10, isUpgraded: true),
            Self.period("2", "yearly", on: 10, until: 375),
            Self.period("2", "yearly", on: 10, until: 375, stamp: 12, revoked: 12),
        ]
        everyOrder(periods) { story in
            #expect(story.denial(Self.alice, "monthly", day: 15) == .upgraded)
            #expect(story.denial(Self.alice, "yearly", day: 15) == .revoked)
        }
        everyOrder(periods + [Self.period("1", on: 0, until: 30, stamp: 13)]) { story in
            #expect(story.isActive(Self.alice, "monthly", day: 15))
            #expect(story.isActive(Self.alice, "yearly", day: 11))
            #expect(story.denial(Self.alice, "yearly", day: 15) == .revoked)
            #expect(!story.isActive(Self.alice, "monthly", day: 30))
        }
    }

    @Test("20 Two products of one original, the later refunded: nothing active")
    func laterProductRefunded() {
        everyOrder([
            Self.period("1", on: 0, until: 30), Self.period("2", "yearly", on: 10, until: 375),
            Self.period("2", "yearly", on: 10, until: 375, stamp: 12, revoked: 12),
            Self.period("1", on: 0, until: 30, stamp: 13),
        ]) { story in
            #expect(story.denial(Self.alice, "monthly", day: 15) == .superseded)
            #expect(story.denial(Self.alice, "yearly", day: 15) == .revoked)
        }
    }

    @Test("A share that ended is family_revoked, and active again once another copy shows it")
    func familyRevoked() {
        var revoked = Self.period("1", on: 0, until: 30, stamp: 9, revoked: 9)
        revoked.revocation?.type = "FAMILY_REVOKE"
        everyOrder([Self.period("1", on: 0, until: 30), revoked]) {
            #expect($0.denial(Self.alice, "monthly", day: 10) == .familyRevoked)
        }
        everyOrder([revoked, Self.period("2", on: 1, until: 30, stamp: 9, lineItem: "line-1")]) {
            #expect($0.isActive(Self.alice, "monthly", day: 10))
        }
    }

    @Test("A period without an end is unknown, unless another one covers the time")
    func withoutEnd() {
        everyOrder([Self.period("1", on: 0, until: nil)]) {
            #expect(self.state($0, day: 10)?.name == .unknown)
            #expect($0.denial(Self.alice, "monthly", day: 10) == .periodUnknown)
        }
        everyOrder([Self.period("1", on: 0, until: 30), Self.period("2", on: 5, until: nil)]) {
            #expect($0.isActive(Self.alice, "monthly", day: 10))
            #expect($0.denial(Self.alice, "monthly", day: 30) == .periodUnknown)
        }
    }

    @Test("A copy without a line item that was bought after a refund is a purchase of its own")
    func boughtAfterRefund() {
        var (first, second) = (
            Self.period("1", on: 0, until: 30, stamp: 5, revoked: 5), Self.period("2", on: 6, until: 30)
        )
        (first.lineItemID, second.lineItemID) = (nil, nil)
        everyOrder([first, second]) { story in
            #expect(story.purchases.count == 2)
            #expect(story.denial(Self.alice, "monthly", day: 5.5) == .revoked)
            #expect(story.isActive(Self.alice, "monthly", day: 7))
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
                    Self.period(
                        "\(id)", random.pick(["monthly", "yearly"]), on: start, until: start + length,
                        stamp: revoked ?? (isUpgraded ? start + 1 : start), revoked: revoked, isUpgraded: isUpgraded))
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
