import PurchaseLedger
import PurchaseVerification
import Testing

/// Situations at the edge of a rule. `dev/mutate.py` found that no other test without a database has them.
@Suite("Edges of the rules")
struct RuleEdgeTests {
    private static let alice = PurchaseStory.alice
    private static let minute = 1.0 / 1440

    private static func story(_ statements: [TransactionStatement]) -> PurchaseStory {
        var story = PurchaseStory()
        story.claim("1", alice)
        story.statements = statements
        return story
    }

    private static func period(
        _ id: String, _ product: ExactText = "monthly", on start: Double, until end: Double?, stamp: Double? = nil,
        revoked: Double? = nil, seats: SeatFacts? = nil
    ) -> TransactionStatement {
        var statement = TransactionStatement.signed(
            id, product, .autoRenewable, on: start, original: "1", until: end, stamp: stamp, revoked: revoked)
        statement.seats = seats
        return statement
    }

    private static func table(
        _ story: PurchaseStory, renewal: ObservedRenewal? = nil, status: SignedStatus? = nil
    ) -> SubscriptionTable {
        SubscriptionTable(story.purchases, renewal: renewal, status: status)
    }

    private static let refundedUpgrade = "1 0-30 @10 up; 9 yearly 10-365; 9 yearly 10-365 !20"

    static let rows = [
        StoryRow(
            "33.3 Of two purchases that gave nothing for different reasons, each has its own",
            "1 pro 1 !1; 2 pro 5 of1 cancelled5", says: "pro 3 revoked, 6 cancelled"),
        StoryRow(
            "33.3 A product is superseded if a later one cut a period of it that was in force",
            "1 0-30; 9 yearly 10-365", says: "at 15 superseded"),
        StoryRow(
            "33.3 The same if that is withdrawn later", "1 0-30 !20; 9 yearly 10-365",
            says: "at 15 superseded, at 20 revoked"),
        StoryRow(
            "33.3 Not superseded: what the later product found was over, or withdrawn",
            "1 0-30 !5; 2 6-9; 9 yearly 10-365", says: "at 15 expired"),
        StoryRow(
            "33.3 Of two periods with equal ends, the one that began later counts", "1 0-30; 2 5-30",
            says: "at 10 active until30 of2"),
        StoryRow(
            "33.3 After a refunded upgrade the former product is back by a statement signed after the refund",
            refundedUpgrade + "; 1 0-30 @20+1m", says: "22 active"),
        StoryRow(
            "33.3 It is not back by a statement signed with the refund", refundedUpgrade + "; 1 0-30 @20",
            says: "22 -"),
        StoryRow(
            "33.3 An upgrade that a family shares no longer brings the former product not back",
            "1 0-30 @10 up; 1 0-30 @21; 9 yearly 10-365; 9 yearly 10-365 !20 unshared", says: "22 -"),
        StoryRow(
            "33.3 A cancellation of a receipt counts if it is later than what was signed",
            "1 pro 0 @4; 1 pro 0 cancelled5", says: "pro 10 cancelled"),
        StoryRow(
            "33.3 A cancellation at the time of the signature does not count", "1 pro 0 @5; 1 pro 0 cancelled5",
            says: "pro 10 active"),
        StoryRow(
            "33.3 A cancellation before what was signed does not count", "1 pro 0 @6; 1 pro 0 cancelled5",
            says: "pro 10 active"),
    ]

    @Test("33.3 A period that has ended does not count in place of a withdrawn one without an end")
    func endedBefore() {
        let story = PurchaseStory("1 0-30 !2; 2 5-10; 3 12-? !13")
        let state = Self.table(story).states(.at(.day(20))).values.first
        #expect(state?.reason == .revoked && state?.until == .day(13) && state?.transaction == .sample("3"))
    }

    @Test("Each story says what its row says, in every order", arguments: rows)
    func row(_ row: StoryRow) { row.check() }

    // MARK: Lots

    @Test("33.3 A manual grant of units ends at its end, and is used up before it")
    func grantedUnits() {
        var story = PurchaseStory()
        let grant = HandGrant(
            entry: 7, customer: Self.alice, productID: "coins", environment: .production, kind: .consumable,
            quantity: 3, from: .day(0), until: .day(10))
        story.grants = [grant]
        #expect([9.999, 10].map { ConsumableLot(grant).units(at: .day($0)) } == [3, 0])
        #expect([9.999, 10].map { story.balance(Self.alice, day: $0) } == [3, 0])
        #expect(story.denial(Self.alice, "coins", day: 10) == .expired)
        story.consumptions = [
            ConsumedUnits(
                customer: Self.alice, productID: "coins", environment: .production, date: .day(1),
                takings: [.init(lot: .grant(7), units: 3)])
        ]
        #expect(story.denial(Self.alice, "coins", day: 5) == .consumed)
    }

