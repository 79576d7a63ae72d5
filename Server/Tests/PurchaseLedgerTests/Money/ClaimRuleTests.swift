import EvidenceMint
import Foundation
import PurchaseAPI
import PurchaseLedger
import PurchaseVerification
import TestSupport
import Testing

@Suite("Repeated claims, tokens of others, kinds and dispositions")
struct ClaimRuleTests {
    var world: LedgerWorld { CurrentWorld.opened() }

    @Test("C.4 A customer who was refused under deny gets the purchase under move, once", arguments: [false, true])
    func refusedThenMove(isImported: Bool) async throws {
        try await LedgerWorld.with { world in
            let evidence = try LedgerWorld.period("901", from: 0)
            func claim(_ world: LedgerWorld, _ customer: String) async throws -> PurchaseOutcome {
                try await world.claim("901", product: LedgerWorld.monthly, customer: customer, evidence)
            }
            #expect(try await claim(world, "alice").code == "accepted")
            if isImported {
                let row = ImportSubmission(customerID: "bob", evidence: [evidence])
                _ = try await world.ledger.perform(
                    ImportPurchases(
                        app: "example", isAnnounced: false, consumables: .balance,
                        [world.ledger.examine(row, app: "example")]))
            } else {
                #expect(try await claim(world, "bob").code == "already_claimed")
            }
            var app = LedgerWorld.app()
            app.transfer = .move
            let moving = try await world.restarted([app])
            let moved = try await claim(moving, "bob")
            #expect(moved.code == "accepted" && moved.isReplayed)
            #expect(try await moving.entitlement(LedgerWorld.monthly, of: "bob")?.state == .active)
            #expect(try await claim(moving, "bob").code == "accepted")
            #expect(try await moving.events().count { $0 == "transferred" } == 2, "each of the two customers is told")
            #expect(try await claim(moving, "alice").code == "accepted")
            try await moving.requireConsistency()
        }
    }

    @Test("C.6 The new owner of a transferred purchase claims it with the token of the former owner", .ledger)
    func tokenOfFormerOwner() async throws {
        let token = UUID()
        try await world.assign(token, to: "alice")
        let evidence = try LedgerWorld.period("901", from: 0) { $0.appAccountToken = token.uuidString.lowercased() }
        #expect(try await world.claim("901", product: LedgerWorld.monthly, evidence).code == "accepted")
        let before = try await world.claim("901", product: LedgerWorld.monthly, customer: "bob", evidence)
        #expect(before.code == "app_account_token_mismatch" && before.disposition == .refused)
        try await world.move("901", to: "bob")
        let after = try await world.claim("901", product: LedgerWorld.monthly, customer: "bob", evidence)
        #expect(after.code == "accepted" && after.disposition == .granted && after.isReplayed)
        let restored = try await world.ledger.perform(
            RestorePurchases(
                world.ledger.examine(
                    RestoreSubmission(app: "example", customerID: "bob", evidence: [evidence]))))
        #expect(restored.purchases.map(\.code) == ["accepted"])
        let former = try await world.claim("901", product: LedgerWorld.monthly, evidence)
        #expect(former.code == "already_claimed" && former.claimedBy == .anotherCustomer)
    }

