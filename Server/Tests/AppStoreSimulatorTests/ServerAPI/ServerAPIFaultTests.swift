import AppStoreSimulator
import Foundation
import HTTPTypes
import PurchaseVerification
import ServerTestSupport
import Testing

@Suite("29.1 Limits and faults of the App Store Server API")
struct ServerAPIFaultTests {
    @Test("29.1 Requests over the limit get 429 with a time in milliseconds; a factor raises the limit")
    func limits() async throws {
        // So low that the speed of the machine does not matter: one request, and the next after 1,000 seconds.
        try await ServerAPIClient.run(limitFactor: 0.001) { client in
            // The app has none, and each question counts.
            let path = "/inApps/v1/messaging/realtime/url"
            #expect(try await client.get(path).status == 404)
            let refused = try await client.get(path)
            #expect(try refused.status == 429 && refused.errorCode == 4_290_000)
            let time = try #require(refused.headers[.retryAfter].flatMap { Int64($0) })
            let now = Int64(Date().timeIntervalSince1970 * 1000)
            #expect((now...now + 1_001_000).contains(time), "\(time - now)")
            // Another operation, another environment and another app have their own.
            #expect(try await client.send(.delete, path).status == 404)
            #expect(try await client.get(path, sandbox: true).status == 404)
            try await client.simulator.post("/control/apps", ["bundle_id": "com.example.other"])
            var other = client
            other.bundleID = "com.example.other"
            #expect(try await other.get(path).status == 404)
            #expect(try await other.get(path).status == 429)
            #expect(try await client.simulator.post("/control/server-api/limits", ["factor": 1_000_000]).status == 200)
            for _ in 0..<20 { #expect(try await client.get(path).status == 404) }
        }
    }

    private static func set(_ client: ServerAPIClient, _ fault: [String: Any]) async throws {
        let answer = try await client.simulator.post("/control/faults/server-api", fault)
        #expect(answer.status == 201, "\(answer.text)")
    }

    @Test("29.1 Errors of the service are told as Apple tells them, and carry nothing out")
    func errors() async throws {
        try await ServerAPIClient.run { client in
            let id = try await client.buy("coins")
            let path = "/inApps/v1/transactions/\(id)"
            for (fault, status, code) in [
                (["kind": "retryable"], 500, 5_000_001), (["kind": "error", "code": 5_000_000], 500, 5_000_000),
                (["kind": "error", "code": 4_040_004], 404, 4_040_004), (["kind": "error", "status": 502], 502, nil),
                (["kind": "outage"], 503, nil), (["kind": "unauthorized"], 401, nil),
                (["kind": "too-many-requests"], 429, 4_290_000),
            ] as [([String: Any], Int, Int?)] {
                try await Self.set(client, fault)
                let answer = try await client.get(path)
                #expect(answer.status == status, "\(fault) \(answer.text)")
                if let code { #expect(try answer.errorCode == code) }
                #expect((answer.headers[.retryAfter]?.count ?? 13) == (status == 503 ? 2 : 13))
                #expect(try await client.get(path).status == 200)
            }
            // Only the named operation and environment.
            try await Self.set(client, ["kind": "retryable", "operation": "history", "environment": "production"])
            #expect(try await client.get(path).status == 200)
            #expect(try await client.get("/inApps/v2/history/\(id)", sandbox: true).status == 404)
            #expect(try await client.get("/inApps/v2/history/\(id)").status == 500)
            try await Self.set(client, ["kind": "outage"])
            #expect(try await client.send(.post, "\(path)/finish").status == 503)
            let answer = try await client.simulator.get("/control/transactions/\(id)").object
            #expect((answer["transaction"] as? [String: Any])?["is_finished"] as? Bool == false)
        }
    }

    @Test("29.1 Answers can be broken, foreign, stale, or signed by another")
    func answers() async throws {
        try await ServerAPIClient.run { client in
            try await client.simulator.post(
                "/control/customers", ["customer_id": "grace", "environment": "production"])
            let (id, other) = (try await client.buy("coins"), try await client.buy("coins", by: "grace"))
            let path = "/inApps/v1/transactions/\(id)"
            func claims() async throws -> [String: Any] {
                let answer = try await client.get(path).object
                return try JWSClaims.read(try #require(answer["signedTransactionInfo"] as? String))
            }
            try await Self.set(client, ["kind": "another-transaction"])
            #expect(try await claims()["transactionId"] as? String == other)
            try await Self.set(client, ["kind": "stale", "count": 1])
            try await client.simulator.post("/control/transactions/\(id)/refund")
            #expect(try await claims()["revocationDate"] == nil)
            #expect(try await claims()["revocationDate"] != nil)
            try await Self.set(client, ["kind": "broken-json"])
            let broken = try await client.get(path)
            #expect(broken.status == 200 && (try? broken.object) == nil)
            try await Self.set(client, ["kind": "empty-object"])
            #expect(try await client.get(path).object.isEmpty)
            try await Self.set(client, ["kind": "wrong-types"])
            #expect(try await client.get("/inApps/v2/history/\(id)").object["hasMore"] as? String == "false")
            try await Self.set(client, ["kind": "html"])
            #expect(try await client.get(path).text.hasPrefix("<html>"))
            for kind in ["reset", "closed-body"] {
                try await Self.set(client, ["kind": kind])
                await #expect(throws: (any Error).self) { try await client.get(path) }
            }
            try await Self.set(client, ["kind": "silence", "milliseconds": 10])
            await #expect(throws: (any Error).self) { try await client.get(path) }
            let fault = ["kind": "signed_transaction", "fault": "wrong-root"]
            #expect(try await client.simulator.post("/control/faults/evidence", fault).status == 201)
            let token = try #require(try await client.get(path).object["signedTransactionInfo"] as? String)
            #expect(throws: (any Error).self) {
                try DeliveryWorld.verifier().verify(Array(token.utf8), policies: [])
            }
        }
    }
}
