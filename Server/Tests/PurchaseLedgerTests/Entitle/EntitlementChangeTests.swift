import PurchaseLedger
import PurchaseVerification
import Testing

/// Which rows of access change with an original, without a database.
@Suite("Changes of entitlements")
struct EntitlementChangeTests {
    private static let alice = PurchaseStory.alice
    private static let bob = PurchaseStory.bob
    private static let carol = PurchaseStory.carol
    private static let numbers: [ExactText: Int64] = ["coins": 1, "pro": 2, "monthly": 3, "pass": 4, "other": 5]

    /// The story of one original before and after a write.
    private struct Change {
        var before: PurchaseStory?
        var after: PurchaseStory
        var departed: Set<String> = []
        var claimants: Set<CustomerNumber> = []
        var hadLot = false

        var rows: [String] { described(besides: []) }

        func described(besides erased: Set<CustomerNumber>) -> [String] {
            change.rows(besides: erased).map { subject, row in
                let content =
                    switch row {
                    case .access(let timeline, let kind):
                        "\(kind.rawValue) \(timeline.steps.map { $0.reason?.rawValue ?? "access" })"
                    case .note(let reason): "note \(reason.rawValue)"
                    case .absent: "absent"
                    }
                return "\(subject.customer.rawValue) \(subject.product): \(content)"
            }
        }

        var change: EntitlementChange {
            let (former, current) = (before?.facts ?? [:], after.facts)
            func transaction(_ facts: ObservedTransaction) -> ChangedTransaction {
                let known = former[facts.key].flatMap { facts in before.map { state(facts, $0) } }
                return ChangedTransaction(from: known, to: state(facts, after))
            }
            let sorted = current.values.sorted { $0.key.transactionID < $1.key.transactionID }
            var history = ChangedHistory(
                sorted.filter { !departed.contains($0.key.transactionID.string) }.map(transaction))
            history.departed = sorted.filter { departed.contains($0.key.transactionID.string) }.map(transaction)
            let here = after.purchases.filter { purchase in
                !purchase.transactions.contains { departed.contains($0.key.transactionID.string) }
            }
            let access = Dictionary(grouping: here.filter { $0.productID != nil }, by: \.ownership.holder)
                .mapValues { OriginalAccess($0, renewal: nil) }
            return EntitlementChange(history, access, claimants: claimants, hadLot: hadLot)
        }

        private func state(_ facts: ObservedTransaction, _ story: PurchaseStory) -> ChangedTransaction.State {
            ChangedTransaction.State(
                facts, owner: story.owner(facts.key.transactionID.string),
                terms: facts.productID.flatMap { story.terms[$0] },
                product: facts.productID.flatMap { numbers[$0] } ?? 0)
        }
    }

    private static func story(
        _ statements: [TransactionStatement], claimedBy customers: CustomerNumber..., mayTransfer: Bool = false
    ) -> PurchaseStory {
        var story = PurchaseStory()
        story.statements = statements
        for customer in customers { story.claim("1", customer, mayTransfer: mayTransfer) }
        return story
    }

    private static func bought(_ product: ExactText, _ kind: ProductKind, stamp: Double = 0) -> TransactionStatement {
        .signed("1", product, kind, on: 0, original: "1", until: kind == .autoRenewable ? 30 : nil, stamp: stamp)
    }

    @Test("33.1 A purchase gives its owner one row, and nobody else any")
    func bought() {
        let change = Change(after: Self.story([Self.bought("pro", .nonConsumable)], claimedBy: Self.alice))
        #expect(change.rows == ["1 2: non_consumable [\"access\"]"])
        #expect(change.change.unsure == [] && change.change.passes(besides: []) == [])
        #expect(Change(after: Self.story([Self.bought("pro", .nonConsumable)])).rows == [])
    }

