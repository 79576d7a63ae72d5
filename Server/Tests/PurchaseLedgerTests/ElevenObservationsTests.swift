import EvidenceMint
import Foundation
import PurchaseAPI
import PurchaseLedger
import PurchaseVerification
import TestSupport
import Testing

/// The eleven mistakes that were observed in November 2026, each with a test that it does not happen.
@Suite("The eleven observations")
struct ElevenObservationsTests {
    var folder: URL { CurrentWorld.opened() }
    var world: LedgerWorld { CurrentWorld.opened() }

    @Test("1. Revoked evidence withdraws the purchase, with or without a claim", .ledger)
    func revocationWithoutClaim() async throws {
        try await LedgerWorld.with { world in
            _ = try await world.claim("1", product: LedgerWorld.pro, try pro("1"))
            #expect(try await world.entitlement(LedgerWorld.pro)?.state == .active)
            let revoked = try pro("1") { $0.refund(at: MintedWorld.moment.addingTimeInterval(3660)) }
            world.clock.advance(seconds: 120)
            // A claim that lacks its customer.
            let outcome = try await world.ledger.submit(
                world.submission("1", product: LedgerWorld.pro, customer: nil, revoked))
            #expect(outcome.code == "field_missing")
            #expect(try await world.entitlement(LedgerWorld.pro)?.state == .withdrawn)
        }
        _ = try await world.claim("1", product: LedgerWorld.pro, try pro("1"))
        var notification = MintedWorld.notification(environment: "Production")
        notification.notificationType = "REFUND"
        notification.data?.renewalInfo = nil
        notification.signedDate = MintedWorld.moment.addingTimeInterval(3660)
        notification.data?.transaction = LedgerWorld.template(
            "1", product: LedgerWorld.pro
        ) { $0.refund(at: MintedWorld.moment.addingTimeInterval(3660)) }
        world.clock.advance(seconds: 120)
        let evidence = try MintedWorld.mint(notification)
        let outcome = try await world.observe(evidence)
        #expect(outcome.code == "accepted")
        #expect(try await world.entitlement(LedgerWorld.pro)?.reason == .revoked)
        let events = try await world.events()
        // The same notification again changes only the journal.
        try await world.observe(evidence)
        #expect(try await world.events() == events)
    }

    private func pro(
        _ transaction: String, _ change: (inout SignedTransactionTemplate) -> Void = { _ in }
    ) throws -> [UInt8] {
        try LedgerWorld.signed(transaction, product: LedgerWorld.pro, change)
    }

    @Test("2. Renewals and expired periods are recorded without a claim, and unclaimed purchases are held", .ledger)
    func unclaimed() async throws {
        try await world.observe(try LedgerWorld.period("901", from: 0))
        try await world.observe(try LedgerWorld.period("902", from: 30))
        #expect(try await world.entitlement(LedgerWorld.monthly) == nil)
        world.clock.advance(days: 40)
        // A claim of the first period, which has ended, still binds its owner.
        let outcome = try await world.claim("901", try LedgerWorld.period("901", from: 0))
        #expect(outcome.code == "subscription_expired" && outcome.disposition == .refused)
        #expect(try await world.entitlement(LedgerWorld.monthly)?.state == .active)
    }

    @Test("3. After an upgrade one product is active, and grace periods are honoured", .ledger)
    func upgradeAndGrace() async throws {
        try await LedgerWorld.with { world in
            _ = try await world.claim("901", product: LedgerWorld.monthly, try LedgerWorld.period("901", from: 0))
            try await world.observe(try LedgerWorld.period("902", product: LedgerWorld.yearly, from: 10, days: 365))
            world.clock.advance(days: 12)
            #expect(try await world.entitlement(LedgerWorld.monthly)?.state == .upgraded)
            #expect(try await world.entitlement(LedgerWorld.yearly)?.state == .active)
        }
        _ = try await world.claim("901", product: LedgerWorld.monthly, try LedgerWorld.period("901", from: 0))
        let template = LedgerWorld.template("901", product: LedgerWorld.monthly) {
            $0.originalTransactionID = "900"
            $0.expiresDate = MintedWorld.moment.addingTimeInterval(3600 + 30 * 86_400)
        }
        var renewal = RenewalInfoTemplate(transaction: template)
        renewal.signedDate = MintedWorld.moment.addingTimeInterval(3600 + 30 * 86_400)
        renewal.gracePeriodExpiresDate = MintedWorld.moment.addingTimeInterval(3600 + 46 * 86_400)
        renewal.isInBillingRetryPeriod = true
        try await world.observe(try MintedWorld.mint(renewal))
        world.clock.advance(days: 40)
        #expect(try await world.entitlement(LedgerWorld.monthly)?.state == .active)
        let claim = try await world.claim("901", try LedgerWorld.period("901", from: 0))
        #expect(claim.code == "accepted")
        world.clock.advance(days: 10)
        #expect(try await world.entitlement(LedgerWorld.monthly)?.state == .expired)
    }

