import Foundation
import PurchaseLedger
import PurchaseVerification
import Testing

/// The independence of order of docs/ledger.md, over random histories: with the acts fixed, every permutation,
/// duplication and split of the evidence gives equal facts, owners and entitlements at every time.
///
/// `ASSAY_RANDOM_HISTORIES` sets the number of histories; `dev/torture.sh histories` runs 10,000.
@Suite("Random histories of evidence")
struct RandomHistoryTests {
    #if DEBUG
        private static let few = 300
    #else
        private static let few = 1000
    #endif
    private static let histories =
        ProcessInfo.processInfo.environment["ASSAY_RANDOM_HISTORIES"].flatMap { Int($0) } ?? few

    @Test("give the same result in every order of the evidence, equal to a direct implementation of the rule")
    func order() throws {
        let seed: UInt64 = 2_026_112_206
        print("random histories: seeds \(seed) to \(seed + UInt64(Self.histories) - 1)")
        var (active, owned) = (0, 0)
        for number in 0..<Self.histories {
            var history = RandomHistory(seed: seed + UInt64(number))
            try history.happen()
            let expected = Outcome(history.story)
            for _ in 0..<2 {
                let found = Outcome(history.reordered())
                try #require(found == expected, "seed \(seed + UInt64(number))")
            }
            try compareWithWords(history.story, "seed \(seed + UInt64(number))")
            active += expected.access.values.flatMap(\.self).count(where: \.isActive)
            owned += expected.owners.count { $0.value != nil }
        }
        // Histories without events would agree as well.
        #expect(active > Self.histories && owned > Self.histories)
    }

    /// Everything that must not depend on the order of the evidence.
    struct Outcome: Equatable {
        let facts: [TransactionKey: [UInt8]]
        let renewals: [RenewalKey: [[UInt8]]]
        var owners: [TransactionKey: CustomerNumber?] = [:]
        var grounds: [CustomerNumber: Set<AccessGround>] = [:]
        var access: [String: [ProductAccess]] = [:]

        init(_ story: PurchaseStory) {
            facts = story.facts.mapValues(\.encoded)
            renewals = story.renewalFacts.mapValues { $0.statements.map(\.encoded) }
            let purchases = story.purchases
            for purchase in purchases {
                for transaction in purchase.transactions { owners[transaction.key] = purchase.owner }
            }
            for customer in RandomHistory.customers {
                let entitlements = CustomerEntitlements(
                    EntitlementInput(
                        customer: customer, purchases: purchases, renewals: story.renewalFacts,
                        consumptions: story.consumptions, grants: story.grants, revocations: story.revocations))
                grounds[customer] = Set(entitlements.grounds)
                for day in RandomHistory.days {
                    access["\(customer.rawValue) \(day)"] = entitlements.access(.now(.day(day)), refundShortfall: .debt)
                }
            }
        }
    }

    /// Compares subscriptions with a direct implementation of the table, at one time after the other.
    private func compareWithWords(_ story: PurchaseStory, _ comment: String) throws {
        let subscriptions = Dictionary(
            grouping: story.purchases.filter { $0.statedKind == .autoRenewable }, by: \.ownership
        ).values.map { WordedSubscription($0, in: story) }
        for customer in RandomHistory.customers {
            let entitlements = story.entitlements(of: customer)
            for day in RandomHistory.days {
                for question in [AccessQuestion.now(.day(day)), .at(.day(day))] {
                    let found = entitlements.access(question, refundShortfall: .forgive)
                    for product in ["monthly", "yearly"] as [ExactText] {
                        let expected = subscriptions.contains { $0.gives(product, to: customer, at: .day(day)) }
                        let access = found.first { $0.productID == product }
                        try #require(
                            access?.isActive ?? false == expected, "\(comment), \(customer), \(product), day \(day)")
                    }
                }
            }
        }
    }
}

/// A possible history: a few originals of each kind, their evidence in the order of its signing, and acts.
struct RandomHistory {
    static let customers = (1...4).map { CustomerNumber(rawValue: $0) }
    /// Away from every start by more than the tolerance, before, within and after.
    static let days = stride(from: 0.25, to: 100, by: 7.0).map { $0 } + [0.26, 31.25, 58.25, 60.25]

    private(set) var story = PurchaseStory()
    private var random: RandomStatements
    private var stamp = 0.0

    init(seed: UInt64) { random = RandomStatements(seed: seed) }