    @Test("33.1 A transfer changes the rows of both owners")
    func transferred() {
        let statement = Self.bought("monthly", .autoRenewable)
        let change = Change(
            before: Self.story([statement], claimedBy: Self.alice),
            after: Self.story([statement], claimedBy: Self.alice, Self.bob, mayTransfer: true))
        #expect(
            change.rows == [
                "1 3: auto_renewable [\"owned_by_another\"]", "2 3: auto_renewable [\"access\", \"news_missing\"]",
            ])
        #expect(change.change.unsure == [Self.alice] && change.described(besides: [Self.alice]).first == "1 3: absent")
        // The current owner of an original without erased purchases has a name.
        #expect(change.described(besides: [Self.bob]) == change.rows)
    }

    @Test("33.1 Newer facts delete the rows of those who only claimed it")
    func claimed() {
        let old = Self.story([Self.bought("pro", .nonConsumable)], claimedBy: Self.alice)
        let new = Self.story(
            [Self.bought("pro", .nonConsumable), Self.bought("pro", .nonConsumable, stamp: 5)], claimedBy: Self.alice)
        var change = Change(before: old, after: new, claimants: [Self.alice, Self.bob])
        #expect(change.rows == ["1 2: non_consumable [\"access\"]", "2 2: absent"])
        change.claimants = []
        #expect(change.rows == ["1 2: non_consumable [\"access\"]"])
    }

    @Test("33.1 A lot is a balance of its owner and a note for those who had it")
    func lots() throws {
        let coins = Self.bought("coins", .consumable)
        let bought = Change(after: Self.story([coins], claimedBy: Self.alice))
        #expect(bought.rows == [] && bought.change.lot(besides: [])?.owner == Self.alice)
        var story = Self.story([coins], claimedBy: Self.alice)
        story.act(.move(transaction: .sample("1"), from: Self.alice, to: Self.bob))
        var moved = Change(before: Self.story([coins], claimedBy: Self.alice), after: story)
        #expect(moved.rows == ["2 1: absent", "1 1: note owned_by_another"] && moved.change.unsure == [Self.alice])
        #expect(moved.described(besides: [Self.alice]) == ["2 1: absent"])
        // Back again: the note is gone, and Bob has one.
        var back = story
        back.act(.move(transaction: .sample("1"), from: Self.bob, to: Self.carol))
        moved = Change(before: story, after: back, hadLot: true)
        #expect(moved.rows == ["3 1: absent", "1 1: note owned_by_another", "2 1: note owned_by_another"])
        // What becomes held has no lot, and its former owner no note.
        let held = Change(before: Self.story([coins], claimedBy: Self.alice), after: Self.story([coins]), hadLot: true)
        #expect(held.rows == ["1 1: absent"])
    }

    @Test("33.1 Passes are computed for the owners before and now, and have rows of the original for notes only")
    func passes() {
        let pass = Self.bought("pass", .nonRenewing)
        let bought = Change(after: Self.story([pass], claimedBy: Self.alice))
        #expect(bought.rows == [] && bought.change.passes(besides: []).map(\.customer) == [Self.alice])
        #expect(bought.change.passes(besides: []).map(\.product) == [4])
        var story = Self.story([pass], claimedBy: Self.alice)
        story.act(.move(transaction: .sample("1"), from: Self.alice, to: Self.bob))
        let moved = Change(before: Self.story([pass], claimedBy: Self.alice), after: story)
        #expect(moved.change.passes(besides: [Self.alice]).map(\.customer) == [Self.alice, Self.bob])
        #expect(moved.rows == ["1 4: non_renewing [\"owned_by_another\"]", "2 4: absent"])
    }

    @Test("33.1 A transaction that goes to another original takes its rows along")
    func departed() {
        let story = Self.story([Self.bought("pro", .nonConsumable)], claimedBy: Self.alice)
        let change = Change(before: story, after: story, departed: ["1"], claimants: [Self.bob])
        #expect(change.rows == ["1 2: absent", "2 2: absent"])
    }

    @Test("33.1 Nothing is written for erased customers")
    func erased() {
        // Everything that was bought before an erasure stays claimed, without facts.
        var claimed = TransactionStatement(key: .sample("0"), source: .signedData, stamp: .day(0))
        claimed.originalTransactionID = "1"
        for (product, kind) in [("monthly", ProductKind.autoRenewable), ("coins", .consumable), ("pass", .nonRenewing)]
        {
            let statement = Self.bought(ExactText(product), kind)
            let change = Change(after: Self.story([claimed, statement], claimedBy: Self.alice), hadLot: true)
            #expect(change.change.unsure == [Self.alice], "\(product)")
            let (kept, erased) = (change.change, change.described(besides: [Self.alice]))
            #expect(erased.allSatisfy { $0.hasSuffix("absent") }, "\(product)")
            #expect(kept.lot(besides: [Self.alice]) == nil)
            #expect((kept.lot(besides: []) != nil) == (kind == .consumable))
            #expect(kept.passes(besides: [Self.alice]) == [])
            #expect(kept.passes(besides: []).isEmpty == (kind != .nonRenewing))
        }
    }
}
