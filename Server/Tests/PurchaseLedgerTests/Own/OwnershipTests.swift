import PurchaseLedger
import PurchaseVerification
import Testing

@Suite("Ownership")
struct OwnershipTests {
    private let alice = PurchaseStory.alice
    private let bob = PurchaseStory.bob
    private let carol = PurchaseStory.carol
    private let mallory = PurchaseStory.mallory

    private func periods(tokens: [UInt64?]) -> [TransactionStatement] {
        tokens.enumerated().map { place, token in
            .signed(
                "\(place + 1)", "monthly", .autoRenewable, on: Double(place) * 30, original: "1",
                until: Double(place + 1) * 30, token: token)
        }
    }

    private func owners(_ story: PurchaseStory) -> [TransactionKey: TransactionOwner] {
        Ownership(
            OwnershipInput(transactions: Array(story.facts.values), tokens: story.tokens, acts: story.acts)
        ).owners
    }

    @Test("is found by own token, inherited token and first claim, in this order, each with its reason")
    func grounds() throws {
        var story = PurchaseStory()
        story.statements = periods(tokens: [nil, 1, nil, 9])
        #expect(owners(story)[.sample("1")] == TransactionOwner())
        try story.tokens.assign(.sample(1), to: alice)
        story.claim("1", bob)
        story.claim("1", carol)
        let found = owners(story)
        #expect(found[.sample("1")]?.customer == bob)
        #expect(found[.sample("1")]?.ground == .claim(entry: 1))
        // Carol never owned it: Bob was first.
        #expect(found[.sample("1")]?.others == [])
        #expect(found[.sample("2")]?.ground == .ownToken)
        #expect(found[.sample("3")]?.customer == alice)
        #expect(found[.sample("3")]?.ground == .inheritedToken(.sample("2")))
        // The token of the fourth is unknown, so it counts as absent.
        #expect(found[.sample("4")]?.ground == .inheritedToken(.sample("2")))
    }

    @Test("under deny the first claimant keeps the purchase; under move the last one has it")
    func policies() {
        for (mayTransfer, owner) in [(false, alice), (true, bob)] {
            var story = PurchaseStory()
            story.statements = periods(tokens: [nil, nil])
            story.claim("1", alice)
            story.claim("2", bob, mayTransfer: mayTransfer)
            #expect(owners(story).values.allSatisfy { $0.customer == owner })
        }
        #expect(OwnershipAct.mayTransfer(under: .move, kind: .autoRenewable))
        #expect(OwnershipAct.mayTransfer(under: .move, kind: .nonConsumable))
        #expect(!OwnershipAct.mayTransfer(under: .move, kind: .consumable))
        #expect(!OwnershipAct.mayTransfer(under: .move, kind: .nonRenewing))
        #expect(!OwnershipAct.mayTransfer(under: .deny, kind: .autoRenewable))
    }

    @Test("a claim never takes a transaction from the customer of its own token, also under move")
    func tokenBeatsTransfer() throws {
        var story = PurchaseStory()
        story.statements = periods(tokens: [1, nil])
        story.claim("1", mallory, mayTransfer: true)
        #expect(story.owner("1") == mallory)
        try story.tokens.assign(.sample(1), to: alice)
        #expect(story.owner("1") == alice)
        #expect(story.owner("2") == alice)
        // A period that only inherits the token can be restored by another customer; the named customer keeps the
        // others.
        story.claim("2", bob, mayTransfer: true)
        #expect(story.owner("1") == alice)
        #expect(story.owner("2") == bob)
    }

    @Test("an operator's transfer takes the owner's transactions of the original, and held ones")
    func moves() throws {
        var story = PurchaseStory()
        story.statements = periods(tokens: [1, 2, nil])
        story.act(.move(transaction: .sample("3"), from: nil, to: carol))
        #expect(story.owner("3") == carol)
        try story.tokens.assign(.sample(1), to: alice)
        try story.tokens.assign(.sample(2), to: bob)
        #expect(["1", "2", "3"].map(story.owner) == [alice, bob, bob])
        story.act(.move(transaction: .sample("1"), from: alice, to: carol))
        #expect(["1", "2", "3"].map(story.owner) == [carol, bob, bob])
        story.act(.move(transaction: .sample("1"), from: carol, to: alice))
        #expect(story.owner("1") == alice)
        #expect(owners(story)[.sample("1")]?.change == .move(entry: 3))
    }

    @Test("a merge transfers everything, and later acts count for the merged customer")
    func merges() {
        var story = PurchaseStory()
        story.statements = periods(tokens: [nil])
        story.claim("1", alice)
        story.act(.merge(alice, into: bob))
        #expect(story.owner("1") == bob)
        // The operator sees Bob as the owner and transfers Bob's purchases.
        story.act(.move(transaction: .sample("1"), from: bob, to: carol))
        #expect(story.owner("1") == carol)
        // Alice was merged into Bob.
        story.claim("1", alice, mayTransfer: true)
        #expect(story.owner("1") == bob)
    }

    @Test("merges have no cycles, and no customer is merged twice")
    func cycles() throws {
        var merges = CustomerMerges()
        try merges.merge(alice, into: bob)
        try merges.merge(bob, into: carol)
        #expect(merges.resolve(alice) == carol)
        #expect(throws: CustomerMerges.Refusal.sameCustomer) { try merges.merge(carol, into: alice) }
        #expect(throws: CustomerMerges.Refusal.sameCustomer) { try merges.merge(mallory, into: mallory) }
        #expect(throws: CustomerMerges.Refusal.alreadyMerged(into: carol)) { try merges.merge(alice, into: mallory) }
    }

    @Test("a token belongs to one customer forever, and customers keep their earlier tokens")
    func tokens() throws {
        var tokens = TokenAssignments()
        try tokens.assign(.sample(1), to: alice)
        try tokens.assign(.sample(2), to: alice)
        try tokens.assign(.sample(1), to: alice)
        #expect(throws: TokenAssignments.TokenTaken(customer: alice)) { try tokens.assign(.sample(1), to: bob) }
        #expect(tokens.customer(of: .sample(1)) == alice && tokens.customer(of: .sample(2)) == alice)
        #expect(tokens.customer(of: .sample(3)) == nil && tokens.customer(of: nil) == nil)
    }

    @Test("members of a family own their shared copies separately")
    func family() {
        var story = PurchaseStory()
        story.statements = [
            .signed("1", "pro", .nonConsumable, on: 0, original: "1"),
            .signed("2", "pro", .nonConsumable, on: 0, original: "1", isShared: true),
        ]
        story.claim("1", alice)
        story.claim("2", bob)
        #expect(story.owner("1") == alice)
        #expect(story.owner("2") == bob)
    }

    @Test("the latest sixteen former owners of a purchase are named")
    func others() throws {
        var story = PurchaseStory()
        story.statements = periods(tokens: [1])
        for number in Int64(10)..<60 { story.claim("1", CustomerNumber(rawValue: number), mayTransfer: true) }
        #expect(story.owner("1") == CustomerNumber(rawValue: 59))
        #expect(owners(story)[.sample("1")]?.others == (43..<59).map { CustomerNumber(rawValue: $0) })
        try story.tokens.assign(.sample(1), to: alice)
        #expect(owners(story)[.sample("1")]?.others == (44..<60).map { CustomerNumber(rawValue: $0) })
    }
}
