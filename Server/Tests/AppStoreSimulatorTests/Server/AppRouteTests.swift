import Foundation
import Testing

@Suite("The simulator's interface for apps")
struct AppRouteTests {
    private static let owner = "bundle_id=\(StoreWorld.app)&customer_id=ada"

    private static func pay(_ client: SimulatorClient) async throws -> SimulatorClient.Answer {
        try await client.post(
            "/app/purchases", ["bundle_id": StoreWorld.app, "product_id": "coins", "customer_id": "ada"])
    }

    private static func transactions(_ client: SimulatorClient, _ path: String) async throws -> [[String: Any]] {
        let answer = try await client.get(path)
        return try #require(try answer.object["transactions"] as? [[String: Any]], "\(answer.text)")
    }

    @Test("A purchase is in the queue until it is finished, and among the updates after the event before it")
    func queue() async throws {
        try await SimulatorClient.run { client in
            try await client.openShop()
            let before = try #require(try await client.get("/app/queue?\(Self.owner)").object["last"] as? Int)
            let id = try await Self.pay(client).text("transaction", "transaction", "transaction_id")
            #expect(try await Self.transactions(client, "/app/queue?\(Self.owner)").count == 1)
            #expect(try await Self.transactions(client, "/app/updates?\(Self.owner)&after=\(before)").count == 1)
            #expect(try await client.post("/app/finish", ["transaction_id": id]).status == 200)
            #expect(try await Self.transactions(client, "/app/queue?\(Self.owner)").isEmpty)
            #expect(try await client.get("/app/updates?\(Self.owner)&after=x").status == 422)
            #expect(try await client.get("/app/queue?customer_id=ada").status == 422)
        }
    }

    @Test("1 What is the customer's now is listed without a restore, and no consumable is in it")
    func entitlements() async throws {
        try await SimulatorClient.run { client in
            try await client.openShop()
            _ = try await Self.pay(client)
            let path = "/app/current?\(Self.owner)"
            #expect(try await Self.transactions(client, path).isEmpty)
            try await client.buy("gold")
            let listed = try await Self.transactions(client, path)
            #expect(listed.count == 1, "\(listed)")
            let evidence = listed.compactMap { $0["evidence"] as? [String: Any] }
            #expect(evidence.filter { $0["signed_renewal_info"] is String }.count == 1)
            #expect(try await Self.transactions(client, path).count == 1)
            #expect(try await Self.transactions(client, "/app/queue?\(Self.owner)").count == 2)
        }
    }

    @Test("1 The newest transaction of a product is listed, also after a refund")
    func latest() async throws {
        try await SimulatorClient.run { client in
            try await client.openShop()
            let path = "/app/latest?\(Self.owner)&product_id=coins"
            #expect(try await Self.transactions(client, path).isEmpty)
            let id = try await Self.pay(client).text("transaction", "transaction", "transaction_id")
            #expect(try await Self.transactions(client, path).count == 1)
            #expect(try await client.post("/app/finish", ["transaction_id": id]).status == 200)
            #expect(try await Self.transactions(client, path).isEmpty)
            try await client.post("/control/transactions/\(id)/refund", [:])
            let refunded = try #require(try await Self.transactions(client, path).first)
            #expect((refunded["transaction"] as? [String: Any])?["revocation"] != nil)
            #expect(try await client.get("/app/latest?\(Self.owner)").status == 422)
        }
    }

    @Test(
        "A payment that waits becomes a purchase when it is approved, and nothing when it is declined",
        arguments: ["ask-to-buy", "interrupted"])
    func waiting(mode: String) async throws {
        try await SimulatorClient.run { client in
            try await client.openShop()
            try await client.post("/control/payments/mode", ["customer_id": "ada", "mode": mode])
            for end in ["approve", "decline"] {
                let payment = try await Self.pay(client)
                #expect(try payment.text("result") == mode)
                let id = try payment.text("payment_id")
                #expect(try await client.post("/control/payments/\(id)/\(end)").status == 200)
                #expect(try await client.post("/control/payments/\(id)/\(end)").text("code") == "unknown_payment")
            }
            #expect(try await Self.transactions(client, "/app/queue?\(Self.owner)").count == 1)
        }
    }

    @Test(
        "A device has no receipt before the first purchase, and one that lags shows the purchase when it is refreshed")
    func receipt() async throws {
        try await SimulatorClient.run { client in
            try await client.openShop()
            #expect(try await client.get("/app/receipt?\(Self.owner)").text("code") == "no_receipt")
            try await client.post(
                "/control/payments/mode", ["customer_id": "ada", "mode": "normal", "receipt_lags": true])
            _ = try await Self.pay(client)
            #expect(try await client.get("/app/receipt?\(Self.owner)").text("code") == "no_receipt")
            let owner = ["bundle_id": StoreWorld.app, "customer_id": "ada"]
            let refreshed = try await client.post("/app/receipt/refresh", owner).text("app_receipt")
            #expect(try await client.verify(refreshed).object["status"] as? Int == 0)
            #expect(try await client.get("/app/receipt?\(Self.owner)").status == 200)
        }
    }
}
