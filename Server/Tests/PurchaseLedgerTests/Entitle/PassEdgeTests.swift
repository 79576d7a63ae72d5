import PurchaseLedger
import PurchaseVerification
import Testing

/// Passes at the edge of a rule. `dev/mutate.py` found that no other test without a database has them.
@Suite("Edges of the rules of passes")
struct PassEdgeTests {
    private static let alice = PurchaseStory.alice

    private static func story(_ statements: [TransactionStatement]) -> PurchaseStory {
        var story = PurchaseStory()
        for statement in statements { story.claim(statement.key.transactionID.string, alice) }
        story.statements = statements
        return story
    }

    @Test("33.3 A pass that is bought at the end of the one before it counts its months from the start of that one")
    func boughtAtTheEnd() {
        // 31 January is day 30 of 2026, 28 February day 58, 28 March day 86, 31 March day 89.
        let passes: [TransactionStatement] = [
            .signed("1", "pass", .nonRenewing, on: 30), .signed("2", "pass", .nonRenewing, on: 58),
        ]
        #expect(Self.story(passes).access(Self.alice, "pass", day: 60)?.until == .day(89))
        // After a gap, they are counted from its own start.
        let later = [passes[0], .signed("2", "pass", .nonRenewing, on: 58 + 1.0 / 1440)]
        #expect(Self.story(later).access(Self.alice, "pass", day: 60)?.until == .day(86 + 1.0 / 1440))
    }

    @Test("33.3 A refund at the end of the units that are left cuts nothing, and later passes do not drift")
    func refundedAtTheEnd() {
        for (day, end) in [(57, 89), (58, 89), (59, 90)] as [(Double, Double)] {
            // Two months from 31 January, of which one is refunded; the other ends on 28 February.
            let story = Self.story([
                .signed("1", "pass", .nonRenewing, on: 30, quantity: 2, stamp: day, revoked: day, percentage: 50_000),
                .signed("2", "pass", .nonRenewing, on: 31),
            ])
            #expect(story.access(Self.alice, "pass", day: 70)?.until == .day(end), "refunded on day \(day)")
        }
    }

    @Test("33.3 Passes of another customer, or of another product, take up no time")
    func passesOfOthers() {
        var story = Self.story([
            .signed("1", "pass", .nonRenewing, on: 0), .signed("2", "pass", .nonRenewing, on: 1),
            .signed("3", "day pass", .nonRenewing, on: 2),
        ])
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

    @Test("33.3 A pass that is bought within five minutes of the end of several before it continues their access")
    func boughtWithinTheTolerance() {
        let minute = 1.0 / 1440
        for (gap, isActive) in [(3, true), (6, false)] as [(Double, Bool)] {
            // Two passes end on 1 March, day 59.
            let story = Self.story([
                .signed("1", "pass", .nonRenewing, on: 0), .signed("2", "pass", .nonRenewing, on: 10),
                .signed("3", "pass", .nonRenewing, on: 59 + gap * minute),
            ])
            let access = story.entitlements(of: Self.alice)
                .access(.at(.day(59 + minute)), refundShortfall: .forgive).first
            #expect(access?.isActive == isActive, "bought \(gap) minutes after the end")
        }
    }

    @Test("33.3 A pass that is refunded until its end, that moment included, is revoked, and later it is expired")
    func refundedAtItsEnd() {
        // A month from 1 January ends on day 31.
        for (day, reason) in [(10, .revoked), (31, .revoked), (32, .expired)] as [(Double, NoAccessReason)] {
            let story = Self.story([.signed("1", "pass", .nonRenewing, on: 0, stamp: day, revoked: day)])
            #expect(
                [day, 40].map { story.denial(Self.alice, "pass", day: $0) } == [reason, reason],
                "refunded on day \(day)")
        }
    }
}