    @Test("33.3 Units that are bought later are no balance yet, with five minutes of tolerance")
    func laterUnits() throws {
        let story = PurchaseStory("1 coins 10")
        #expect(story.access(PurchaseStory.bob, "coins", day: 11) == nil, "not even an empty balance")
        let days = [9, 10 - 6 * Self.minute, 10 - 4 * Self.minute, 10]
        let lot = try #require(story.purchases.compactMap { ConsumableLot($0) }.first)
        #expect(days.map { lot.units(at: .day($0)) } == [0, 0, 1, 1])
        #expect(days.map { story.balance(Self.alice, day: $0) } == [0, 0, 1, 1])
    }

    @Test("33.3 Units are taken from the oldest purchase first, whatever its id")
    func oldestFirst() throws {
        let story = PurchaseStory("1 coins 5 x2; 2 coins 3 x2")
        let lots = story.purchases.compactMap { ConsumableLot($0) }
        #expect(lots.count == 2)
        for order in [lots, lots.reversed()] {
            let takings = try #require(ConsumableUse.takings(3, from: order.map { ($0, 2) }))
            #expect(takings.map(\.units) == [2, 1] && takings.first?.lot == lots.first { $0.date == .day(3) }?.source)
        }
    }

    // MARK: Seats

    @Test("33.3 Transactions with seats are purchases of their own, and those in force are added up")
    func seats() throws {
        func bought(_ quantity: Int64, by management: ExactText = "DEVELOPER") -> SeatFacts {
            SeatFacts(quantity: quantity, invitationManagement: management)
        }
        var statements = [
            Self.period("1", on: 0, until: 30, seats: bought(5)),
            Self.period("2", on: 10, until: 30, seats: bought(2)),
            Self.period("2", on: 10, until: 30, stamp: 15, revoked: 15, seats: bought(2)),
        ]
        // Additions to a period have its line item.
        for place in statements.indices { statements[place].lineItemID = "line-1" }
        let purchases = Self.story(statements).purchases
        #expect(purchases.count == 2)
        let seats = SubscriptionSeats(purchases, of: "monthly")
        #expect([-1, 1, 10, 14, 15, 29].map { seats.number(.at(.day($0))) } == [nil, 5, 7, 7, 5, 5])
        let access = SeatGrounds.access(of: purchases, renewal: nil)
        #expect(Set(access.keys) == ["monthly"])
        let monthly = try #require(access["monthly"])
        #expect([1, 12, 20, 30].map { monthly.number(.at(.day($0))) } == [5, 7, 5, 0])
        // Members whom Apple invites have transactions, so they claim no seats.
        let byApple = Self.story([Self.period("1", on: 0, until: 30, seats: bought(5, by: "APPLE"))])
        #expect(SeatGrounds.access(of: byApple.purchases, renewal: nil).isEmpty)
    }

    @Test("33.3 The newest statement has the number of seats, also if it is smaller")
    func newestSeats() {
        let (first, second) = (
            Self.period("1", on: 0, until: 30, stamp: 1, seats: SeatFacts(quantity: 9)),
            Self.period("1", on: 0, until: 30, stamp: 2, seats: SeatFacts(quantity: 3))
        )
        for (left, right) in [(first, second), (second, first)] {
            #expect(ObservedTransaction(left).merged(with: right).seats?.quantity == 3)
        }
    }

    @Test("33.3 The seats of a renewal that was charged early count from the end of the period before it")
    func earlyRenewal() {
        let purchases = Self.story([
            Self.period("1", on: 0, until: 30, seats: SeatFacts(quantity: 5)),
            Self.period("2", on: 29.5, until: 60, seats: SeatFacts(quantity: 3)),
        ]).purchases
        let seats = SubscriptionSeats(purchases, of: "monthly")
        #expect([29, 29.7, 30.1].map { seats.number(.at(.day($0))) } == [5, 5, 3])
    }

