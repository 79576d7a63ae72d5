import PurchaseLedger
import PurchaseVerification
import Testing

/// Subscriptions at the edge of a rule. `dev/mutate.py` found that no other test without a database has them.
@Suite("Edges of the rules of subscriptions")
struct SubscriptionEdgeTests {
    private static let (alice, bob) = (PurchaseStory.alice, PurchaseStory.bob)

    @Test("33.3 Periods count from their starts on, also one that outlasts the next")
    func longBeforeShort() {
        StoryRow("", "1 0-100; 2 10-40", says: "-1 -, 5 active, 20 active, 50 active, 101 -").check()
    }

    @Test("33.3 A former owner who has a period of their own later is told of its end, not of the other customer")
    func ownPeriodAfterATransfer() throws {
        var story = PurchaseStory()
        story.statements = .story("1 0-30; 2 60-90 t1")
        try story.tokens.assign(.sample(1), to: Self.bob)
        story.claim("1", Self.bob)
        story.claim("1", Self.alice, mayTransfer: true)
        #expect(story.owner("1") == Self.alice && story.owner("2") == Self.bob)
        #expect([10, 40].map { story.denial(Self.bob, "monthly", day: $0) } == [.ownedByAnother, .ownedByAnother])
        #expect(story.isActive(Self.bob, "monthly", day: 70))
        #expect(story.denial(Self.bob, "monthly", day: 95) == .newsMissing)
        // Also if it gave no access, from its start on.
        story.statements.append(.story("2 60-90 t1 @61 !60"))
        #expect([50, 65].map { story.denial(Self.bob, "monthly", day: $0) } == [.ownedByAnother, .revoked])
    }

    @Test("33.3 A period begins five minutes before its start for a question about now, to the millisecond")
    func leadOfAPeriod() {
        let story = PurchaseStory("1 30-60")
        let table = SubscriptionTable(story.purchases, renewal: nil)
        let start = Timestamp.day(30).millisecondsSince1970 - 5 * 60_000
        let states = [-1, 0].map { table.states(.now(Timestamp(millisecondsSince1970: start + $0))).values.map(\.name) }
        #expect(states == [[.pending], [.active]])
    }

    @Test("33.3 A renewal inherits the token of the period bought before it, whatever their ids")
    func inheritedByDate() throws {
        var story = PurchaseStory()
        story.statements = .story("9 0-30 of9 t1; 2 30-60 of9")
        try story.tokens.assign(.sample(1), to: Self.alice)
        #expect(story.owner("9") == Self.alice && story.owner("2") == Self.alice)
    }

    @Test("33.3 The timeline of a product begins with its first period, whatever else the subscription had before")
    func firstPeriodOfAProduct() {
        let story = PurchaseStory("1 0-30; 2 yearly 30-395")
        let yearly = story.entitlements(of: Self.alice).grounds.first { $0.productID == "yearly" }
        #expect(yearly?.timeline.steps.first?.at == .day(30))
        let before = story.access(Self.alice, "yearly", day: 10)
        #expect(before?.denial == .notStarted && before?.until == nil)
    }

    @Test("33.3 A transaction of seats is an addition if its period has one of the transactions before, besides itself")
    func additionsOfSeats() {
        func bought(_ id: String, on start: Double, _ lineItem: ExactText) -> TransactionStatement {
            var statement = TransactionStatement.signed(
                id, "monthly", .autoRenewable, on: start, original: "1", until: start < 30 ? 30 : 60)
            (statement.lineItemID, statement.seats) = (lineItem, SeatFacts(quantity: 2))
            return statement
        }
        var story = PurchaseStory()
        story.claim("1", Self.alice)
        story.statements = [bought("1", on: 0, "a"), bought("2", on: 10, "a"), bought("3", on: 30, "b")]
        let seats = SubscriptionSeats(story.purchases, of: "monthly")
        func isAddition(_ id: String, to others: [String]) -> Bool {
            seats.isPeriod(of: .sample(id), sharedWith: Set(others.map(TransactionKey.sample)))
        }
        #expect(isAddition("2", to: ["1"]))
        #expect(!isAddition("3", to: ["1", "2"]) && !isAddition("1", to: ["1"]) && !isAddition("2", to: ["3"]))
    }

