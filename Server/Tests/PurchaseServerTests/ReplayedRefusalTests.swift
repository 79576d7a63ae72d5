import EvidenceMint
import Foundation
import HTTPTypes
import PurchaseAPI
import PurchaseLedger
import TestSupport
import Testing

/// `replayed` in the answers to refused claims.
@Suite("Repeated refusals")
struct ReplayedRefusalTests {
    private static let (coins, pro) = ("com.example.app.coins", "com.example.app.pro")

    /// The reasons for which a claim is refused.
    enum Reason: CaseIterable {
        case revoked
        case product
        case quantity
        case cancelledOrder
        case quantityOfOrder
        case claimed

        var code: String {
            switch self {
            case .revoked: "purchase_revoked"
            case .product: "product_mismatch"
            case .quantity, .quantityOfOrder: "quantity_mismatch"
            case .cancelledOrder: "order_cancelled"
            case .claimed: "already_claimed"
            }
        }
    }

    private static func claim(_ reason: Reason, _ world: PurchaseServerWorld) async throws -> PurchaseRequest {
        func order(_ quantity: Int64) async throws -> OrderMessage {
            try await world.send(
                .post, "/v1/orders",
                OrderRequest(customerID: "alice", productID: coins, quantity: quantity, environment: .production),
                as: .backend
            ).message(OrderMessage.self)
        }
        var claim = try PurchaseServerWorld.signed("1").claim()
        switch reason {
        case .revoked:
            claim = try PurchaseServerWorld.signed("1") { $0.revocationDate = MintedWorld.moment }.claim()
        case .product: claim.productID = pro
        case .quantity: claim.quantity = 5
        case .cancelledOrder:
            let cancelled = try await order(1)
            #expect(try await world.send(.post, "/v1/orders/\(cancelled.orderID)/cancel").status == 200)
            claim.orderID = cancelled.orderID
        case .quantityOfOrder: claim.orderID = try await order(2).orderID
        case .claimed:
            let first = try PurchaseServerWorld.signed("1").claim(customerID: "bob")
            #expect(try await world.send(.post, "/v1/purchases", first, as: .client).status == 200)
        }
        return claim
    }

    @Test(
        "C.14 The answer to a refused claim that is sent again says replayed, like its submission and a restore",
        arguments: Reason.allCases)
    func replayed(_ reason: Reason) async throws {
        try await PurchaseServerWorld.run { world async throws in
            let claim = try await Self.claim(reason, world)
            for isRepeated in [false, true, true] {
                let answer = try await world.send(.post, "/v1/purchases", claim, as: .client)
                let document = try #require(try answer.document)
                #expect(document.code == reason.code)
                #expect(document.replayed == isRepeated)
                let recorded = try await world.submissions().first { $0.submissionID == document.submissionID }
                #expect(recorded?.replayed == isRepeated)
            }
            let restored = try await world.send(
                .post, "/v1/restores",
                RestoreRequest(customerID: "alice", signedTransactions: [try #require(claim.signedTransaction)]),
                as: .client
            ).message(RestoreAnswer.self)
            #expect(restored.purchases.map(\.replayed) == [true])
        }
    }

    @Test("C.14 The answer to a restore whose purchases were refused before, then to a claim, says replayed")
    func restored() async throws {
        try await PurchaseServerWorld.run { world async throws in
            let revoked = try PurchaseServerWorld.signed("1") { $0.revocationDate = MintedWorld.moment }
            for isRepeated in [false, true] {
                let answer = try await world.send(
                    .post, "/v1/restores",
                    RestoreRequest(customerID: "alice", signedTransactions: [revoked.jws]), as: .client
                ).message(RestoreAnswer.self)
                #expect(answer.purchases.map(\.replayed) == [isRepeated])
            }
            let claimed = try await world.send(.post, "/v1/purchases", revoked.claim(), as: .client)
            #expect(try claimed.document?.code == "purchase_revoked")
            #expect(try claimed.document?.replayed == true)
        }
    }
}
