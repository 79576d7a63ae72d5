import EvidenceMint
import Foundation
import PurchaseLedger
import PurchaseVerification
import TestSupport
import Testing

/// The withdrawal of a purchase that has several transaction ids.
@Suite("Copies are withdrawn together")
struct CopyWithdrawalTests {
    var world: LedgerWorld { CurrentWorld.opened() }

    private static let boughtAgain = "1 pro 1 of1; 1 pro 1 of1 !5; 2 pro 8 of1 first1"
    private static let refundedAgain = boughtAgain + "; 2 pro 8 of1 first1 !12"
    private static let restoredPass =
        "1 pass 1 of1 first1; 1 pass 1 of1 first1 !5; 1 pass 1 of1 first1 @6; 2 pass 8 of1 first1"

    /// The reversal on the original of a refund that was seen on a copy.
    private static let reversals = [("pro 1", "pro 3", ""), ("pass 1", "pass 3", ""), ("1-30", "3-30", "=77")].flatMap {
        (original, copy, line) in
        let (first, second) = ("1 \(original) of1 first1 \(line)", "2 \(copy) of1 first1 \(line)")
        let product = line == "" ? original.prefix(4) : "monthly"
        let refund = "\(first); \(second); \(second) !5"
        return [
            StoryRow("C.2 Refund seen on a copy", refund, says: "\(product) 6 -, 4 active"),
            StoryRow("C.2 Reversal on the original", refund + "; \(first) @6", says: "\(product) 7 active"),
            StoryRow("C.2 Refunded again", refund + "; \(first) @6; \(first) !8", says: "\(product) 9 -"),
        ]
    }

    private static let equalEnds = [(0, 0), (0, 10), (10, 0)].flatMap { first, second in
        let periods = "1 \(first)-30; 2 \(second)-30"
        let refunded = periods + "; 2 \(second)-30 !12"
        return [
            StoryRow("C.3 Two periods with the same end, one refunded", refunded, says: "20 active", purchases: 2),
            StoryRow("C.3 Both refunded", refunded + "; 1 \(first)-30 !14", says: "20 -"),
            StoryRow(
                "C.3 A copy without a line item joins the nearest period, and never both",
                periods + "; 3 9-30 receipt =", says: "20 active", purchases: 2),
        ]
    }

    private static let validPeriods = [25, 30, 40].map { end in
        StoryRow(
            "C.3 Access names the period that is valid, and the reason after it is that of the one that would have ended last",
            "1 0-30; 2 10-\(end) !12",
            says: "20 active until30 of1, 35 \(end > 30 ? "revoked" : "news_missing")")
    }

    static let rows = [
        StoryRow(
            "C.2 A pass that was refunded, reversed and then restored is one pass", restoredPass, says: "pass 9 active",
            purchases: 1),
        StoryRow("C.2 The restored pass is refunded", restoredPass + "; 2 pass 8 of1 first1 !10", says: "pass 11 -"),
        StoryRow(
            "C.2 A cancellation does not count if a copy was signed later", "1 pro 1 of1 cancelled5; 2 pro 2 of1 @6",
            says: "pro 10 active"),
        StoryRow(
            "C.2 A cancellation counts if it is later than the newest signed statement of any copy",
            "1 pro 1 of1 cancelled5; 2 pro 2 of1 @4", says: "pro 10 -"),
        StoryRow(
            "C.2 What is bought after the withdrawal is a new purchase", boughtAgain,
            says: "pro 2 active, 6 -, 9 active", purchases: 2),
        StoryRow("C.2 It is refunded, too", refundedAgain, says: "pro 2 active, 6 -, 9 active, 13 -"),
        StoryRow(
            "C.2 It is a new purchase also after a reversal", refundedAgain + "; 1 pro 1 of1 @14",
            says: "pro 15 active", purchases: 2),
        StoryRow(
            "C.2 A share that was revoked and shared again is active",
            "1 pro 1 of1 @9 !5 shared unshared; 2 pro 1 of1 @7 shared", says: "pro 10 active"),
        StoryRow(
            "C.2 A share that was revoked later", "1 pro 1 of1 @9 !8 shared unshared; 2 pro 1 of1 @7 shared",
            says: "pro 10 -"),
    ]

    @Test(
        "Copies say what their row says, in every order of arrival",
        arguments: rows + reversals + equalEnds + validPeriods)
    func row(_ row: StoryRow) { row.check() }

    @Test("C.2 The date of a withdrawal survives the stored form, and a copy joins the nearest of two periods")
    func stored() throws {
        let facts = try #require(PurchaseStory("1 pro 1 of1; 1 pro 1 of1 !5; 1 pro 1 of1 @14").facts[.sample("1")])
        let read = try ObservedTransaction(key: facts.key, encoded: facts.encoded)
        #expect(read == facts && read.lastWithdrawal == .day(5) && read.withdrawal == nil)
        let near = PurchaseStory("1 0-30; 2 10-30; 3 9-30 receipt =").purchases
        #expect(near.first { $0.transactions.count == 2 }?.transactions.contains { $0.key == .sample("2") } == true)
    }