    @Test("33.3 Where two customers have a period at once, renewal info about that of one is none of the other")
    func renewalInfoOfTwo() throws {
        var story = PurchaseStory("1 0-30; 2 10-40 t1")
        try story.tokens.assign(.sample(1), to: Self.bob)
        story.renewals = [.signed("1", stamp: 11, autoRenew: 0)]
        let table = SubscriptionTable(story.purchases, renewal: story.renewalFacts.values.first)
        let subjects = table.states(.at(.day(15))).keys
        #expect(subjects.count == 2)
        for subject in subjects {
            let renewal = table.renewal(of: subject, .at(.day(15)))
            #expect(renewal?.info.autoRenewStatus == (subject.owner == Self.bob ? 0 : nil))
        }
    }

    /// Two periods at once, each with a token of its own.
    private static func periods(
        _ first: CustomerNumber, _ second: CustomerNumber, ends: [Double], seats: SeatFacts? = nil
    ) throws -> [OwnedPurchase] {
        var story = PurchaseStory()
        for (number, end) in ends.enumerated() {
            var statement = TransactionStatement.signed(
                "\(number + 1)", "monthly", .autoRenewable, on: Double(10 * number), original: "1", until: end,
                token: UInt64(number + 1))
            statement.seats = seats
            story.statements.append(statement)
        }
        try story.tokens.assign(.sample(1), to: first)
        try story.tokens.assign(.sample(2), to: second)
        return story.purchases
    }

    @Test("33.3 The period of another customer inside a longer one counts only while it covers the time")
    func insideTheOther() throws {
        let table = SubscriptionTable(try Self.periods(Self.alice, Self.bob, ends: [100, 40]), renewal: nil)
        let reasons = [Self.alice, Self.bob].map { owner in
            [5, 20, 50].map { day in table.states(.at(.day(day))).first { $0.key.owner == owner }?.value.reason }
        }
        // A period that counted at its end would lack the news of its renewal.
        #expect(reasons == [[nil, nil, nil], [.notStarted, nil, .expired]])
    }

    @Test("33.3 Of seats with equal ends the transaction with the greater number is named, whoever has which")
    func equalSeats() throws {
        for number in Int64(1)...8 {
            let seats = SeatFacts(quantity: 2, invitationManagement: "DEVELOPER")
            let (first, second) = (CustomerNumber(rawValue: number), CustomerNumber(rawValue: 9 - number))
            let purchases = try Self.periods(first, second, ends: [40, 40], seats: seats)
            let steps = SeatGrounds.access(of: purchases, renewal: nil)["monthly"]?.timeline.steps
            #expect(steps?.map(\.transaction) == [.sample("2"), .sample("2")])
        }
    }
}

/// Passes at the edge of a rule. `dev/mutate.py` found that no other test without a database has them.
@Suite("Edges of the rules of passes")
struct PassEdgeTests {
    private static let alice = PurchaseStory.alice

    static let rows = [
        // 31 January is day 30 of 2026, 28 February day 58, 28 March day 86, 31 March day 89.
        StoryRow(
            "33.3 A pass that is bought at the end of the one before it counts its months from the start of that one",
            "1 pass 30; 2 pass 58", says: "pass 60 active until89"),
        StoryRow(
            "33.3 After a gap, they are counted from its own start", "1 pass 30; 2 pass 58+1m",
            says: "pass 60 active until86+1m"),
        // Two months from 31 January, of which one is refunded; the other ends on 28 February.
        StoryRow(
            "33.3 A refund before the end of the units that are left", "1 pass 30 x2 !57 %50000; 2 pass 31",
            says: "pass 70 active until89"),
        StoryRow(
            "33.3 A refund at the end of the units that are left cuts nothing, and later passes do not drift",
            "1 pass 30 x2 !58 %50000; 2 pass 31", says: "pass 70 active until89"),
        StoryRow(
            "33.3 A refund after the end of the units that are left", "1 pass 30 x2 !59 %50000; 2 pass 31",
            says: "pass 70 active until90"),
        // Two passes end on 1 March, day 59.
        StoryRow(
            "33.3 A pass that is bought within five minutes of the end of several before it continues their access",
            "1 pass 0; 2 pass 10; 3 pass 59+3m", says: "pass at 59+1m active"),
        StoryRow(
            "33.3 One that is bought later does not", "1 pass 0; 2 pass 10; 3 pass 59+6m", says: "pass at 59+1m -"),
        // A month from 1 January ends on day 31.
        StoryRow(
            "33.3 A pass that is refunded before its end is revoked", "1 pass 0 !10",
            says: "pass 10 revoked, 40 revoked"),
        StoryRow("33.3 The same at its end", "1 pass 0 !31", says: "pass 31 revoked, 40 revoked"),
        StoryRow("33.3 A pass that is refunded later is expired", "1 pass 0 !32", says: "pass 32 expired, 40 expired"),
    ]