    @Test("33.3 Of two periods with seats that begin together, the longer one is no early renewal of the shorter one")
    func seatsFromOneTime() {
        let purchases = Self.story([
            Self.period("1", on: 0, until: 0.5, seats: SeatFacts(quantity: 5)),
            Self.period("2", on: 0, until: 30, seats: SeatFacts(quantity: 2)),
        ]).purchases
        let seats = SubscriptionSeats(purchases, of: "monthly")
        #expect([0.1, 1].map { seats.number(.at(.day($0))) } == [2, 2])
    }

    @Test("33.3 The holders of an original are its buyer and each member, once")
    func holders() {
        let copies = ["2", "3", "4"].map { id in
            var statement = Self.period(id, on: 0, until: 30)
            (statement.ownershipType, statement.appTransactionID) = ("FAMILY_SHARED", id == "4" ? "c" : "b")
            return ObservedTransaction(statement)
        }
        let own = ["1", "5"].map { ObservedTransaction(Self.period($0, on: 0, until: 30)) }
        let members = ["b", "c"].map { PurchaseHolder.family(appTransactionID: $0) }
        #expect(Set((own + copies).holders) == Set(members + [.buyer]) && (own + copies).holders.count == 3)
        #expect(Set(copies.holders) == Set(members) && own.holders == [.buyer])
    }

    // MARK: Lengths and reasons

    @Test("33.3 A length that no date can hold ends with the year 9999, and a negative one with the first moment")
    func lengths() {
        let latest = Timestamp(millisecondsSince1970: 253_402_300_799_999)
        #expect(Timestamp.epoch.adding(milliseconds: .max, times: 2) == latest)
        #expect(Timestamp.epoch.adding(milliseconds: .max, times: -2) == Timestamp(millisecondsSince1970: .min))
    }

    // MARK: Subscriptions

    @Test("33.3 Access is assumed for a renewal, unless the customer has not agreed to its price")
    func priceIncrease() {
        for (status, isAssumed) in [(nil, true), (0, false), (1, true)] as [(Int64?, Bool)] {
            var info = RenewalInfo()
            (info.autoRenewStatus, info.priceIncreaseStatus) = (1, status)
            let renewal = RenewalStatement(
                key: RenewalKey(environment: .production, originalTransactionID: "1"), stamp: .day(20), info: info,
                beside: nil)
            let table = Self.table(PurchaseStory("1 0-30"), renewal: ObservedRenewal(renewal))
            let state = table.states(.now(.day(30.01)), tolerance: 3_600_000).values.first
            #expect(state?.givesAccess == isAssumed && state?.isAssumed == isAssumed)
            #expect(isAssumed || state?.reason == .newsMissing)
        }
    }

    @Test("33.3 Access is assumed for now only, until the tolerance or half of the period is over, whichever is first")
    func assumed() throws {
        func read(
            _ ends: [Double], _ question: AccessQuestion, hours: Int64
        ) throws -> ProductAccess {
            let stories = ends.map { Self.story([Self.period("1", on: 0, until: $0)]) }
            let timelines = stories.flatMap { $0.entitlements(of: Self.alice).grounds.map(\.timeline) }
            var access = try #require(stories[0].access(Self.alice, "monthly", day: 40))
            access.read(timelines, question, tolerance: hours * 3_600_000)
            return access
        }
        let hour = 1.0 / 24
        let assumed = try read([30], .now(.day(30.01)), hours: 1)
        #expect(assumed.isAssumed && assumed.denial == nil && assumed.until == .day(30 + hour))
        #expect(try !read([30], .at(.day(30.01)), hours: 1).isAssumed)
        #expect(try !read([30], .now(.day(30 + hour)), hours: 1).isAssumed)
        #expect(try !read([30], .now(.day(30.01)), hours: 0).isAssumed)
        #expect(try read([4], .now(.day(5)), hours: 100).until == .day(6))
        // Of two sources, the one that lasts longer.
        for ends in [[30, 30.02], [30.02, 30]] {
            let longer = try read(ends, .now(.day(30.03)), hours: 1)
            #expect(longer.isAssumed && longer.until == .day(30.02 + hour))
        }
    }

    @Test(
        "33.3 A signed status withdraws the period that counts, if it was signed after its start, unless something else does"
    )
    func withdrawnByStatus() {
        for (statement, stamp, isWithdrawn) in [
            ("1 0-30", 5, true), ("1 0-30", -1, false), ("1 unknown 0-30", 5, false), ("1 0-30 !3", 5, false),
            // It was signed at the start of the period, and after it.
            ("1 0-30", 0, false), ("1 0-30", Self.minute, true),
        ] as [(String, Double, Bool)] {
            let withdrawn = Self.table(PurchaseStory(statement), status: SignedStatus(value: 5, stamp: .day(stamp)))
                .withdrawnByStatus(.at(.day(6)))
            #expect(withdrawn == (isWithdrawn ? [.sample("1")] : []), "\(statement), signed \(stamp)")
        }
    }

