import PurchaseLedger
import PurchaseVerification
import Testing

@Suite("The order of a claim")
struct ClaimOrderTests {
    private typealias Case = ClaimRefusalTests.Case

    private static func expect(_ cases: [Case]) throws {
        for (number, item) in cases.enumerated() {
            let verdict = try item.story.decided().verdict
            #expect(verdict.refusal.map(ClaimStory.text) == item.refusal, "case \(number + 1)")
            #expect(verdict.pays == (item.refusal == nil && !item.story.purchase.hasPaidOrder), "case \(number + 1)")
        }
    }

    /// A non-consumable for an order of it.
    private static func pro(_ id: String = "1", original: String? = nil) -> ClaimStory {
        var story = ClaimStory("pro", .nonConsumable)
        story.proven = ObservedTransaction(.signed(id, "pro", .nonConsumable, on: 1, original: original))
        story.purchase.facts = story.proven
        (story.order.productID, story.role) = ("pro", .ofClaim)
        return story
    }

    @Test("33.3 An order is paid by what it asks for, once")
    func terms() throws {
        var cases: [Case] = [
            Case(nil) { _ in },
            Case("product_mismatch, gems, coins") { $0.order.productID = "gems" },
            Case("quantity_mismatch, 2, 1") { $0.order.quantity = 2 },
            Case("order_environment_mismatch, Sandbox, Production") { $0.order.environments = [.sandbox] },
            Case("order_environment_mismatch, a purchase that counts for the customer (sandbox_access), Production") {
                $0.order.environments = []
            },
            Case(nil) { $0.order.environments = [.sandbox, .production] },
            Case("order_cancelled, -, -") { $0.order.status = .cancelled },
            Case("order_refunded, -, -") { $0.order.status = .refunded },
            Case(nil) { $0.order.status = .expired },
            Case("already_claimed, -, another_order") { $0.purchase.hasPaidAnotherOrder = true },
            // A copy pays as the purchase of which it is a copy.
            Case(nil, Self.pro("2", original: "1")) { $0.purchase.earliest = Self.pro().proven },
            Case(
                "purchase_outside_order, a purchase from \(Timestamp.day(1.5)) to \(Timestamp.day(2)), \(Timestamp.day(1))"
            ) {
                $0.purchase.facts = ClaimStory.facts { $0.purchaseDate = .day(1.75) }
                ($0.purchase.earliest, $0.order.createdAt) = (ClaimStory.facts(), .day(1.5))
            },
            Case("already_claimed, -, another_order", Self.pro("2", original: "1")) {
                ($0.purchase.earliest, $0.purchase.hasPaidAnotherOrder) = (Self.pro().proven, true)
            },
        ]
        for status in [OrderStatus.paid, .fulfilled, .closed] {
            cases.append(Case("order_already_paid, -, -") { $0.order.status = status })
            // What was paid stays paid, whatever became known since.
            cases.append(
                Case(nil) {
                    ($0.order.status, $0.purchase.hasPaidOrder) = (status, true)
                    ($0.purchase.hasPaidAnotherOrder, $0.order.expiresAt) = (true, .day(0.5))
                })
            cases.append(
                Case(nil, Self.pro("2", original: "1")) {
                    ($0.order.status, $0.purchase.hasPaidOrder, $0.purchase.earliest) = (
                        status, true, Self.pro().proven
                    )
                })
        }
        try Self.expect(cases)
    }

    @Test("33.3 Only what the customer paid for pays an order")
    func paid() throws {
        try Self.expect([
            Case("purchase_not_paid, -, -") {
                $0.purchase.facts = ClaimStory.facts { $0.ownershipType = "FAMILY_SHARED" }
            },
            Case("purchase_not_paid, -, -", Self.pro("2", original: "1")) { _ in },
            Case(nil, Self.pro("2", original: "1")) { $0.purchase.isRepurchase = true },
            Case(nil, Self.pro()) { _ in },
            Case(nil, ClaimStory("monthly", .autoRenewable, until: 30)) {
                $0.proven = ObservedTransaction(
                    .signed("2", "monthly", .autoRenewable, on: 1, original: "1", until: 30))
                $0.purchase.facts = $0.proven
                ($0.order.productID, $0.role) = ("monthly", .ofClaim)
            },
        ])
    }

    @Test("33.3 An order is paid by a purchase from five minutes before its start until its end")
    func life() throws {
        func bought(_ date: Timestamp?, isRefused: Bool) -> Case {
            let refusal =
                "purchase_outside_order, a purchase from \(Timestamp.day(0)) to \(Timestamp.day(2)), "
                + (date.map { "\($0)" } ?? "-")
            return Case(isRefused ? refusal : nil) {
                let facts = ClaimStory.facts { $0.purchaseDate = date }
                ($0.proven, $0.purchase.facts) = (facts, facts)
            }
        }
        func milliseconds(_ count: Int64, after date: Timestamp) -> Timestamp {
            Timestamp(millisecondsSince1970: date.millisecondsSince1970 + count)
        }
        try Self.expect([
            bought(milliseconds(-300_000, after: .day(0)), isRefused: false),
            bought(milliseconds(-300_001, after: .day(0)), isRefused: true),
            bought(milliseconds(-1, after: .day(2)), isRefused: false),
            bought(.day(2), isRefused: true), bought(nil, isRefused: true),
        ])
    }

