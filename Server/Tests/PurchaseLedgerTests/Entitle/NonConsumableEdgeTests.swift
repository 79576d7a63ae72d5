import PurchaseLedger
import PurchaseVerification
import Testing

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
}
