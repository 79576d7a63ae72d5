import PurchaseLedger
import PurchaseVerification
import Testing

/// Subscriptions at the edge of a rule. `dev/mutate.py` found that no other test without a database has them.
@Suite("Edges of the rules of subscriptions")
struct SubscriptionEdgeTests {
    private static let (alice, bob) = (PurchaseStory.alice, PurchaseStory.bob)

    @Test("33.3 A former owner who has a period of their own later is told of its end, not of the other customer")
    func ownPeriodAfterATransfer() throws {
        var story = PurchaseStory()
        story.statements = [
            .signed("1", "monthly", .autoRenewable, on: 0, original: "1", until: 30),
            .signed("2", "monthly", .autoRenewable, on: 60, original: "1", until: 90, token: 1),
        ]
        try story.tokens.assign(.sample(1), to: Self.bob)
        story.claim("1", Self.bob)
        story.claim("1", Self.alice, mayTransfer: true)
        #expect(story.owner("1") == Self.alice && story.owner("2") == Self.bob)
        #expect([10, 40].map { story.denial(Self.bob, "monthly", day: $0) } == [.ownedByAnother, .ownedByAnother])
        #expect(story.isActive(Self.bob, "monthly", day: 70))
        #expect(story.denial(Self.bob, "monthly", day: 95) == .newsMissing)
        // Also if it gave no access, from its start on.
        story.statements.append(
            .signed(
                "2", "monthly", .autoRenewable, on: 60, original: "1", until: 90, token: 1, stamp: 61, revoked: 60))
        #expect([50, 65].map { story.denial(Self.bob, "monthly", day: $0) } == [.ownedByAnother, .revoked])
    }

    @Test("33.3 A period begins five minutes before its start for a question about now, to the millisecond")
    func leadOfAPeriod() {
        var story = PurchaseStory()
        story.statements = [.signed("1", "monthly", .autoRenewable, on: 30, until: 60)]
        story.claim("1", Self.alice)
        let table = SubscriptionTable(story.purchases, renewal: nil)
        let start = Timestamp.day(30).millisecondsSince1970 - 5 * 60_000
        let states = [-1, 0].map { table.states(.now(Timestamp(millisecondsSince1970: start + $0))).values.map(\.name) }
        #expect(states == [[.pending], [.active]])
    }

    @Test("33.3 A renewal inherits the token of the period bought before it, whatever their ids")
    func inheritedByDate() throws {
        var story = PurchaseStory()
        story.statements = [
            .signed("9", "monthly", .autoRenewable, on: 0, original: "9", until: 30, token: 1),
            .signed("2", "monthly", .autoRenewable, on: 30, original: "9", until: 60),
        ]
        try story.tokens.assign(.sample(1), to: Self.alice)
        #expect(story.owner("9") == Self.alice && story.owner("2") == Self.alice)
    }

    @Test("33.3 The timeline of a product begins with its first period, whatever else the subscription had before")
    func firstPeriodOfAProduct() {
        var story = PurchaseStory()
        story.claim("1", Self.alice)
        story.statements = [
            .signed("1", "monthly", .autoRenewable, on: 0, original: "1", until: 30),
            .signed("2", "yearly", .autoRenewable, on: 30, original: "1", until: 395),
        ]
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
        var story = PurchaseStory()
        story.claim("1", Self.alice)
        story.statements = [
            .signed("1", "monthly", .autoRenewable, on: 0, original: "1", until: 30),
            .signed("2", "monthly", .autoRenewable, on: 10, original: "1", until: 40, token: 1),
        ]
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

    @Test("33.3 Periods count from their starts on, also one that outlasts the next")
    func longBeforeShort() {
        var story = PurchaseStory()
        story.claim("1", Self.alice)
        story.statements = [
            .signed("1", "monthly", .autoRenewable, on: 0, original: "1", until: 100),
            .signed("2", "monthly", .autoRenewable, on: 10, original: "1", until: 40),
        ]
        #expect(
            [-1, 5, 20, 50, 101].map { story.isActive(Self.alice, "monthly", day: $0) }
                == [false, true, true, true, false])
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