    @Test("33.3 The order of a claim, of a row and none ask for access and pay as docs/ledger.md says")
    func roles() throws {
        // A period that is over pays an order, and gives no access.
        var story = ClaimStory("monthly", .autoRenewable, until: 3)
        story.order.productID = "monthly"
        var (verdict, needs) = try story.decided()
        #expect(verdict.refusal?.code == "subscription_expired" && verdict.hasPurchase && !verdict.pays)
        #expect(verdict.orderRefusal == nil && needs == [.owner, .purchase])
        story.role = .ofClaim
        (verdict, needs) = try story.decided()
        #expect(verdict == ClaimVerdict(hasPurchase: true, pays: true) && needs == [.owner, .purchase, .order])
        story.role = .ofRow
        (verdict, needs) = try story.decided()
        #expect(verdict.refusal?.code == "subscription_expired" && verdict.orderRefusal == nil)
        #expect(verdict.hasPurchase && verdict.pays && needs == [.owner, .purchase, .order])
    }

    @Test("33.3 The order of a row is refused beside its purchase, that of a claim with it")
    func rows() throws {
        func verdict(_ role: ClaimStep.OrderRole, _ change: (inout ClaimStory) -> Void) throws -> ClaimVerdict {
            var story = ClaimStory()
            story.role = role
            change(&story)
            return try story.decided().verdict
        }
        // Another order paid: the customer has the purchase all the same.
        let wrongOrder = try verdict(.ofRow) { $0.order.quantity = 2 }
        #expect(wrongOrder.refusal == nil && wrongOrder.orderRefusal?.code == "quantity_mismatch")
        #expect(wrongOrder.hasPurchase && !wrongOrder.pays)
        let wrongClaim = try verdict(.ofClaim) { $0.order.quantity = 2 }
        #expect(wrongClaim.refusal?.code == "quantity_mismatch" && wrongClaim.orderRefusal == nil)
        #expect(wrongClaim.hasPurchase && !wrongClaim.pays)
        #expect(wrongClaim.refusal?.disposition(hasPurchase: true) == .granted, "only the order is refused")
        // A withdrawal refuses both.
        let withdrawn = try verdict(.ofRow) { $0.purchase.isRevokedByHand = true }
        #expect(withdrawn.refusal?.code == "purchase_withdrawn" && withdrawn.orderRefusal == withdrawn.refusal)
        #expect(!withdrawn.hasPurchase && !withdrawn.pays)
        let claimed = try verdict(.ofClaim) { $0.purchase.isRevokedByHand = true }
        #expect(claimed.refusal?.code == "purchase_withdrawn" && claimed.orderRefusal == nil && !claimed.pays)
        // An order that this purchase paid before stays paid.
        let paid = try verdict(.ofRow) {
            ($0.order.status, $0.purchase.hasPaidOrder, $0.purchase.isRevokedByHand) = (.paid, true, true)
        }
        #expect(paid.refusal?.code == "purchase_withdrawn" && paid.orderRefusal == nil && !paid.pays)
        // A refusal before the order is that of both.
        let foreign = try verdict(.ofRow) { $0.owner = 2 }
        #expect(foreign.refusal?.code == "already_claimed" && foreign.orderRefusal == foreign.refusal)
        #expect(try verdict(.ofClaim) { $0.owner = 2 }.orderRefusal == nil)
        #expect(try verdict(.none) { $0.owner = 2 }.orderRefusal == nil)
    }

    @Test("33.3 A claim without an order pays the order of its product, unless it is an automatic renewal")
    func unnamed() {
        var (terms, story) = (ClaimStory().order, ClaimStory())
        #expect(terms.isPaidUnnamed(by: story.purchase, isRenewal: false))
        #expect(!terms.isPaidUnnamed(by: story.purchase, isRenewal: true))
        terms.acceptsRenewal = true
        #expect(terms.isPaidUnnamed(by: story.purchase, isRenewal: true))
        #expect(terms.isPaidUnnamed(by: story.purchase, isRenewal: false))
        story.purchase.hasPaidAnotherOrder = true
        #expect(!terms.isPaidUnnamed(by: story.purchase, isRenewal: false))
    }

    @Test(
        "33.3 A period after an earlier one of its product is an automatic renewal, unless signed data says otherwise")
    func renewals() {
        func period(
            _ id: String, _ product: ExactText = "monthly", on start: Double, until end: Double?, reason: String? = nil
        ) -> ObservedTransaction {
            var statement = TransactionStatement.receipt(
                id, product, .autoRenewable, on: start, original: "1", until: end)
            statement.reason = reason.map { ExactText($0) }
            return ObservedTransaction(statement)
        }
        let second = period("2", on: 31, until: 61)
        func isRenewal(
            _ facts: ObservedTransaction = second, _ kind: ProductKind = .autoRenewable,
            after other: ObservedTransaction?
        ) -> Bool {
            ClaimedPurchase(facts, kind: kind, withdrawal: nil)
                .isAutomaticRenewal(among: [facts] + [other].compactMap(\.self))
        }
        let first = period("1", on: 1, until: 31)
        #expect(isRenewal(after: first))
        #expect(!isRenewal(after: nil))
        #expect(!isRenewal(second, .nonRenewing, after: first))
        #expect(!isRenewal(after: period("1", "yearly", on: 1, until: 31)))
        #expect(!isRenewal(after: period("3", on: 61, until: 91)))
        #expect(!isRenewal(after: period("3", on: 31, until: 60)), "it begins at the same time")
        #expect(!isRenewal(after: period("1", on: 1, until: 61)), "it ends at the same time")
        #expect(!isRenewal(after: period("1", on: 1, until: nil)))
        #expect(!isRenewal(period("2", on: 31, until: nil), after: first))
        #expect(isRenewal(period("2", on: 31, until: 61, reason: "RENEWAL"), after: nil))
        #expect(!isRenewal(period("2", on: 31, until: 61, reason: "PURCHASE"), after: first))
    }
}