    /// The same history with its evidence in another order, some of it twice.
    mutating func reordered() -> PurchaseStory {
        var reordered = story
        let repeated = story.statements.filter { _ in random.chance(30) }
        reordered.statements = (story.statements + repeated).shuffled(using: &random.generator)
        reordered.renewals = (story.renewals + story.renewals.prefix(1)).shuffled(using: &random.generator)
        return reordered
    }

    mutating func happen() throws {
        for token in 1...4 where random.chance(70) {
            try story.tokens.assign(.sample(UInt64(token)), to: CustomerNumber(rawValue: Int64(token)))
        }
        for original in 1...(random.pick([1, 2, 3])) {
            switch random.pick([0, 0, 1, 2, 3]) {
            case 0: subscribe("\(original)")
            case 1: buy("\(original)", "coins", .consumable)
            case 2: buy("\(original)", "pro", .nonConsumable)
            default: buy("\(original)", "pass", .nonRenewing)
            }
        }
        for _ in 0..<random.pick([0, 1, 3, 5]) { act() }
    }

    private mutating func buy(_ id: String, _ product: ExactText, _ kind: ProductKind) {
        let (day, quantity) = (Double(random.pick([0, 7, 14, 30])), random.pick([1, 3, 10]) as Int64)
        let token: UInt64? = random.maybe([1, 2, 3, 4, 5])
        story.statements.append(.receipt(id, product, kind, on: day, quantity: quantity))
        for _ in 0..<random.pick([0, 1, 3]) {
            news()
            let revoked = random.chance(50) ? stamp : nil
            story.statements.append(
                .signed(
                    id, product, kind, on: day, quantity: quantity, token: token, stamp: stamp, revoked: revoked,
                    percentage: random.maybe([33_333, 66_667, 100_000])))
        }
        if random.chance(30) {
            story.statements.append(
                .receipt(id, product, kind, on: day, quantity: quantity, cancelled: Double(random.pick([20, 40, 60]))))
        }
        if kind == .consumable {
            story.use(random.pick([1, 2]), of: id, random.pick(Self.customers), day: day + 1)
        }
    }

    private mutating func subscribe(_ original: String) {
        var day = Double(random.pick([0, 7]))
        for number in 0..<random.pick([1, 2, 4]) {
            let product: ExactText = random.chance(70) ? "monthly" : "yearly"
            let end = day + (product == "monthly" ? 14 : 42)
            let id = number == 0 ? original : "\(original)0\(number)"
            let token: UInt64? = random.chance(40) ? random.pick([1, 2, 3, 4, 5]) : nil
            for _ in 0..<random.pick([1, 2]) {
                news()
                story.statements.append(
                    .signed(
                        id, product, .autoRenewable, on: day, original: original,
                        until: random.chance(20) ? end + 7 : end, token: token, stamp: max(day, stamp),
                        revoked: random.chance(20) ? max(day, stamp) : nil, isUpgraded: random.chance(15)))
            }
            if random.chance(40) {
                story.statements.append(.receipt(id, product, .autoRenewable, on: day, original: original, until: end))
            }
            if random.chance(30) {
                var copy = TransactionStatement.receipt(
                    id + "99", product, .autoRenewable, on: day + 1, original: original, until: end,
                    cancelled: random.chance(20) ? day + 3 : nil)
                copy.lineItemID = random.chance(50) ? ExactText("line-\(id)") : nil
                story.statements.append(copy)
            }
            if random.chance(40) {
                let isUnknown = random.chance(30)
                story.renewals.append(
                    .signed(
                        original, stamp: end, grace: isUnknown ? nil : end + 10, isInBillingRetry: true,
                        beside: random.chance(80) ? ExactText(id) : nil, isGraceEndUnknown: isUnknown))
            }
            if random.chance(30) {
                story.renewals.append(
                    .signed(original, stamp: random.pick([end + 3, day - 0.5]), autoRenew: 1, beside: ExactText(id)))
            }
            day = random.pick([end, end - 5, end + 5])
        }
    }

    private mutating func news() { stamp = random.pick([stamp, stamp + 5, stamp + 11]) }

    private mutating func act() {
        let id = random.pick(story.statements).key.transactionID.string
        let (customer, other) = (random.pick(Self.customers), random.pick(Self.customers))
        switch random.pick([0, 0, 0, 1, 2]) {
        case 0: story.claim(id, customer, mayTransfer: random.chance(50))
        case 1: story.act(.move(transaction: .sample(id), from: random.maybe(Self.customers), to: other))
        default: story.act(.merge(customer, into: other))
        }
    }
}
