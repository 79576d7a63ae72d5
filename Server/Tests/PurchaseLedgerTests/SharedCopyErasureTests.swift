import EvidenceMint
import Foundation
import PurchaseLedger
import PurchaseVerification
import TestSupport
import Testing

/// Erasures of customers in a family that shares a subscription.
@Suite("Erasures in a family", .tags(.everyEngine))
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

    /// A notification that the subscription does not renew.
    private static func news(beside period: SignedTransactionTemplate) throws -> [UInt8] {
        var renewal = RenewalInfoTemplate(transaction: period)
        renewal.autoRenewStatus = 0
        var template = NotificationTemplate(
            notificationType: "DID_CHANGE_RENEWAL_STATUS", transaction: period, renewalInfo: renewal)
        template.data?.status = 1
        template.notificationUUID = UUID().uuidString.lowercased()
        return try MintedWorld.mint(template)
    }

    @Test(
        "C.12 The renewal info and the status of a subscription stay with their evidence while a member's copy is held",
        arguments: [false, true])
    func heldCopy(isSignedBesideCopy: Bool) async throws {
        try await LedgerWorld.with { world in
            let (own, copy) = (Self.period("901"), Self.period("902", isShared: true))
            _ = try await Self.claim(own, "alice", world)
            try await world.observe(try MintedWorld.mint(copy))
            try await world.observe(try Self.news(beside: own))
            if isSignedBesideCopy { try await world.observe(try Self.news(beside: copy)) }
            let erased = try await Self.erase("alice", world)
            #expect(erased.transactions == 1 && erased.evidence == 1 && erased.keptEvidence == 1)
            try await world.requireConsistency()
            #expect(try await Self.claim(copy, "bob", world).code == "accepted")
            let entitlement = try await world.entitlement(LedgerWorld.monthly, of: "bob")
            #expect(entitlement?.state == .active && entitlement?.renewal?.info.autoRenewStatus == 0)
        }
    }

    @Test("C.12 The renewal info of a subscription goes with its evidence if nobody else has a copy")
    func noCopy() async throws {
        try await LedgerWorld.with { world in
            let own = Self.period("901")
            _ = try await Self.claim(own, "alice", world)
            try await world.observe(try Self.news(beside: own))
            let erased = try await Self.erase("alice", world)
            #expect(erased.transactions == 1 && erased.evidence == 2 && erased.keptEvidence == 0)
        }
    }
}