    @Test("Each story says what its row says, in every order", arguments: rows)
    func row(_ row: StoryRow) { row.check() }

    @Test("33.3 Passes of another customer, or of another product, take up no time")
    func passesOfOthers() {
        var story = PurchaseStory("1 pass 0; 2 pass 1")
        story.statements.append(.signed("3", "day pass", .nonRenewing, on: 2))
        story.terms["day pass"] = ProductTerms(kind: .nonRenewing, duration: PassDuration("1d"))
        story.acts = []
        for (id, customer) in [("1", PurchaseStory.bob), ("2", Self.alice), ("3", Self.alice)] {
            story.claim(id, customer)
        }
        // One month from 1 and 2 January, and a day.
        #expect(story.access(PurchaseStory.bob, "pass", day: 5)?.until == .day(31))
        #expect(story.access(Self.alice, "pass", day: 5)?.until == .day(32))
        #expect(story.access(Self.alice, "day pass", day: 2.5)?.until == .day(3))
    }

}

/// Lots at the edge of a rule. `dev/mutate.py` found that no other test without a database has them.
@Suite("Edges of the rules of consumables")
struct ConsumableEdgeTests {
    private static let alice = PurchaseStory.alice

    static let rows = [
        StoryRow(
            "33.3 A cancellation that withdraws no unit is not the reason of an empty balance",
            "1 coins 0 x0 cancelled5", says: "coins 10 consumed"),
        StoryRow("33.3 One that withdraws a unit is", "1 coins 0 cancelled5", says: "coins 10 cancelled"),
        StoryRow(
            "33.3 A purchase whose refund was reversed gives access beside a later one that was refunded",
            "1 pro 0 @6 !5; 2 pro 10 of1; 1 pro 0 @12; 2 pro 10 of1 !15",
            says: "pro 4 active, 7 active, 12 active, 20 active of1"),
        StoryRow(
            "33.3 Of purchases that begin later, the one that begins first is named", "1 pro 20; 2 pro 10",
            says: "pro 0 not_started of2"),
        StoryRow("33.3 The same with the other numbers", "1 pro 10; 2 pro 20", says: "pro 0 not_started of1"),
        StoryRow(
            "33.3 Of equal starts, the smaller number is named", "10 pro 10; 9 pro 10", says: "pro 0 not_started of9"),
    ]

    @Test("Each story says what its row says, in every order", arguments: rows)
    func row(_ row: StoryRow) { row.check() }

    @Test("33.3 A refund is the reason of an empty balance from its time on, to the millisecond")
    func timeOfTheRefund() {
        let story = PurchaseStory("1 coins 0 !5")
        let refund = Timestamp.day(5).millisecondsSince1970
        let access = [-1, 0].map { millisecond in
            story.entitlements(of: Self.alice)
                .access(.at(Timestamp(millisecondsSince1970: refund + millisecond)), refundShortfall: .forgive).first
        }
        #expect(access.map { $0?.balance } == [1, 0] && access.map { $0?.denial } == [nil, .revoked])
    }
}

/// Non-consumables at the edge of a rule. `dev/mutate.py` found that no other test without a database has them.
@Suite("Edges of the rules of non-consumables")
struct NonConsumableEdgeTests {
    private static let alice = PurchaseStory.alice

    /// Bought, refunded, and bought again with the same original.
    private static func boughtAgain() -> PurchaseStory {
        PurchaseStory("1 pro 0 @6 !5; 2 pro 10 of1")
    }

    @Test("33.3 Purchases of a product that the settings do not have are one explanation, which names the last of them")
    func oneExplanation() {
        var story = Self.boughtAgain()
        story.terms["pro"] = nil
        let steps = story.entitlements(of: Self.alice).grounds.flatMap(\.timeline.steps)
        #expect(steps.map(\.reason) == [.productUnknown] && steps.map(\.transaction) == [.sample("2")])
    }

    @Test("33.3 So are three of them")
    func oneExplanationOfThree() {
        var story = Self.boughtAgain()
        story.statements += .story("2 pro 10 of1 !15; 3 pro 20 of1")
        story.terms["pro"] = nil
        let steps = story.entitlements(of: Self.alice).grounds.flatMap(\.timeline.steps)
        #expect(steps.map(\.reason) == [.productUnknown] && steps.map(\.at) == [.day(0)])
        #expect(steps.map(\.transaction) == [.sample("3")])
    }

}
