import PurchaseLedger
import PurchaseVerification
import Testing

/// Lots at the edge of a rule. `dev/mutate.py` found that no other test without a database has them.
@Suite("Edges of the rules of consumables")
struct ConsumableEdgeTests {
    private static let alice = PurchaseStory.alice

    @Test("33.3 A cancellation that withdraws no unit is not the reason of an empty balance", arguments: [0, 1])
    func cancellationOfNothing(quantity: Int64) {
        var story = PurchaseStory()
        story.claim("1", Self.alice)
        story.statements = [.receipt("1", "coins", .consumable, on: 0, quantity: quantity, cancelled: 5)]
        #expect(story.balance(Self.alice, day: 10) == 0)
        #expect(story.denial(Self.alice, "coins", day: 10) == (quantity == 0 ? .consumed : .cancelled))
    }

    @Test("33.3 A refund is the reason of an empty balance from its time on, to the millisecond")
    func timeOfTheRefund() {
        var story = PurchaseStory()
        story.claim("1", Self.alice)
        story.statements = [.signed("1", "coins", .consumable, on: 0, stamp: 5, revoked: 5)]
        let refund = Timestamp.day(5).millisecondsSince1970
        let access = [-1, 0].map { millisecond in
            story.entitlements(of: Self.alice)
                .access(.at(Timestamp(millisecondsSince1970: refund + millisecond)), refundShortfall: .forgive).first
        }
        #expect(access.map { $0?.balance } == [1, 0])
        #expect(access.map { $0?.denial } == [nil, .revoked])
    }
}

/// Non-consumables at the edge of a rule. `dev/mutate.py` found that no other test without a database has them.
@Suite("Edges of the rules of non-consumables")
struct NonConsumableEdgeTests {
    private static let alice = PurchaseStory.alice

    /// Bought, refunded, and bought again with the same original.
    private static func boughtAgain() -> PurchaseStory {
        var story = PurchaseStory()
        story.claim("1", alice)
        story.statements = [
            .signed("1", "pro", .nonConsumable, on: 0, stamp: 6, revoked: 5),
            .signed("2", "pro", .nonConsumable, on: 10, original: "1"),
        ]
        return story
    }

    @Test("33.3 Purchases of a product that the settings do not have are one explanation, which names the last of them")
    func oneExplanation() {
        var story = Self.boughtAgain()
        story.terms["pro"] = nil
        let steps = story.entitlements(of: Self.alice).grounds.flatMap(\.timeline.steps)
        #expect(steps.map(\.reason) == [.productUnknown])
        #expect(steps.map(\.transaction) == [.sample("2")])
    }

    @Test("33.3 So are three of them")
    func oneExplanationOfThree() {
        var story = Self.boughtAgain()
        story.statements += [
            .signed("2", "pro", .nonConsumable, on: 10, original: "1", stamp: 15, revoked: 15),
            .signed("3", "pro", .nonConsumable, on: 20, original: "1"),
        ]
        story.terms["pro"] = nil
        let steps = story.entitlements(of: Self.alice).grounds.flatMap(\.timeline.steps)
        #expect(steps.map(\.reason) == [.productUnknown])
        #expect(steps.map(\.at) == [.day(0)])
        #expect(steps.map(\.transaction) == [.sample("3")])
    }

    @Test("33.3 A purchase whose refund was reversed gives access beside a later one that was refunded")
    func reversedAndRefunded() {
        var story = Self.boughtAgain()
        story.statements += [
            .signed("1", "pro", .nonConsumable, on: 0, stamp: 12),
            .signed("2", "pro", .nonConsumable, on: 10, original: "1", stamp: 15, revoked: 15),
        ]
        #expect([4, 7, 12, 20].map { story.isActive(Self.alice, "pro", day: $0) } == [true, true, true, true])
        #expect(story.access(Self.alice, "pro", day: 20)?.transaction == .sample("1"))
    }

    @Test(
        "33.3 Of purchases that begin later, the one that begins first is named, and of equal starts the smaller number"
    )
    func laterPurchases() {
        for (first, second, days, named) in [
            ("2", "1", (10, 20), "2"), ("1", "2", (20, 10), "2"), ("10", "9", (10, 10), "9"),
            ("9", "10", (10, 10), "9"),
        ] as [(String, String, (Double, Double), String)] {
            var story = PurchaseStory()
            for id in [first, second] { story.claim(id, Self.alice) }
            story.statements = [
                .signed(first, "pro", .nonConsumable, on: days.0), .signed(second, "pro", .nonConsumable, on: days.1),
            ]
            let access = story.access(Self.alice, "pro", day: 0)
            #expect(access?.denial == .notStarted && access?.transaction == .sample(named))
        }
    }
}