    @Test("C.7 A product with purchases of two kinds shows both")
    func kinds() async throws {
        for kind in [ProductKind.nonConsumable, .nonRenewing] {
            try await LedgerWorld.with {
                $0.products[LedgerWorld.coins] = RegisteredProduct(kind: kind, duration: PassDuration("30d"))
            } _: { world in
                if kind == .nonRenewing {
                    _ = try await world.claim("1", try LedgerWorld.signed("1", kind: .nonRenewingSubscription))
                } else {
                    try await world.grant(LedgerWorld.coins, to: "alice")
                }
                let later = try await world.restarted([LedgerWorld.app()])
                let outcome = try await later.claim("2", try LedgerWorld.signed("2") { $0.quantity = 5 })
                #expect(outcome.entitlement?.productKind == .consumable && outcome.entitlement?.balance == 5)
                for moment in [nil, later.clock.now] {
                    let shown = try await later.ledger.answer(
                        EntitlementsOfCustomer(app: "example", customerID: "alice", at: moment)
                    ).entitlements
                    #expect(
                        shown.map(\.productKind) == [.consumable, kind] && shown.allSatisfy { $0.state == .active })
                    #expect(shown.map(\.balance) == [5, 0])
                }
                #expect(try await later.consume(2, "c").balance == 3)
                try await later.requireConsistency()
            }
        }
    }

    @Test("C.14 A refusal of the order alone is granted where the customer has the purchase", .ledger)
    func orderRefusals() async throws {
        let orders = [
            try await world.order(product: LedgerWorld.pro), try await world.order(quantity: 2),
            try await world.order(environment: .sandbox),
        ]
        let cancelled = try await world.order()
        _ = try await world.ledger.perform(CancelOrder(app: "example", orderID: cancelled.id))
        let first = try await world.order()
        let second = try await world.order()
        let evidence = try LedgerWorld.signed("1")
        #expect(try await world.claim("1", order: first.id, evidence).code == "accepted")
        for order in orders + [cancelled, second] {
            let outcome = try await world.claim("1", order: order.id, evidence)
            #expect(outcome.code != "accepted" && outcome.disposition == .granted, "\(outcome.code)")
            #expect(outcome.isReplayed, "\(outcome.code)")
            let another = try await world.order("bob")
            let foreign = try await world.claim("1", customer: "bob", order: another.id, evidence)
            #expect(foreign.code == "already_claimed" && foreign.disposition == .refused)
        }
    }

    @Test(
        "C.14 What the same customer claimed before is replayed, refused or not",
        .ledger { $0.requiresSignedTransaction = true })
    func replayed() async throws {
        let ended = try LedgerWorld.period("901", from: 0, days: 1)
        world.clock.advance(days: 10)
        let receipt = try LedgerWorld.receipt([
            .consumable(productID: LedgerWorld.coins, transactionID: "7", purchaseDate: MintedWorld.moment)
        ])
        let coins = try LedgerWorld.signed("1")
        let claims: [(id: String, product: String, bytes: [UInt8], code: String)] = [
            ("901", LedgerWorld.monthly, ended, "subscription_expired"),
            ("7", LedgerWorld.coins, receipt, "signed_transaction_needed"),
            ("1", LedgerWorld.pro, coins, "product_mismatch"),
        ]
        for (id, product, bytes, code) in claims {
            for isReplayed in [false, true, true] {
                let outcome = try await world.claim(id, product: product, bytes)
                #expect(outcome.code == code && outcome.isReplayed == isReplayed, "\(code)")
            }
            #expect(try await world.claim(id, product: product, customer: "bob", bytes).isReplayed == false)
        }
    }

    /// The receipt does not bind under `require_signed_transaction`, so no act shows its claims.
    @Test(
        "C.14 A purchase of a restore that did not bind is replayed for who claimed it, and not for its owner",
        .ledger { $0.requiresSignedTransaction = true })
    func replayedInRestores() async throws {
        let ids = ["7", "8", "9"]
        func purchase(_ id: String) -> PurchaseTemplate {
            .consumable(productID: LedgerWorld.coins, transactionID: id, purchaseDate: MintedWorld.moment)
        }
        let receipt = try LedgerWorld.receipt(ids.map(purchase))
        func restore(_ customer: String, _ evidence: [UInt8]? = nil) async throws -> [String: Bool] {
            let outcome = try await world.restore(of: customer, [evidence ?? receipt])
            return Dictionary(
                outcome.purchases.map { ($0.transactionID, $0.isReplayed) }, uniquingKeysWith: { first, _ in first }
            )
        }
        let (never, all) = (["7": false, "8": false, "9": false], ["7": true, "8": true, "9": true])
        #expect(try await restore("alice") == never)
        #expect(try await restore("alice") == all)
        // Other evidence of some of the same transactions, one by one and together.
        let part = try LedgerWorld.receipt([purchase("8"), purchase("7")])
        #expect(try await restore("alice", part) == ["7": true, "8": true])
        #expect(try await world.claim("9", receipt).isReplayed)
        #expect(try await world.claim("9", customer: "bob", receipt).isReplayed == false)
        #expect(try await restore("bob") == ["7": false, "8": false, "9": true])
        // The owner of an account token has the purchase without any claim.
        let token = UUID()
        try await world.assign(token, to: "carol")
        try await world.observe(
            try LedgerWorld.signed("7") {
                $0.environment = "Sandbox"
                $0.appAccountToken = token.uuidString.lowercased()
                $0.purchaseDate = MintedWorld.moment
                $0.originalPurchaseDate = MintedWorld.moment
            })
        let owned = try await world.ledger.answer(PurchasesOfTransaction(app: "example", transactionID: "7"))
        #expect(owned.map(\.customerID) == ["carol"])
        #expect(try await restore("carol") == never)
        #expect(try await restore("carol") == all)
    }
}

@Suite("A claim that names an order pays no other order")
struct NamedOrderReplayTests {
    /// O1 and O2 of `monthly`, a signed period A with the customer's token, then a receipt with A and its renewal B
    /// that names O2. The receipt has no token, so the claim does not bind.
    private func payByReceipt(_ world: LedgerWorld) async throws -> (first: Order, second: Order) {
        // Period A is bought before the orders, so it pays none of them.
        let evidence = try LedgerWorld.period("901", from: 0, days: 1) {
            $0.appAccountToken = "00000000-0000-0000-0000-000000000001"
            // Minted receipts are of the sandbox.
            $0.environment = "Sandbox"
        }
        try await world.assign(UUID(uuidString: "00000000-0000-0000-0000-000000000001") ?? UUID(), to: "alice")
        _ = try await world.claim("901", product: LedgerWorld.monthly, evidence)
        world.clock.advance(seconds: 3600)
        let first = try await world.order(product: LedgerWorld.monthly)
        world.clock.advance(seconds: 60)
        let second = try await world.order(product: LedgerWorld.monthly)
        world.clock.advance(seconds: 60)
        let purchases = [("901", 0.0), ("902", 1.0)].map { id, start in
            var purchase = PurchaseTemplate(
                productID: LedgerWorld.monthly, transactionID: id,
                purchaseDate: id == "901"
                    ? MintedWorld.moment.addingTimeInterval(3600)
                    : MintedWorld.moment.addingTimeInterval(2 * 3600 + 90))
            purchase.productType = .autoRenewableSubscription
            purchase.originalTransactionID = "900"
            purchase.originalPurchaseDate = MintedWorld.moment.addingTimeInterval(3600)
            purchase.expiresDate = purchase.purchaseDate?.addingTimeInterval((start + 1) * 86_400)
            return purchase
        }
        let receipt = try LedgerWorld.receipt(purchases)
        let outcome = try await world.claim("902", product: LedgerWorld.monthly, order: second.id, receipt)
        #expect(outcome.code == "accepted")
        return (first, second)
    }

    @Test("A.5 A receipt that names an order pays that order, live and in the replay")
    func replay() async throws {
        try await LedgerWorld.with { app in
            app.requiresSignedTransaction = true
            app.sandboxAccess = .everyone
        } _: { world in
            let (first, second) = try await payByReceipt(world)
            #expect(try await world.order(second.id).status == .paid)
            #expect(try await world.order(first.id).status == .created)
            try await world.requireConsistency()
        }
    }
}