    @Test("33.3 A revocation that is lifted when a period begins leaves that period its early start")
    func liftedAtStart() {
        var story = PurchaseStory("1 0-30; 2 30-60")
        let key = OwnershipKey(original: OriginalKey(environment: .production, transactionID: "1"))
        story.revocations = [HandRevocation(target: .purchase(key), from: .day(10), liftedAt: .day(30))]
        #expect(!story.isActive(Self.alice, "monthly", day: 29))
        #expect(story.isActive(Self.alice, "monthly", day: 30 - Self.minute))
        story.revocations = [HandRevocation(target: .purchase(key), from: .day(10), liftedAt: .day(31))]
        #expect(!story.isActive(Self.alice, "monthly", day: 31 - Self.minute))
        #expect(story.isActive(Self.alice, "monthly", day: 31))
    }

    @Test("33.3 Renewal info is about the period that began last, also if the one beside it began at the same time")
    func begunTogether() {
        let renewal = RenewalStatement.signed("1", stamp: 0, autoRenew: 0, beside: "1")
        let story = PurchaseStory("1 0-30; 2 0-31")
        let state = Self.table(story, renewal: ObservedRenewal(renewal)).states(.at(.day(32))).values.first
        #expect(state?.reason == .expired && state?.transaction == .sample("2"))
    }

    @Test("33.3 A period of another customer is named to the former owner from its start on")
    func ownedByAnother() throws {
        var story = PurchaseStory()
        story.statements = .story("1 0-30 t1; 2 40-70")
        try story.tokens.assign(.sample(1), to: PurchaseStory.bob)
        story.claim("2", Self.alice, mayTransfer: true)
        #expect(story.isActive(Self.alice, "monthly", day: 45) && story.isActive(PurchaseStory.bob, "monthly", day: 15))
        #expect(story.denial(PurchaseStory.bob, "monthly", day: 35) != .ownedByAnother)
        #expect(story.denial(PurchaseStory.bob, "monthly", day: 45) == .ownedByAnother)
    }

    @Test("33.3 A change of the consent to a price is a change, and the same consent signed again is none")
    func priceConsent() throws {
        func facts(_ status: Int64?, stamp: Double) -> ObservedRenewal {
            var info = RenewalInfo()
            (info.autoRenewStatus, info.priceIncreaseStatus) = (1, status)
            return ObservedRenewal(
                RenewalStatement(
                    key: RenewalKey(environment: .production, originalTransactionID: "1"), stamp: .day(stamp),
                    info: info, beside: nil))
        }
        for (before, after) in [(nil, 0), (0, 1), (1, nil)] as [(Int64?, Int64?)] {
            let change = RenewalChange(from: facts(before, stamp: 1), to: facts(after, stamp: 2), commitmentOf: nil)
            #expect(change?.changed == [.priceConsent])
            #expect(RenewalChange(from: facts(after, stamp: 2), to: facts(after, stamp: 3), commitmentOf: nil) == nil)
        }
    }

    // MARK: Owners

    @Test("33.3 A claim of a transaction with the claimant's token takes nothing that another customer claimed")
    func claimedBefore() throws {
        var story = PurchaseStory()
        story.statements = .story("1 0-30; 2 30-60 t1")
        try story.tokens.assign(.sample(1), to: Self.alice)
        story.claim("1", PurchaseStory.bob)
        story.claim("2", Self.alice)
        story.claim("1", PurchaseStory.bob)
        #expect(story.owner("1") == PurchaseStory.bob && story.owner("2") == Self.alice)
        let owners = Ownership(
            OwnershipInput(transactions: Array(story.facts.values), tokens: story.tokens, acts: story.acts)
        ).owners
        #expect(owners[.sample("1")]?.ground == .claim(entry: 1))
    }

    @Test("33.3 A transfer to the owner changes nothing")
    func transferToOwner() {
        var story = PurchaseStory("1 pro 0")
        story.act(.move(transaction: .sample("1"), from: Self.alice, to: Self.alice))
        let owner = Ownership(
            OwnershipInput(transactions: Array(story.facts.values), tokens: story.tokens, acts: story.acts)
        ).owners[.sample("1")]
        #expect(owner?.customer == Self.alice && owner?.change == nil && owner?.others == [])
    }
}