    @Test("4. A refund is reversed by newer signed data, and a refund of one of three takes one", .ledger)
    func reversal() async throws {
        let order = try await world.order(quantity: 3)
        let bought = try coins(3)
        _ = try await world.claim("1", order: order.id, bought)
        #expect(try await world.entitlement()?.balance == 3)
        try await world.observe(try coins(3, percentage: 33_333, signedAfter: 100))
        #expect(try await world.entitlement()?.balance == 2)
        #expect(try await world.order(order.id).status == .paid)
        try await world.observe(try coins(3, percentage: 100_000, signedAfter: 200))
        #expect(try await world.entitlement()?.balance == 0)
        #expect(try await world.order(order.id).status == .refunded)
        try await world.observe(try coins(3, signedAfter: 300))
        #expect(try await world.entitlement()?.balance == 3)
        #expect(try await world.order(order.id).status == .paid)
        #expect(
            try await world.events() == [
                "order_created", "granted", "order_paid", "revoked", "revoked", "order_refunded", "reversed",
                "order_restored",
            ])
    }

    private func coins(
        _ quantity: Int64, percentage: Int64? = nil, signedAfter seconds: Double = 0
    ) throws -> [UInt8] {
        try LedgerWorld.signed("1") {
            $0.quantity = quantity
            $0.signedDate = $0.signedDate?.addingTimeInterval(seconds)
            if let percentage {
                $0.revocationDate = $0.signedDate
                $0.revocationPercentage = percentage
                $0.revocationType = "REFUND_PRORATED"
            }
        }
    }

    @Test("5. A claim is decided again each time: after a refund, and after the operator has fixed a setting", .folder)
    func decidedAnew() async throws {
        try await LedgerWorld.with { world in
            let evidence = try coins(1)
            #expect(try await world.claim("1", evidence).code == "accepted")
            let again = try await world.claim("1", evidence)
            #expect(again.isReplayed)
            try await world.observe(try coins(1, percentage: 100_000, signedAfter: 60))
            let refunded = try await world.claim("1", evidence)
            #expect(refunded.code == "purchase_withdrawn" && refunded.disposition == .refused)
            #expect(refunded.entitlement?.state == .withdrawn)
        }
        let database = try SQLiteDatabase(path: folder.appending(path: "assay.sqlite").path)
        var app = LedgerWorld.app()
        app.products[LedgerWorld.coins] = nil
        let world = try await LedgerWorld(database, apps: [app])
        let evidence = try coins(1)
        let unknown = try await world.claim("1", evidence)
        #expect(unknown.code == "product_unknown" && unknown.disposition == .operator)
        // The facts are kept and the claim binds, so the purchase counts once the settings know the product.
        let fixed = try await world.restarted([LedgerWorld.app()])
        #expect(try await fixed.entitlement()?.balance == 1)
        #expect(try await fixed.claim("1", evidence).code == "accepted")
        try await fixed.requireConsistency()
        try await database.close()
    }

    @Test("6. The signed purchase date is compared with the order's life, whenever the purchase is delivered", .ledger)
    func orderLife() async throws {
        try await LedgerWorld.with { world in
            let order = try await world.order()
            // Delivered after the order expired.
            world.clock.advance(days: 3)
            #expect(try await world.order(order.id).status == .expired)
            let late = try await world.claim("1", order: order.id, try LedgerWorld.signed("1"))
            #expect(late.code == "accepted" && late.orderStatus == .paid)
            // Bought long before its order.
            let second = try await world.order()
            let old = try LedgerWorld.signed("2") {
                $0.purchaseDate = MintedWorld.moment.addingTimeInterval(-400 * 86_400)
            }
            let outside = try await world.claim("2", order: second.id, old)
            #expect(outside.code == "purchase_outside_order" && outside.disposition == .granted)
            #expect(try await world.order(second.id).status == .created)
            #expect(try await world.entitlement()?.balance == 2)
            // Claimed first by the customer, and then with its order.
            let third = try await world.order(quantity: 2)
            let present = try LedgerWorld.signed("3") {
                $0.quantity = 2
                $0.purchaseDate = MintedWorld.moment.addingTimeInterval(3600 + 3 * 86_400)
                $0.signedDate = $0.purchaseDate
            }
            #expect(try await world.order(third.id).status == .created)
            let named = try await world.claim("3", order: third.id, present)
            #expect(named.orderStatus == .paid)
        }
        let evidence = try LedgerWorld.signed("1")
        _ = try await world.claim("1", evidence)
        world.clock.advance(seconds: 60)
        let order = try await world.order()
        let named = try await world.claim("1", order: order.id, evidence)
        #expect(named.orderStatus == .paid)
        let other = try await world.order()
        let twice = try await world.claim("1", order: other.id, evidence)
        #expect(twice.code == "already_claimed" && twice.claimedBy == .anotherOrder)
    }

    @Test("7. Fulfilling succeeds once, and takes the lot of a consumable", .ledger)
    func fulfilOnce() async throws {
        let order = try await world.order()
        _ = try await world.claim("1", order: order.id, try LedgerWorld.signed("1"))
        let outcomes = try await withThrowingTaskGroup(of: Bool.self) { group in
            for _ in 0..<8 {
                group.addTask {
                    try await world.fulfil(order.id).isReplayed
                }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(outcomes.count { !$0 } == 1)
        #expect(try await world.entitlement()?.balance == 0)
        // An order whose units were consumed cannot be delivered as well.
        let second = try await world.order()
        _ = try await world.claim("2", order: second.id, try LedgerWorld.signed("2"))
        _ = try await world.consume(1, "c")
        #expect(await refusal { try await world.fulfil(second.id) } == .orderConsumed)
    }

    @Test("8. Sandbox purchases pay, grant and consume nothing outside of Sandbox, except for testers", .ledger)
    func sandbox() async throws {
        let order = try await world.order()
        let evidence = try LedgerWorld.signed("2000000000000001") { $0.environment = "Sandbox" }
        let claim = try await world.claim("2000000000000001", order: order.id, evidence)
        #expect(claim.code == "order_environment_mismatch")
        #expect(try await world.entitlement()?.state == .pending)
        #expect(try await world.entitlement()?.reason == .sandboxNotAccepted)
        #expect(try await world.entitlement(environment: .sandbox)?.balance == 1)
        #expect(await refusal { try await world.consume(1, "c") } == .balanceInsufficient)
        try await world.tester("alice", true)
        #expect(try await world.entitlement()?.state == .active)
        #expect(try await world.claim("2000000000000001", order: order.id, evidence).orderStatus == .paid)
        #expect(try await world.consume(1, "c").environment == .sandbox)
    }

    @Test(
        "9. A product of another kind than signed data states is refused, and counts once the settings agree",
        .folder)
    func kindMismatch() async throws {
        let database = try SQLiteDatabase(path: folder.appending(path: "assay.sqlite").path)
        var app = LedgerWorld.app()
        app.products[LedgerWorld.monthly] = RegisteredProduct(kind: .nonConsumable)
        let world = try await LedgerWorld(database, apps: [app])
        let outcome = try await world.claim("901", try LedgerWorld.period("901", from: 0))
        #expect(outcome.code == "product_kind_mismatch" && outcome.disposition == .operator)
        let entitlement = try #require(try await world.entitlement(LedgerWorld.monthly))
        #expect(entitlement.state == .pending && entitlement.reason == .productKindMismatch)
        let fixed = try await world.restarted([LedgerWorld.app()])
        #expect(try await fixed.entitlement(LedgerWorld.monthly)?.state == .active)
        try await fixed.requireConsistency()
        try await database.close()
    }

    @Test("10. A start whose settings assign a bundle id to another app is refused", .folder)
    func movedBundle() async throws {
        let database = try SQLiteDatabase(path: folder.appending(path: "assay.sqlite").path)
        let world = try await LedgerWorld(database)
        _ = try await world.claim("1", try LedgerWorld.signed("1"))
        var renamed = LedgerWorld.app()
        renamed.id = "renamed"
        #expect(await refusal { try await world.restarted([renamed]) } == .bundleOfAnotherApp)
        // An app that is removed keeps its facts, and uses them again when it is restored.
        _ = try await world.restarted([])
        let again = try await world.restarted([LedgerWorld.app()])
        #expect(try await again.entitlement()?.balance == 1)
        #expect(try await again.claim("1", customer: "bob", try LedgerWorld.signed("1")).code == "already_claimed")
        try await database.close()
    }

    @Test("11. Passes that arrive late count the same one by one and together; line items distinguish periods", .ledger)
    func passesAndLineItems() async throws {
        func pass(_ transaction: String, _ day: Double) throws -> [UInt8] {
            try LedgerWorld.signed(transaction, product: LedgerWorld.pass) {
                $0.purchaseDate = MintedWorld.moment.addingTimeInterval(3600 + day * 86_400)
                $0.originalPurchaseDate = $0.purchaseDate
            }
        }
        try await LedgerWorld.with { world in
            world.clock.advance(days: 40)
            let first = try await world.claim("1", product: LedgerWorld.pass, try pass("1", 0))
            #expect(first.code == "subscription_expired")
            let second = try await world.claim("2", product: LedgerWorld.pass, try pass("2", 5))
            #expect(second.code == "accepted")
            #expect(try await world.entitlement(LedgerWorld.pass)?.state == .active)
            #expect(try await world.claim("1", product: LedgerWorld.pass, try pass("1", 0)).code == "accepted")
        }
        for (transaction, lineItem) in [("901", "11"), ("902", "12")] {
            let outcome = try await world.claim(
                transaction, try LedgerWorld.period(transaction, from: 0) { $0.webOrderLineItemID = lineItem })
            #expect(outcome.code == "accepted" && !outcome.isReplayed)
        }
    }
}
