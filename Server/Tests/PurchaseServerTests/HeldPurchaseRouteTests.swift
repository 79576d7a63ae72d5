import EvidenceMint
import Foundation
import HTTPTypes
import PurchaseAPI
import PurchaseLedger
import PurchaseServer
import TestSupport
import Testing

/// `GET /v1/purchases?owner=none`, and what is signed about a commitment.
@Suite("Held purchases over HTTP")
struct HeldPurchaseRouteTests {
    private static func observe(_ world: PurchaseServerWorld, _ evidence: [UInt8]) async throws {
        _ = try await world.ledger.perform(
            ObserveEvidence(world.ledger.examine(EvidenceSubmission(app: nil, source: "test", evidence: evidence))))
    }

    @Test("28.2 The purchases that nobody owns are listed in pages, and filtered by environment and product")
    func pages() async throws {
        try await PurchaseServerWorld.run { world async throws in
            for number in 1...5 {
                try await Self.observe(world, try Array(PurchaseServerWorld.signed("\(number)").jws.utf8))
            }
            var (ids, path): ([String], String?) = ([], "/v1/purchases?owner=none&limit=2")
            while let next = path {
                let page = try await world.send(.get, next, as: .backend).message(TransactionPage.self)
                #expect(page.purchases.count <= 2 && page.purchases.allSatisfy { $0.customerID == nil })
                ids += page.purchases.map(\.transactionID)
                path = page.nextCursor.map { "/v1/purchases?owner=none&limit=2&cursor=\($0)" }
            }
            #expect(ids == ["5", "4", "3", "2", "1"])
            #expect(
                try await world.send(.post, "/v1/purchases", PurchaseServerWorld.signed("3").claim()).status == 200)
            for (query, expected) in [
                ("owner=none", 4), ("owner=none&product_id=com.example.app.coins", 4),
                ("owner=none&product_id=never", 0),
                ("owner=none&environment=Production", 4), ("owner=none&environment=Sandbox", 0),
            ] {
                let page = try await world.send(.get, "/v1/purchases?\(query)", as: .backend)
                    .message(TransactionPage.self)
                #expect(page.purchases.count == expected, "\(query)")
            }
            for query in ["", "?owner=alice", "?owner=", "?owner=none&limit=0", "?owner=none&cursor=x"] {
                let refused = try await world.send(.get, "/v1/purchases\(query)", as: .backend)
                let problem = try refused.problem
                #expect(refused.status == 400 && problem == "field_malformed", "\(query)")
            }
        }
    }
}
