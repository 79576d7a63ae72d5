import EvidenceMint
import Foundation
import PurchaseLedger
import PurchaseVerification
import TestSupport
import Testing

@Suite("Reasons for the absence of access", .ledger)
struct DenialTests {
    let world: LedgerWorld = CurrentWorld.opened()

    private func refunded(_ id: String, quantity: Int64 = 1) throws -> [UInt8] {
        try LedgerWorld.signed(id) {
            $0.quantity = quantity
            $0.refund(at: $0.purchaseDate?.addingTimeInterval(60))
        }
    }

    @Test("An empty balance has the reason of its newest purchase: used, refunded, cancelled, revoked or transferred")
    func balances() async throws {
        let (used, other) = ("used", "other")
        _ = try await world.claim("1", customer: used, try LedgerWorld.signed("1"))
        _ = try await world.consume(1, "a", of: used)
        #expect(try await world.entitlement(of: used)?.reason == .consumed)
        #expect(try await world.entitlement(of: used)?.state == .consumed)
        // A refund of used units still counts as a refund.
        try await world.observe(try refunded("1"))
        #expect(try await world.entitlement(of: used)?.reason == .revoked)
        #expect(try await world.entitlement(of: used)?.shortfall == 1)
        // A newer purchase explains the balance, once it is used.
        _ = try await world.claim(
            "2", customer: used,
            try LedgerWorld.signed("2") {
                $0.purchaseDate = MintedWorld.moment.addingTimeInterval(3601)
                $0.originalPurchaseDate = $0.purchaseDate
                $0.signedDate = $0.purchaseDate
            })
        #expect(try await world.entitlement(of: used)?.reason == nil)
        _ = try await world.consume(1, "b", of: used)
        #expect(try await world.entitlement(of: used)?.reason == .consumed)

        _ = try await world.claim("3", customer: other, try LedgerWorld.signed("3"))
        let id = try await world.revoke("3", of: other)
        #expect(try await world.entitlement(of: other)?.reason == .revokedByHand)
        try await world.ledger.perform(LiftByHand(app: "example", customerID: other, id: id))
        #expect(try await world.entitlement(of: other)?.reason == nil)
        try await world.move("3", to: used)
        #expect(try await world.entitlement(of: other)?.reason == .ownedByAnother)
        #expect(try await world.entitlement(of: used)?.balance == 1)
    }

    @Test(
        "A former owner gets owned_by_another for a product of any kind",
        arguments: [LedgerWorld.coins, LedgerWorld.pro, LedgerWorld.monthly, LedgerWorld.pass])
    func transferred(product: String) async throws {
        let evidence =
            switch product {
            case LedgerWorld.coins: try LedgerWorld.signed("1")
            case LedgerWorld.pro: try LedgerWorld.signed("1", product: product, kind: .nonConsumable)
            case LedgerWorld.monthly: try LedgerWorld.period("1", original: "1", from: 0)
            default: try LedgerWorld.signed("1", product: product, kind: .nonRenewingSubscription)
            }
        #expect(try await world.claim("1", product: product, evidence).code == "accepted")
        try await world.move("1", to: "bob")
        let former = try await world.entitlement(product)
        #expect(former?.state != .active && former?.reason == .ownedByAnother)
        #expect(try await world.entitlement(product, of: "bob")?.state == .active)
    }

    @Test("A consumable with a cancellation date in a receipt has the reason cancelled")
    func cancelled() async throws {
        var purchase = PurchaseTemplate.consumable(
            productID: LedgerWorld.coins, transactionID: "2000000000000001", purchaseDate: MintedWorld.moment)
        purchase.cancellationDate = MintedWorld.moment.addingTimeInterval(60)
        let outcome = try await world.claim("2000000000000001", try LedgerWorld.receipt([purchase]))
        #expect(outcome.code == "purchase_cancelled")
        #expect(try await world.entitlement(environment: .sandbox)?.reason == .cancelled)
    }

    @Test("The same reasons at a past time")
    func past() async throws {
        world.clock.advance(days: 1)
        _ = try await world.claim("1", try LedgerWorld.signed("1"))
        let bought = world.clock.now
        world.clock.advance(days: 1)
        try await world.observe(
            try LedgerWorld.signed("1") { $0.refund(at: MintedWorld.moment.addingTimeInterval(3600 + 2 * 86_400)) })
        world.clock.advance(days: 1)
        #expect(try await world.entitlement(at: bought)?.state == .active)
        #expect(try await world.entitlement(at: world.clock.now)?.reason == .revoked)
        #expect(try await world.entitlement()?.reason == .revoked)
    }

    @Test("A manual grant of a product counts for its named entitlement, until it is lifted")
    func namedGrant() async throws {
        func named() async throws -> NamedAccess? {
            try await world.entitlements(of: "alice").named.first
        }
        let until = Timestamp(millisecondsSince1970: world.clock.now.millisecondsSince1970 + 86_400_000)
        let grant = try await world.grant(LedgerWorld.monthly, to: "alice", until: until)
        #expect(try await named()?.name == "pro")
        #expect(try await named()?.isActive == true)
        #expect(try await named()?.until == until)
        // A purchase without an end lasts longer than the grant.
        _ = try await world.claim("1", try LedgerWorld.signed("1", product: LedgerWorld.pro))
        #expect(try await named()?.until == nil)
        try await world.observe(
            try LedgerWorld.signed("1", product: LedgerWorld.pro) {
                $0.refund(at: $0.purchaseDate?.addingTimeInterval(60))
            })
        world.clock.advance(seconds: 3600)
        #expect(try await named()?.isActive == true)
        try await world.ledger.perform(LiftByHand(app: "example", customerID: "alice", id: grant))
        world.clock.advance(seconds: 1)
        #expect(try await named()?.isActive == false)
    }

    @Test(
        "A pass that is missing in the settings is explained, and counts once it is added",
        .ledger { $0.products[LedgerWorld.pass] = nil })
    func unregisteredPass() async throws {
        let evidence = try LedgerWorld.signed("1", product: LedgerWorld.pass)
        let refused = try await world.claim("1", product: LedgerWorld.pass, evidence)
        #expect(refused.code == "product_unknown" && refused.disposition == .operator)
        #expect(try await world.entitlement(LedgerWorld.pass)?.reason == .productUnknown)
        let later = try await world.restarted([LedgerWorld.app()])
        #expect(try await later.entitlement(LedgerWorld.pass)?.state == .active)
        try await later.requireConsistency()
    }

    @Test("A pass that begins at the end of the one before it belongs to the customer, and its claim is accepted")
    func laterPass() async throws {
        for id in ["1", "2"] {
            let outcome = try await world.claim(id, try LedgerWorld.signed(id, product: LedgerWorld.pass))
            #expect(outcome.code == "accepted")
        }
    }
}
