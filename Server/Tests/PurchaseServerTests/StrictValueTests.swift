import EvidenceMint
import Foundation
import HTTPTypes
import PurchaseAPI
import PurchaseLedger
import PurchaseServer
import TestSupport
import Testing

/// Values of parameters and members that no request can mean: refused with 400, never ignored.
@Suite("Strict values", .server)
struct StrictValueTests {
    let world: PurchaseServerWorld = CurrentWorld.opened()

    private static let (coins, pro) = ("com.example.app.coins", "com.example.app.pro")

    /// A request with each body that has an environment.
    private static func bodies(environment: String) -> [(path: String, members: [String: String])] {
        let requests: [(path: String, members: [String: String])] = [
            ("/v1/orders", ["customer_id": "alice", "product_id": coins]),
            ("/v1/customers/alice/consume", ["product_id": coins, "consumption_id": "1"]),
            ("/v1/customers/alice/grants", ["product_id": pro, "reason": "x"]),
            ("/v1/customers/alice/revocations", ["transaction_id": "1", "reason": "x"]),
            ("/v1/purchases/1/move", ["customer_id": "bob", "reason": "x"]),
        ]
        return requests.map { path, members in
            (path: path, members: members.merging(["environment": environment]) { $1 })
        }
    }

    @Test(
        "E.1 The environment in a body is one that exists, on every route that has one",
        arguments: ["sandbx", "Production2", "é", "PROD"])
    func environments(_ name: String) async throws {
        for (path, members) in Self.bodies(environment: name) {
            let data = try JSONSerialization.data(withJSONObject: members)
            let answer = try await world.send(.post, path, data: data)
            #expect(try answer.line == "400 field_malformed", "\(path): \(answer.text)")
            #expect(try answer.document?.expected?.hasPrefix("environment: ") == true, "\(path)")
            #expect(try answer.document?.found == name, "\(path)")
        }
        for name in ["Production", "sandbox", "SANDBOX"] {
            for (path, members) in Self.bodies(environment: name) {
                let data = try JSONSerialization.data(withJSONObject: members)
                #expect(try await world.send(.post, path, data: data).status != 400, "\(path) \(name)")
            }
        }
    }

    @Test("E.1 A parameter of the query that is repeated is refused and named, on every route that has parameters")
    func repeated() async throws {
        let routes: [(HTTPRequest.Method, String, [String])] = [
            (.get, "/v1/orders", ["status", "customer_id", "limit", "cursor"]),
            (.get, "/v1/customers/a/purchases", ["limit", "cursor"]),
            (.get, "/v1/customers/a/entitlements", ["environment", "at"]),
            (.get, "/v1/customers/a/timeline", ["limit", "cursor"]),
            (
                .get, "/v1/submissions",
                [
                    "customer_id", "order_id", "transaction_id", "verdict", "code", "app_store", "from", "to",
                    "limit", "cursor",
                ]
            ),
            (.get, "/v1/events", ["customer_id", "order_id", "transaction_id", "limit", "cursor"]),
            (.get, "/v1/products", ["limit", "cursor"]), (.get, "/v1/testers", ["limit", "cursor"]),
            (.delete, "/v1/testers/a", ["reason"]), (.delete, "/v1/customers/a/grants/b", ["reason"]),
            (.delete, "/v1/customers/a/revocations/b", ["reason"]),
        ]
        for (method, path, parameters) in routes {
            for name in parameters {
                for query in ["\(name)=a&\(name)=a", "\(name)&\(name)=b", "\(name)=a&\(name)"] {
                    let answer = try await world.send(method, "\(path)?\(query)")
                    #expect(try answer.line == "400 parameter_repeated", "\(path)?\(query): \(answer.text)")
                    #expect(try answer.document?.found == name, "\(path)?\(query)")
                }
            }
        }
        let scope = try await world.send(.get, "/v1/orders?limit=1&limit=1", as: .client)
        #expect(try scope.problem == "scope_insufficient")
        let both = try await world.send(.get, "/v1/orders?customer_id=alice&status=paid", as: .backend)
        #expect(both.status == 200)
    }

