import EvidenceMint
import Foundation
import HTTPTypes
import PurchaseAPI
import PurchaseLedger
import PurchaseServer
import PurchaseVerification
import TestSupport
import Testing

/// The effects of an app's settings, over HTTP.
@Suite("The settings of an app")
struct SettingEffectTests {
    private static let coins = "com.example.app.coins"

    /// A server with one setting changed.
    private static func run(
        _ change: (inout RegisteredApp) -> Void,
        _ body: @escaping @Sendable (PurchaseServerWorld) async throws -> Void
    ) async throws {
        var app = PurchaseServerWorld.app
        change(&app)
        let changed = app
        try await PurchaseServerWorld.run({ $0.apps = ["example": changed] }) { world in
            try await body(world)
        }
    }

    @Test(
        "sandbox_access decides for whom a Sandbox purchase counts; it is recorded and shown for everybody",
        arguments: SandboxAccess.allCases, [false, true])
    func sandboxAccess(access: SandboxAccess, isTester: Bool) async throws {
        try await Self.run({ $0.sandboxAccess = access }) { world async throws in
            if isTester {
                _ = try await world.ledger.perform(ChangeTester(app: "example", customerID: "alice", isTester: true))
            }
            let created = try await world.send(
                .post, "/v1/orders", OrderRequest(customerID: "alice", productID: Self.coins, quantity: 3),
                as: .backend)
            let order = try created.message(OrderMessage.self).orderID
            let claim = try PurchaseServerWorld.purchase(customerID: nil, orderID: order)
            let paid = try await world.send(.post, "/v1/purchases", claim, as: .client)
            let counts = access == .everyone || (access == .testers && isTester)
            #expect(paid.status == (counts ? 200 : 409), "\(paid.text)")
            if !counts { #expect(try paid.problem == "order_environment_mismatch") }
            let entitlements = try await world.entitlements(of: "alice")
            let coins = try #require(entitlements.first { $0.productID == Self.coins })
            #expect((coins.state == .active) == counts)
            if !counts { #expect(coins.reason == .sandboxNotAccepted && coins.balance == 0) }
            let sandbox = try await world.send(
                .get, "/v1/customers/alice/entitlements?environment=Sandbox", as: .backend)
            let shown = try sandbox.message(EntitlementList.self).entitlements.first { $0.productID == Self.coins }
            #expect(shown?.state == .active && shown?.balance == 3)
        }
    }

    @Test(
        "unverified_evidence bounds what a key and an app can make the database keep; genuine evidence is stored whole")
    func unverifiedEvidence() async throws {
        try await Self.run {
            $0.unverifiedEvidence = EvidenceBudget(bytesPerAppAndDay: 700_000, bytesPerKeyAndDay: 500_000)
        } _: { world async throws in
            /// Claims with evidence of 200 kB that cannot be compressed.
            func claim(_ count: Int, as scope: APIKeyScope) async throws {
                for _ in 0..<count {
                    let noise = (0..<200_000).map { _ in UInt8.random(in: 0...255) }
                    let claim = try PurchaseServerWorld.purchase(receipt: noise)
                    let answer = try await world.send(.post, "/v1/purchases", claim, as: scope)
                    #expect(try answer.status >= 400 && answer.document?.submissionID != nil)
                }
            }
            /// The number of pieces of evidence that are stored whole, and in part.
            func stored() async throws -> [LedgerValue] {
                try await world.database.read(.lists) { connection in
                    try connection.rows(
                        """
                        SELECT count(*) FILTER (WHERE length(content) > 100000),
                        count(*) FILTER (WHERE length(content) = 1029 AND size > 100000) FROM evidence
                        """, []
                    ).flatMap(\.values)
                }
            }
            try await claim(6, as: .client)
            #expect(try await stored() == [.integer(2), .integer(4)])
            // Another key of the app has the rest of the app's budget.
            try await claim(4, as: .admin)
            #expect(try await stored() == [.integer(3), .integer(7)])
            // A rejected claim of genuine evidence.
            let wrong = try PurchaseServerWorld.purchase(product: "com.example.app.pro")
            #expect(try await world.send(.post, "/v1/purchases", wrong, as: .client).problem == "product_mismatch")
            let genuine = Array(try #require(wrong.receiptData).utf8)
            let kept = try await world.database.read(.lists) { connection in
                try EvidenceStore(connection: connection).bytes(
                    sha256: StorableEvidence(genuine, isVerified: true).sha256)
            }
            #expect(kept == genuine)
            world.clock.advance(days: 1)
            try await claim(1, as: .client)
            #expect(try await stored() == [.integer(4), .integer(7)])
        }
    }

    @Test(
        "C.10 require_signed_transaction refuses a new purchase of an app receipt, to be tried again with signed data")
    func signedTransaction() async throws {
        try await Self.run({ $0.requiresSignedTransaction = true }) { world async throws in
            let receipt = try await world.send(.post, "/v1/purchases", try PurchaseServerWorld.purchase(), as: .client)
            #expect(try receipt.line == "422 signed_transaction_needed" && receipt.document?.disposition == .retry)
            let signed = try PurchaseServerWorld.signed("1")
            #expect(try await world.send(.post, "/v1/purchases", signed.claim(), as: .client).status == 200)
        }
    }

    @Test(
        "C.10 require_account_token refuses a new purchase without a token of the customer, to be tried again with one")
    func accountToken() async throws {
        try await Self.run({ $0.requiresAccountToken = true }) { world async throws in
            for claim in [try PurchaseServerWorld.purchase(), try PurchaseServerWorld.signed("1").claim()] {
                let refused = try await world.send(.post, "/v1/purchases", claim, as: .client)
                #expect(try refused.line == "422 account_token_needed" && refused.document?.disposition == .retry)
            }
        }
    }

    @Test(
        "refund_shortfall decides whether consumed and refunded units are subtracted from the balance",
        arguments: [(RefundShortfallPolicy.forgive, Int64(1)), (.debt, 0)])
    func refundShortfall(policy: RefundShortfallPolicy, balance: Int64) async throws {
        try await Self.run({ $0.refundShortfall = policy }) { world async throws in
            for transaction in ["1", "2"] {
                let claim = try PurchaseServerWorld.signed(transaction).claim()
                #expect(try await world.send(.post, "/v1/purchases", claim, as: .client).status == 200)
            }
            let used = try await world.send(
                .post, "/v1/customers/alice/consume", PurchaseServerWorld.consumption("1"), as: .backend)
            #expect(used.status == 200)
            let refund = try PurchaseServerWorld.signed("1") {
                $0.refund(at: MintedWorld.moment.addingTimeInterval(50))
            }
            _ = try await world.send(.post, "/v1/purchases", refund.claim(), as: .client)
            let entitlement = try #require(try await world.entitlements(of: "alice").first)
            #expect(entitlement.balance == balance && entitlement.shortfall == 1)
        }
    }

    @Test(
        "transfer decides whether a claim transfers a non-consumable",
        arguments: [(TransferPolicy.deny, 409), (.move, 200)])
    func transfer(policy: TransferPolicy, status: Int) async throws {
        try await Self.run({ $0.transfer = policy }) { world async throws in
            for (customer, expected) in [("alice", 200), ("bob", status)] {
                let claim = try PurchaseServerWorld.purchase(
                    "2000000000000002", product: "com.example.app.pro", customerID: customer)
                let answer = try await world.send(.post, "/v1/purchases", claim, as: .client)
                #expect(answer.status == expected, "\(answer.text)")
                guard expected == 409 else { continue }
                #expect(try answer.document?.claimedBy == .anotherCustomer && answer.document?.disposition == .refused)
            }
        }
    }

    @Test("A product under the wrong kind is a matter of the settings, and counts once they agree")
    func wrongKind() async throws {
        try await Self.run {
            $0.products[Self.coins] = RegisteredProduct(kind: .nonConsumable)
        } _: { world async throws in
            let claim = try PurchaseServerWorld.signed("1").claim()
            let refused = try await world.send(.post, "/v1/purchases", claim, as: .client)
            #expect(try refused.line == "422 product_kind_mismatch" && refused.document?.disposition == .operator)
            let clock = world.clock
            let corrected = try await PurchaseLedger.open(
                database: world.database, verifier: PurchaseVerifier(anchors: []), apps: [PurchaseServerWorld.app],
                clock: { clock.now }, entryKey: world.entryKey)
            let answer = try await corrected.answer(EntitlementsOfCustomer(app: "example", customerID: "alice"))
            #expect(answer.entitlements.first?.state == .active && answer.entitlements.first?.balance == 1)
        }
    }
}
