import EvidenceMint
import Foundation
import PurchaseLedger
import PurchaseVerification
import TestSupport
import Testing

/// An account token gives a purchase its owner, whatever becomes of the claim that sends it.
@Suite("An account token grants nothing that the App Store is to be asked about")
struct UnaskedTokenTests {
    /// A ledger with an open order of Alice, and coins that carry the token of the order.
    private static func with(
        _ mode: AppStoreMode, _ body: (LedgerWorld, Order, [UInt8]) async throws -> Void
    ) async throws {
        try await LedgerWorld.with({ ($0.mode, $0.hasAppStoreKey) = (mode, true) }) { world in
            let order = try await world.order()
            let coins = try LedgerWorld.signed("1") {
                $0.appAccountToken = order.appAccountToken.uuidString.lowercased()
            }
            try await body(world, order, coins)
        }
    }

    private static func expectNothing(_ world: LedgerWorld, _ order: Order) async throws {
        #expect(try await world.entitlement() == nil)
        #expect(try await world.order(order.id).status == .created)
        #expect(try await world.events() == ["order_created"])
    }

    @Test(
        "A claim that is refused for its own fields brings nothing into the ledger",
        arguments: [.apple, .both] as [AppStoreMode])
    func wrongClaims(_ mode: AppStoreMode) async throws {
        try await Self.with(mode) { world, order, coins async throws in
            var outcomes = [
                try await world.claim("1", product: LedgerWorld.pro, coins),
                try await world.claim("1", customer: "bob", coins),
                try await world.claim("9", coins),
                try await world.claim("1", order: UUID(), coins),
            ]
            var flawed = world.submission("1", coins)
            flawed.claim.customerID = nil
            outcomes.append(try await world.ledger.submit(flawed))
            flawed = world.submission("1", coins)
            flawed.flaw = Rejection(.fieldMalformed)
            outcomes.append(try await world.ledger.submit(flawed))
            #expect(
                outcomes.map(\.code) == [
                    "product_mismatch", "app_account_token_mismatch", "transaction_not_found", "order_unknown",
                    "field_missing", "field_malformed",
                ])
            try await Self.expectNothing(world, order)
            // The wrong request of a restore.
            var piece = EvidenceSubmission(app: "example", source: "restore", evidence: coins)
            piece.flaw = Rejection(.fieldMissing, expected: "customer_id")
            #expect(try await world.ledger.observe(piece).isCounted)
            try await Self.expectNothing(world, order)
            // The right claim is decided as if there had been no other.
            let right = try await world.claim("1", coins)
            #expect(right.asksAppStore != nil)
            #expect(right.code == (mode == .apple ? "app_store_pending" : "accepted"))
            let asked = try #require(right.asksAppStore)
            try await world.answer(asked, LedgerWorld.agreement())
            #expect(try await world.entitlement()?.balance == 1)
            #expect(try await world.order(order.id).status == .paid)
        }
    }

    @Test("A notification that an app sends as evidence waits like a transaction")
    func notifications() async throws {
        try await Self.with(.apple) { world, order, _ async throws in
            let transaction = LedgerWorld.template("1") {
                $0.appAccountToken = order.appAccountToken.uuidString.lowercased()
            }
            let news = try NotificationTests.notification("ONE_TIME_CHARGE", transaction)
            #expect(try await world.claim("1", product: LedgerWorld.pro, news).code == "product_mismatch")
            try await Self.expectNothing(world, order)
            #expect(try await world.claim("1", news).code == "app_store_pending")
            try await Self.expectNothing(world, order)
            // The App Store's own delivery needs no question.
            try await world.observe(news)
            #expect(try await world.entitlement()?.balance == 1)
        }
    }

    @Test("In the mode both, the App Store is asked if a restore gives a purchase to the customer of its token")
    func restoresOfOthers() async throws {
        try await Self.with(.both) { world, _, coins async throws in
            let restored = try await world.restore(of: "bob", [coins])
            #expect(restored.purchases.map(\.code) == ["app_account_token_mismatch"])
            #expect(restored.asksAppStore.count == 1)
            #expect(try await world.entitlement()?.balance == 1)
        }
    }

    @Test("Without the App Store, and of a purchase with an owner, evidence counts whatever becomes of the claim")
    func others() async throws {
        try await Self.with(.offline) { world, order, coins async throws in
            #expect(try await world.claim("1", product: LedgerWorld.pro, coins).code == "product_mismatch")
            #expect(try await world.entitlement()?.balance == 1)
            #expect(try await world.order(order.id).status == .paid)
        }
        try await Self.with(.apple) { world, _, coins async throws in
            let claim = try await world.claim("1", coins)
            try await world.answer(try #require(claim.asksAppStore), LedgerWorld.agreement())
            let refunded = try LedgerWorld.signed("1") { $0.refund(at: $0.signedDate?.addingTimeInterval(60)) }
            #expect(try await world.claim("1", product: LedgerWorld.pro, refunded).code == "product_mismatch")
            #expect(try await world.entitlement()?.balance == 0)
        }
    }
}
