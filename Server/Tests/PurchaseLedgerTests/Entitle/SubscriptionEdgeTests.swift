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
}
