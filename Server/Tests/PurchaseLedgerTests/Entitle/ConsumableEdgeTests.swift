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
