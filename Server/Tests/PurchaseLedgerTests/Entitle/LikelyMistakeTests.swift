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

    private static let oldNews = "1 pro 1 !5; 1 pro 1 @6; 1 pro 1 receipt"

    static let rows = [
        StoryRow("1 Reversed, then old news", oldNews, says: "pro 7 active"),
        StoryRow(
            "1 Reversed, then old news, then refunded again", oldNews + "; 1 pro 1 !8", says: "pro 9 revoked, 7 active"),
        StoryRow(
            "2 Receipt against signed data", "1 pro 1 receipt cancelled5; 1 pro 1 @6", says: "pro 10 active"),
        StoryRow(
            "2 Receipt against older signed data", "1 pro 1 receipt cancelled5; 1 pro 1 @4", says: "pro 10 cancelled"),
        StoryRow(
            "5 Upgrade without a flag, then refunded", "1 0-30; 2 yearly 10-375 !12",
            says: "9 active, 15 superseded; yearly 11 active, 15 revoked"),
        StoryRow(
            "5 Refunded early renewal of the same product: the old period runs out", "1 0-30; 2 29-60 !29.5",
            says: "29.9 active, 30 revoked"),
        StoryRow("6 Stale grace", "1 0-7; 2 9-16", "7 grace23", says: "8 in_grace, 10 active, 17 -"),
        // It does not give the second period the grace period of the first.
        StoryRow(
            "6 Renewal info that lags behind the recovery", "1 0-7; 2 9-16", "7 grace23; 9.01 grace23", says: "17 -"),
        StoryRow("6 Before the recovery was known", "1 0-7", "7 grace23; 9.01 grace23", says: "17 in_grace until23"),
        // The recovery continues from the old end, and the second period is shorter than the grace period of the first.
        StoryRow("6 Stale grace, recovered without a gap", "1 0-7; 2 7-14", "7 grace23; 30", says: "13 active, 15 -"),
        StoryRow(
            "6 Stale grace, signed after the recovery", "1 0-7; 2 7-14", "7.5 grace23; 30", says: "13 active, 15 -"),
        // 31 January is day 30, 28 February 58, 31 March 89, 30 April 119: the months do not drift.
        StoryRow("8 Three passes", "1 pass 30; 2 pass 31; 3 pass 32", says: "pass 31 active until119"),
        // The third begins at the refund, on 12 March, and ends on 12 April, day 101.
        StoryRow(
            "8 Middle pass refunded, bought in another order than seen",
            "1 pass 30; 2 pass 31; 3 pass 32; 2 pass 31 !70", says: "pass 100 active until101, 101 expired"),
    ]

    @Test("Each story says what its row says, in every order", arguments: rows)
    func row(_ row: StoryRow) { row.check() }

    @Test("3 Resubscription under another token")
    func resubscription() throws {
        var story = PurchaseStory()
        try story.tokens.assign(.sample(1), to: alice)
        try story.tokens.assign(.sample(2), to: bob)
        story.statements = .story("1 0-30 t1; 2 30-60; 3 90-120 t2; 4 120-150")
        #expect(["1", "2", "3", "4"].map(story.owner) == [alice, alice, bob, bob])
        #expect(story.isActive(bob, "monthly", day: 130))
        #expect(story.denial(alice, "monthly", day: 130) == .expired)
        #expect(story.isActive(alice, "monthly", day: 40))
        story.act(.move(transaction: .sample("1"), from: alice, to: carol))
        #expect(["1", "2", "3", "4"].map(story.owner) == [carol, carol, bob, bob])
        story.statements += .story("5 150-180 t1; 6 180-210 t2")
        #expect(["5", "6"].map(story.owner) == [carol, bob])
    }

    @Test("4 Claim before token", arguments: [false, true])
    func claimBeforeToken(isTokenFirst: Bool) throws {
        var story = PurchaseStory()
        try story.tokens.assign(.sample(3), to: carol)
        story.claim("1", mallory)
        story.use(70, of: "1", mallory, day: 2)
        story.statements = .story("1 coins 1 x100 receipt; 1 coins 1 x100 t3")
        if isTokenFirst { story.statements.reverse() }
        #expect(story.owner("1") == carol)
        #expect(story.balance(carol, day: 3) == 100)
        let left = story.access(mallory, "coins", day: 3)
        #expect(left?.balance == 0 && left?.shortfall == 70 && left?.denial == .ownedByAnother)
    }

    @Test("7 Refund after use", arguments: [false, true])
    func refundAfterUse(isRefundSeenFirst: Bool) {
        var story = PurchaseStory()
        story.claim("1", alice)
        story.claim("2", alice)
        story.use(100, of: "1", alice, day: 2)
        let (refunded, second) = ("1 coins 1 x100 !4", "2 coins 3 x100")
        let news = isRefundSeenFirst ? "\(refunded); \(second)" : "\(second); \(refunded)"
        story.statements = .story("1 coins 1 x100; " + news)
        #expect(story.balance(alice, day: 5, .forgive) == 100)
        #expect(story.balance(alice, day: 5, .debt) == 0)
        #expect(story.access(alice, "coins", day: 5)?.shortfall == 100)
        story.statements.append(.story("1 coins 1 x100 @6"))
        #expect(story.balance(alice, day: 7, .forgive) == 100)
        #expect(story.balance(alice, day: 7, .debt) == 100)
    }
}
