import Foundation
import PurchaseLedger
import PurchaseVerification
import TestSupport
import Testing

@Suite("Access")
struct AccessTests {
    private let alice = PurchaseStory.alice
    private let bob = PurchaseStory.bob

    @Test("a held purchase gives nothing to any customer")
    func held() {
        var story = PurchaseStory()
        story.statements = .story("1 pro 0")
        #expect(story.entitlements(of: alice).access(.now(.day(1)), refundShortfall: .forgive).isEmpty)
        #expect(story.owner("1") == nil)
    }

    @Test("a product that is not registered, or registered as another kind, gives nothing until the settings agree")
    func settings() {
        var story = PurchaseStory("1 0-30; 2 coins 0 x5")
        let right = story.terms
        story.terms["monthly"] = ProductTerms(kind: .nonConsumable)
        story.terms["coins"] = ProductTerms(kind: .nonConsumable)
        #expect(story.denial(alice, "monthly", day: 1) == .productKindMismatch)
        #expect(story.denial(alice, "coins", day: 1) == .productKindMismatch)
        #expect(story.balance(alice, day: 1) == 0)
        story.terms = [:]
        #expect(story.denial(alice, "monthly", day: 1) == .productUnknown)
        #expect(story.denial(alice, "coins", day: 1) == .productUnknown)
        story.terms = right
        #expect(story.isActive(alice, "monthly", day: 1))
        #expect(story.balance(alice, day: 1) == 5)
    }

    @Test("a manual revocation overrides Apple until it is lifted", arguments: ["pro", "monthly", "pass", "coins"])
    func revokedByHand(product: ExactText) throws {
        var story = PurchaseStory()
        let kind = try #require(story.terms[product]?.kind)
        story.claim("1", alice)
        story.statements = [
            .signed("1", product, kind, on: 0, original: "1", until: kind == .autoRenewable ? 30 : nil)
        ]
        let purchase = OwnershipKey(original: OriginalKey(environment: .production, transactionID: "1"))
        story.revocations = [HandRevocation(target: .purchase(purchase), from: .day(5))]
        #expect(story.isActive(alice, product, day: 4))
        #expect(story.denial(alice, product, day: 6) == .revokedByHand)
        story.revocations[0].liftedAt = .day(8)
        #expect(story.denial(alice, product, day: 7) == .revokedByHand)
        #expect(story.isActive(alice, product, day: 9))
    }

    @Test("a manual grant is a separate ground, and ends or is revoked independently")
    func grants() {
        var story = PurchaseStory()
        story.grants = [
            HandGrant(
                entry: 7, customer: alice, productID: "pro", environment: .production, kind: .nonConsumable,
                from: .day(1), until: .day(9)),
            HandGrant(
                entry: 8, customer: alice, productID: "coins", environment: .production, kind: .consumable,
                quantity: 50, from: .day(1)),
        ]
        #expect(story.isActive(alice, "pro", day: 2))
        #expect(story.denial(alice, "pro", day: 9) == .expired)
        #expect(story.balance(alice, day: 2) == 50)
        #expect(story.access(bob, "pro", day: 2) == nil)
        story.revocations = [
            HandRevocation(target: .grant(7), from: .day(3)), HandRevocation(target: .grant(8), from: .day(3)),
        ]
        #expect(story.denial(alice, "pro", day: 4) == .revokedByHand)
        #expect(story.denial(alice, "coins", day: 4) == .revokedByHand)
    }

    @Test("a use takes from the oldest lot first, and never more than is left")
    func use() throws {
        let story = PurchaseStory("9 coins 1 x10; 10 coins 1 x10")
        let lots = story.entitlements(of: alice).lots.map { (lot: $0, remaining: $0.units(at: nil)) }
        let takings = try #require(ConsumableUse.takings(15, from: lots))
        #expect(takings.map(\.units) == [10, 5])
        #expect(takings.first?.lot == lots.first { $0.lot.transaction == .sample("9") }?.lot.source)
        #expect(ConsumableUse.takings(21, from: lots) == nil && ConsumableUse.takings(20, from: lots) != nil)
        #expect(ConsumableUse.takings(0, from: lots) == nil)
    }