    @Test("E.1 A filter by a code that does not exist, or by an order id that is no UUID, is refused")
    func filters() async throws {
        for (query, expected) in [
            ("submissions?code=foo", "code: "), ("submissions?code=purchase_revokd", "code: "),
            ("submissions?order_id=foo", "order_id: a UUID"), ("events?order_id=foo", "order_id: a UUID"),
            ("events?order_id=", "order_id"), ("submissions?code=", "code"),
        ] {
            let answer = try await world.send(.get, "/v1/\(query)", as: .backend)
            #expect(try answer.line == "400 field_malformed", "\(query): \(answer.text)")
            #expect(try answer.document?.expected?.hasPrefix(expected) == true, "\(query): \(answer.text)")
        }
        let meant = try await world.send(.get, "/v1/submissions?code=purchase_revokd", as: .backend)
        #expect(try meant.document?.expected == "code: purchase_revoked")
        for query in [
            "submissions?code=accepted", "submissions?code=purchase_revoked", "submissions?code=signature_invalid",
            "submissions?order_id=2F0C6F5E-6F3C-4A0E-9B0A-7D1F5B1C9E11",
            "events?order_id=2f0c6f5e-6f3c-4a0e-9b0a-7d1f5b1c9e11",
        ] {
            #expect(try await world.send(.get, "/v1/\(query)", as: .backend).status == 200, "\(query)")
        }
    }

    @Test("E.1 An explicit null is refused in every body, except in those of claims and restores, where it is absence")
    func nulls() async throws {
        let orders = try await world.send(
            .post, "/v1/orders", OrderRequest(customerID: "alice", productID: Self.coins, quantity: 3),
            as: .backend
        ).message(OrderMessage.self)
        let claim = try PurchaseServerWorld.signed("1") { $0.quantity = 3 }.claim(orderID: orders.orderID)
        let json = try JSONSerialization.jsonObject(with: try JSONEncoder().encode(claim))
        var members = try #require(json as? [String: Any])
        for name in ["receipt_data", "quantity", "customer_id"] { members[name] = NSNull() }
        let claimed = try await world.send(
            .post, "/v1/purchases", data: try JSONSerialization.data(withJSONObject: members), as: .client)
        #expect(claimed.status == 200, "\(claimed.text)")
        let restore: [String: Any] = [
            "customer_id": "alice", "receipt_data": NSNull(),
            "signed_transactions": [try #require(claim.signedTransaction)],
        ]
        let restored = try await world.send(
            .post, "/v1/restores", data: try JSONSerialization.data(withJSONObject: restore), as: .client)
        #expect(restored.status == 200, "\(restored.text)")
        let bodies: [(String, [String: Any], [String])] = [
            ("/v1/orders/\(orders.orderID)/fulfil", [:], ["units"]),
            (
                "/v1/orders", ["customer_id": "alice", "product_id": Self.coins],
                ["quantity", "metadata", "environment", "accepts_renewal"]
            ),
            (
                "/v1/customers/alice/consume", ["product_id": Self.coins],
                ["quantity", "consumption_id", "environment"]
            ),
            (
                "/v1/customers/alice/grants", ["product_id": Self.coins, "reason": "x"],
                ["quantity", "environment", "until"]
            ),
            (
                "/v1/customers/alice/revocations", ["transaction_id": "1", "reason": "x"],
                ["environment", "grant_id"]
            ), ("/v1/customers/alice/merge", ["into": "bob"], ["reason"]),
            ("/v1/purchases/1/move", ["customer_id": "bob", "reason": "x"], ["environment"]),
            ("/v1/inspect", ["evidence": "x"], ["receipt_data", "signed_transaction"]),
        ]
        for (path, required, optional) in bodies {
            for name in optional {
                let body = try JSONSerialization.data(withJSONObject: required.merging([name: NSNull()]) { $1 })
                let answer = try await world.send(.post, path, data: body, idempotencyKey: UUID().uuidString)
                #expect(try answer.line == "400 field_malformed", "\(path) \(name): \(answer.text)")
                #expect(try answer.document?.expected?.hasPrefix("\(name): ") == true, "\(path) \(name)")
                #expect(try answer.document?.found == "null", "\(path) \(name)")
            }
        }
        // A required member that is null is missing.
        let missing = try await world.send(.post, "/v1/orders", data: Data(#"{"customer_id": null}"#.utf8))
        #expect(try missing.document?.code == "field_missing")
        let order = try await world.send(.get, "/v1/orders/\(orders.orderID)", as: .backend)
        #expect(try order.message(OrderMessage.self).status == .paid)
    }
}
