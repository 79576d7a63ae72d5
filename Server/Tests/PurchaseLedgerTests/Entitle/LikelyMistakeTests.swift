import PurchaseLedger
import PurchaseVerification
import Testing

/// The eight rows of docs/ledger.md that are most likely to go wrong, by name.
@Suite("Likely mistakes")
struct LikelyMistakeTests {
    private let alice = PurchaseStory.alice
    private let bob = PurchaseStory.bob
    private let carol = PurchaseStory.carol
    private let mallory = PurchaseStory.mallory

    @Test("1 Reversed, then old news")
    func reversedThenOldNews() {
        var story = PurchaseStory()
        let revoked = TransactionStatement.signed("1", "pro", .nonConsumable, on: 1, stamp: 5, revoked: 5)
        story.claim("1", alice)
        story.statements = [revoked, .signed("1", "pro", .nonConsumable, on: 1, stamp: 6), revoked]
        story.statements.append(.receipt("1", "pro", .nonConsumable, on: 1))
        #expect(story.isActive(alice, "pro", day: 7))
        story.statements.append(.signed("1", "pro", .nonConsumable, on: 1, stamp: 8, revoked: 8))
        #expect(!story.isActive(alice, "pro", day: 9))
        #expect(story.denial(alice, "pro", day: 9) == .revoked)
        #expect(story.isActive(alice, "pro", day: 7))
    }

    @Test("2 Receipt against signed data", arguments: [(6.0, true), (4.0, false)])
    func receiptAgainstSignedData(stamp: Double, isActive: Bool) {
        var story = PurchaseStory()
        story.claim("1", alice)
        story.statements = [
            .receipt("1", "pro", .nonConsumable, on: 1, cancelled: 5),
            .signed("1", "pro", .nonConsumable, on: 1, stamp: stamp),
        ]
        #expect(story.isActive(alice, "pro", day: 10) == isActive)
        story.statements.reverse()
        #expect(story.isActive(alice, "pro", day: 10) == isActive)
    }

    @Test("3 Resubscription under another token")
    func resubscription() throws {
        var story = PurchaseStory()
        try story.tokens.assign(.sample(1), to: alice)
        try story.tokens.assign(.sample(2), to: bob)
        story.statements = [
            .signed("1", "monthly", .autoRenewable, on: 0, original: "1", until: 30, token: 1),
            .signed("2", "monthly", .autoRenewable, on: 30, original: "1", until: 60),
            .signed("3", "monthly", .autoRenewable, on: 90, original: "1", until: 120, token: 2),
            .signed("4", "monthly", .autoRenewable, on: 120, original: "1", until: 150),
        ]
        #expect(["1", "2", "3", "4"].map(story.owner) == [alice, alice, bob, bob])
        #expect(story.isActive(bob, "monthly", day: 130))
        #expect(story.denial(alice, "monthly", day: 130) == .expired)
        #expect(story.isActive(alice, "monthly", day: 40))
        story.act(.move(transaction: .sample("1"), from: alice, to: carol))
        #expect(["1", "2", "3", "4"].map(story.owner) == [carol, carol, bob, bob])
        story.statements.append(.signed("5", "monthly", .autoRenewable, on: 150, original: "1", until: 180, token: 1))
        story.statements.append(.signed("6", "monthly", .autoRenewable, on: 180, original: "1", until: 210, token: 2))
        #expect(["5", "6"].map(story.owner) == [carol, bob])
    }

    @Test("4 Claim before token", arguments: [false, true])
    func claimBeforeToken(isTokenFirst: Bool) throws {
        var story = PurchaseStory()
        try story.tokens.assign(.sample(3), to: carol)
        story.claim("1", mallory)
        story.use(70, of: "1", mallory, day: 2)
        story.statements = [
            .receipt("1", "coins", .consumable, on: 1, quantity: 100),
            .signed("1", "coins", .consumable, on: 1, quantity: 100, token: 3),
        ]
        if isTokenFirst { story.statements.reverse() }
        #expect(story.owner("1") == carol)
        #expect(story.balance(carol, day: 3) == 100)
        let left = story.access(mallory, "coins", day: 3)
        #expect(left?.balance == 0)
        #expect(left?.shortfall == 70)
        #expect(left?.denial == .ownedByAnother)
    }