    @Test("a named entitlement is active once, from whichever product gives it, until the latest end")
    func named() {
        let story = PurchaseStory("1 0-30; 2 pass 0")
        func named(_ day: Double) -> [NamedAccess] {
            let products = story.entitlements(of: alice).access(.now(.day(day)), refundShortfall: .forgive).map {
                NamedEntitlements.Product(productID: $0.productID, isActive: $0.isActive, until: $0.until)
            }
            return NamedEntitlements.named(products) { _ in ["pro"] }
        }
        #expect(named(5) == [NamedAccess(name: "pro", isActive: true, until: .day(31), products: ["monthly", "pass"])])
        #expect(named(30.5).first?.products == ["pass"])
        #expect(named(40) == [NamedAccess(name: "pro", isActive: false, until: nil, products: [])])
    }

    @Test(
        "durations are read only in the format of the settings",
        arguments: [
            ("90s", "90s"), ("15m", "15m"), ("24h", "1d"), ("30d", "30d"), ("1mo", "1mo"), ("12mo", "1y"), ("1y", "1y"),
            ("", nil), ("0d", nil), ("d", nil), ("-1d", nil), ("1", nil), ("1 d", nil), ("1year", nil), ("101y", nil),
            ("1201mo", nil), ("99999999999d", nil), ("1mox", nil), ("１d", nil),
        ] as [(String, String?)])
    func durations(text: String, expected: String?) {
        #expect(PassDuration(text)?.description == expected)
    }

    @Test("passes add up, also in fixed time, and a partial refund takes its units from the end")
    func passes() {
        var story = PurchaseStory("1 pass 0 x3; 2 pass 5")
        story.terms["pass"] = ProductTerms(kind: .nonRenewing, duration: PassDuration("10d"))
        #expect(story.access(alice, "pass", day: 1)?.until == .day(40))
        story.statements.append(.story("1 pass 0 x3 !6 %33333"))
        #expect(story.access(alice, "pass", day: 1)?.until == .day(30))
        // The time before the refund stays used.
        story.statements.append(.story("1 pass 0 x3 !25 %66667"))
        #expect(story.isActive(alice, "pass", day: 24))
        #expect(story.access(alice, "pass", day: 26)?.until == .day(35))
    }

    @Test("months are counted in the calendar, and stay within the year 9999")
    func months() {
        var story = PurchaseStory("1 pass 30")
        for (quantity, end) in [(1, 58.0), (2, 89), (12, 395), (13, 423), (25, 789)] as [(Int64, Double)] {
            story.statements = .story("1 pass 30 x\(quantity)")
            #expect(story.access(alice, "pass", day: 31)?.until == .day(end))
        }
        story.statements = .story("1 pass 30 x1000000000")
        #expect(story.access(alice, "pass", day: 31)?.until == Timestamp("9999-12-31T23:59:59.999Z"))
    }

    @Test("units used from a lot that is no longer in the input are a shortfall")
    func foreignLot() {
        var story = PurchaseStory()
        story.use(5, of: "1", alice, day: 1)
        #expect(story.access(alice, "coins", day: 0.5) == nil)
        #expect(story.access(alice, "coins", day: 2)?.shortfall == 5)
        #expect(story.balance(alice, day: 2) == 0)
        #expect(story.entitlements(of: bob).balances().isEmpty)
    }

    @Test("the stored sums are the current balance")
    func sums() {
        var story = PurchaseStory()
        for number in 1...50 {
            story.claim("\(number)", alice)
            story.statements.append(
                .signed(
                    "\(number)", "coins", .consumable, on: Double(number), quantity: 10, stamp: 60,
                    revoked: number % 3 == 0 ? 60 : nil, percentage: number % 2 == 0 ? 50_000 : nil))
            story.use(Int64(number % 11), of: "\(number)", alice, day: Double(number))
        }
        let entitlements = story.entitlements(of: alice)
        #expect(entitlements.balances() == entitlements.balances(at: .day(100)))
        #expect(entitlements.balances().values.first?.remaining != 0)
        #expect(entitlements.balances().values.first?.shortfall != 0)
    }

    @Test("every reason is explained in docs/ledger.md")
    func documentation() throws {
        let text = try String(contentsOf: Corpus.projectFolder.appending(path: "docs/ledger.md"), encoding: .utf8)
        for reason in NoAccessReason.allCases {
            #expect(text.contains("| `\(reason.rawValue)` |"), "\(reason.rawValue)")
        }
    }
}