    @Test("C.2 A reversal on the original of a refund seen on a copy restores access and order, with one event each")
    func events() async throws {
        for (product, kind) in [
            (LedgerWorld.pass, SignedTransactionTemplate.ProductType.nonRenewingSubscription),
            (LedgerWorld.monthly, .autoRenewableSubscription),
        ] {
            try await LedgerWorld.with { world in
                func signed(_ id: String, at seconds: Double, isRevoked: Bool = false) throws -> [UInt8] {
                    try LedgerWorld.signed(id, product: product, kind: kind) {
                        $0.originalTransactionID = "1"
                        if kind == .autoRenewableSubscription {
                            $0.webOrderLineItemID = "77"
                            $0.expiresDate = $0.purchaseDate?.addingTimeInterval(30 * 86_400)
                        }
                        $0.sign($0.purchaseDate?.addingTimeInterval(seconds), isRevoked: isRevoked)
                    }
                }
                let order = try await world.order(product: product)
                _ = try await world.claim("1", product: product, order: order.id, try signed("1", at: 0))
                try await world.observe(try signed("2", at: 10))
                world.clock.advance(seconds: 60)
                try await world.observe(try signed("2", at: 20, isRevoked: true))
                #expect(try await world.entitlement(product)?.state == .withdrawn)
                #expect(try await world.order(order.id).status == .refunded)
                try await world.observe(try signed("1", at: 30, isRevoked: true))
                world.clock.advance(seconds: 60)
                try await world.observe(try signed("1", at: 40))
                #expect(try await world.entitlement(product)?.state == .active)
                #expect(try await world.order(order.id).status == .paid)
                let events = try await world.events()
                for type in ["revoked", "reversed", "order_refunded", "order_restored"] {
                    #expect(events.count { $0 == type } == 1, "\(events)")
                }
            }
        }
    }

    @Test(
        "C.2 The lists of purchases show the withdrawal that decides claims, on every copy and at every step",
        .ledger)
    func listedWithdrawal() async throws {
        func signed(_ id: String, at seconds: Double, isRevoked: Bool = false) throws -> [UInt8] {
            try LedgerWorld.signed(id, product: LedgerWorld.pro) {
                $0.originalTransactionID = "1"
                $0.sign($0.purchaseDate?.addingTimeInterval(seconds), isRevoked: isRevoked)
            }
        }
        func requireAgreement(isWithdrawn: Bool, _ step: String) async throws {
            let page = try await world.ledger.answer(
                PurchasesOfCustomer(app: "example", customerID: LedgerWorld.customer, limit: 10))
            #expect(page.entries.count == 2)
            for id in ["1", "2"] {
                let listed = try #require(page.entries.first { $0.transactionID == id })
                let shown = try await world.ledger.answer(PurchasesOfTransaction(app: "example", transactionID: id))
                #expect(shown.map(\.withdrawal) == [listed.withdrawal])
                #expect((listed.withdrawal != nil) == isWithdrawn, "\(id) \(step)")
                let claimed = try await world.claim(id, product: LedgerWorld.pro, try signed(id, at: 0))
                #expect((claimed.code == "accepted") != isWithdrawn, "\(id) \(step): \(claimed.code)")
            }
        }
        _ = try await world.claim("1", product: LedgerWorld.pro, try signed("1", at: 0))
        _ = try await world.claim("2", product: LedgerWorld.pro, try signed("2", at: 10))
        world.clock.advance(seconds: 600)
        try await requireAgreement(isWithdrawn: false, "before")
        try await world.observe(try signed("2", at: 20, isRevoked: true))
        try await requireAgreement(isWithdrawn: true, "refund seen on the copy")
        try await world.observe(try signed("1", at: 30))
        try await requireAgreement(isWithdrawn: false, "reversal seen on the original")
        try await world.observe(try signed("1", at: 40, isRevoked: true))
        try await requireAgreement(isWithdrawn: true, "refund seen on the original")
        try await world.observe(try signed("2", at: 50))
        try await requireAgreement(isWithdrawn: false, "reversal seen on the copy")
    }

    @Test("C.2 A non-consumable that is bought again after its refund pays an order", .ledger)
    func repurchasePays() async throws {
        func pro(_ id: String, at seconds: Double, revoked: Double? = nil) throws -> [UInt8] {
            try LedgerWorld.signed(id, product: LedgerWorld.pro) {
                $0.originalTransactionID = "1"
                $0.purchaseDate = $0.purchaseDate?.addingTimeInterval(seconds)
                $0.revocationDate = revoked.map(MintedWorld.moment.addingTimeInterval(3600).addingTimeInterval)
                $0.signedDate = $0.revocationDate ?? $0.purchaseDate
            }
        }
        _ = try await world.claim("1", product: LedgerWorld.pro, try pro("1", at: 0))
        try await world.observe(try pro("1", at: 0, revoked: 60))
        world.clock.advance(seconds: 600)
        let order = try await world.order(product: LedgerWorld.pro)
        let outcome = try await world.claim("2", product: LedgerWorld.pro, order: order.id, try pro("2", at: 700))
        #expect(outcome.code == "accepted" && outcome.orderStatus == .paid)
        world.clock.advance(seconds: 600)
        #expect(try await world.entitlement(LedgerWorld.pro)?.state == .active)
    }
}
