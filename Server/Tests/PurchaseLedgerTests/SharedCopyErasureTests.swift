import EvidenceMint
import Foundation
import PurchaseLedger
import PurchaseVerification
import TestSupport
import Testing

/// Erasures of customers in a family that shares a subscription.
@Suite("Erasures in a family")
struct SharedCopyErasureTests {
    private static func period(_ id: String, isShared: Bool = false) -> SignedTransactionTemplate {
        LedgerWorld.template(id, product: LedgerWorld.monthly, kind: .autoRenewableSubscription) {
            $0.originalTransactionID = "900"
            $0.expiresDate = $0.purchaseDate?.addingTimeInterval(30 * 86_400)
            if isShared { ($0.inAppOwnershipType, $0.appTransactionID) = ("FAMILY_SHARED", "77") }
        }
    }

    private static func erase(_ customer: String, _ world: LedgerWorld) async throws -> EraseCustomer.Outcome {
        try await world.ledger.perform(EraseCustomer(app: "example", customerID: customer, reason: "asked"))
    }

    private static func claim(
        _ period: SignedTransactionTemplate, _ customer: String, _ world: LedgerWorld
    ) async throws -> PurchaseOutcome {
        try await world.claim(
            period.transactionID ?? "", product: LedgerWorld.monthly, customer: customer, try MintedWorld.mint(period))
    }

    @Test(
        "C.12 A manual revocation of a member's copy ends with the erasure of the customer of whom it was said, also for the copy's later owner",
        arguments: [false, true], [false, true])
    func revokedCopy(hasPurchaser: Bool, isLifted: Bool) async throws {
        try await LedgerWorld.with { world in
            let copy = Self.period("902", isShared: true)
            if hasPurchaser { _ = try await Self.claim(Self.period("901"), "carol", world) }
            _ = try await Self.claim(copy, "bob", world)
            world.clock.advance(seconds: 60)
            let id = try await world.ledger.perform(
                RevokeByHand(
                    app: "example", customerID: "bob", .purchase(transactionID: "902", environment: nil),
                    reason: "abuse"))
            _ = try await world.ledger.perform(
                MovePurchase(app: "example", transactionID: "902", to: "alice", reason: "asked"))
            world.clock.advance(seconds: 60)
            #expect(try await world.entitlement(LedgerWorld.monthly)?.reason == .revokedByHand)
            #expect(try await Self.claim(copy, "alice", world).code == "purchase_withdrawn")
            if isLifted {
                try await world.ledger.perform(LiftByHand(app: "example", customerID: "alice", id: id))
                world.clock.advance(seconds: 60)
            }
            _ = try await Self.erase("bob", world)
            #expect(try await world.entitlement(LedgerWorld.monthly)?.state == .active)
            let carols = try await world.entitlement(LedgerWorld.monthly, of: "carol")
            #expect((carols?.state == .active) == hasPurchaser)
        }
    }
}