    @Test("5 Upgrade without a flag, then refunded")
    func upgradeWithoutFlag() {
        var story = PurchaseStory()
        story.claim("1", alice)
        story.statements = [
            .signed("1", "monthly", .autoRenewable, on: 0, original: "1", until: 30),
            .signed("2", "yearly", .autoRenewable, on: 10, original: "1", until: 375, stamp: 12, revoked: 12),
        ]
        #expect(story.isActive(alice, "monthly", day: 9))
        #expect(story.denial(alice, "monthly", day: 15) == .superseded)
        #expect(story.isActive(alice, "yearly", day: 11))
        #expect(story.denial(alice, "yearly", day: 15) == .revoked)
        // A refunded early renewal of the same product: the old period runs out.
        story.statements[1] = .signed(
            "2", "monthly", .autoRenewable, on: 29, original: "1", until: 60, stamp: 29.5, revoked: 29.5)
        #expect(story.isActive(alice, "monthly", day: 29.9))
        #expect(story.denial(alice, "monthly", day: 30) == .revoked)
    }

    @Test("6 Stale grace")
    func staleGrace() {
        var story = PurchaseStory()
        story.claim("1", alice)
        story.statements = [
            .signed("1", "monthly", .autoRenewable, on: 0, original: "1", until: 7),
            .signed("2", "monthly", .autoRenewable, on: 9, original: "1", until: 16),
        ]
        story.renewals = [.signed("1", stamp: 7, grace: 23)]
        #expect(story.isActive(alice, "monthly", day: 8))
        #expect(story.isActive(alice, "monthly", day: 10))
        #expect(!story.isActive(alice, "monthly", day: 17))
        // Renewal info that lags behind the recovery does not give the second period the grace period of the first.
        story.renewals.append(.signed("1", stamp: 9.01, grace: 23))
        #expect(!story.isActive(alice, "monthly", day: 17))
        // Before the recovery was known, the grace period counted.
        story.statements.removeLast()
        #expect(story.isActive(alice, "monthly", day: 17))
        #expect(story.access(alice, "monthly", day: 17)?.until == .day(23))
    }

    @Test("6 Stale grace, recovered without a gap", arguments: [7, 7.5])
    func staleGraceWithoutGap(firstStamp: Double) {
        var story = PurchaseStory()
        story.claim("1", alice)
        // The recovery continues from the old end, and the second period is shorter than the grace period of the first.
        story.statements = [
            .signed("1", "monthly", .autoRenewable, on: 0, original: "1", until: 7),
            .signed("2", "monthly", .autoRenewable, on: 7, original: "1", until: 14),
        ]
        story.renewals = [.signed("1", stamp: firstStamp, grace: 23), .signed("1", stamp: 30)]
        #expect(story.isActive(alice, "monthly", day: 13))
        #expect(!story.isActive(alice, "monthly", day: 15))
    }

    @Test("7 Refund after use", arguments: [false, true])
    func refundAfterUse(isRefundSeenFirst: Bool) {
        var story = PurchaseStory()
        story.claim("1", alice)
        story.claim("2", alice)
        story.use(100, of: "1", alice, day: 2)
        let bought = TransactionStatement.signed("1", "coins", .consumable, on: 1, quantity: 100)
        let refunded = TransactionStatement.signed(
            "1", "coins", .consumable, on: 1, quantity: 100, stamp: 4, revoked: 4)
        let second = TransactionStatement.signed("2", "coins", .consumable, on: 3, quantity: 100)
        story.statements = isRefundSeenFirst ? [bought, refunded, second] : [bought, second, refunded]
        #expect(story.balance(alice, day: 5, .forgive) == 100)
        #expect(story.balance(alice, day: 5, .debt) == 0)
        #expect(story.access(alice, "coins", day: 5)?.shortfall == 100)
        story.statements.append(.signed("1", "coins", .consumable, on: 1, quantity: 100, stamp: 6))
        #expect(story.balance(alice, day: 7, .forgive) == 100)
        #expect(story.balance(alice, day: 7, .debt) == 100)
    }

    @Test("8 Middle pass refunded, bought in another order than seen")
    func middlePassRefunded() {
        // 31 January is day 30 of 2026.
        let passes: [TransactionStatement] = [
            .signed("1", "pass", .nonRenewing, on: 30), .signed("2", "pass", .nonRenewing, on: 31),
            .signed("3", "pass", .nonRenewing, on: 32),
        ]
        let refund = TransactionStatement.signed("2", "pass", .nonRenewing, on: 31, stamp: 70, revoked: 70)
        for order in [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]] {
            var story = PurchaseStory()
            for id in ["1", "2", "3"] { story.claim(id, alice) }
            story.statements = order.map { passes[$0] }
            // 28 February is day 58, 31 March 89, 30 April 119: the months do not drift.
            #expect(story.access(alice, "pass", day: 31)?.until == .day(119))
            story.statements.append(refund)
            // The third begins at the refund, on 12 March, and ends on 12 April, day 101.
            #expect(story.access(alice, "pass", day: 100)?.until == .day(101))
            #expect(story.denial(alice, "pass", day: 101) == .expired)
        }
    }
}
