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
}
