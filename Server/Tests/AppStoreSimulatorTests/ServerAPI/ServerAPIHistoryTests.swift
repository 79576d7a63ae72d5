import AppStoreSimulator
import Foundation
import HTTPTypes
import ServerTestSupport
import Synchronization
import Testing

@Suite("29.1 Statuses, transactions and histories tell the state of the store")
struct ServerAPIHistoryTests {
    @Test("29.1 Statuses have both signed parts, and those that the query names")
    func statuses() async throws {
        try await ServerAPIClient.run { client in
            let id = try await client.buy("gold")
            let answer = try await client.get("/inApps/v1/subscriptions/\(id)")
            #expect(answer.status == 200 && answer.headers[.contentType] == "application/json")
            let object = try answer.object
            #expect(object["environment"] as? String == "Production" && object["bundleId"] as? String == StoreWorld.app)
            #expect(object["appAppleId"] as? Int == 1_600_000_001)
            let data = try #require(object["data"] as? [[String: Any]])
            #expect(data.count == 1 && data[0]["subscriptionGroupIdentifier"] as? String == "club")
            let last = try #require((data[0]["lastTransactions"] as? [[String: Any]])?.first)
            #expect(last["status"] as? Int == 1 && last["originalTransactionId"] as? String == id)
            let transaction = try JWSClaims.read(try #require(last["signedTransactionInfo"] as? String))
            #expect(transaction["transactionId"] as? String == id && transaction["deviceVerification"] == nil)
            let renewal = try JWSClaims.read(try #require(last["signedRenewalInfo"] as? String))
            #expect(renewal["autoRenewStatus"] as? Int == 1)
            // By the app transaction, too, and OR between the values.
            let appTransactionID = try #require(transaction["appTransactionId"] as? String)
            let some = try await client.get("/inApps/v1/subscriptions/\(appTransactionID)?status=1&status=4")
            #expect((try some.object["data"] as? [Any])?.count == 1)
            let none = try await client.get("/inApps/v1/subscriptions/\(id)?status=2")
            #expect((try none.object["data"] as? [Any])?.isEmpty == true)
            #expect(try await client.get("/inApps/v1/subscriptions/\(id)?status=6").errorCode == 4_000_031)
            #expect(try await client.get("/inApps/v1/subscriptions/x").errorCode == 4_000_006)
            #expect(try await client.get("/inApps/v1/subscriptions/123").errorCode == 4_040_010)
        }
    }

    @Test("29.1 The identifiers of one environment are unknown in the other; the host selects it")
    func environments() async throws {
        let configuration = SimulatorClient.configuration {
            $0.allowedHosts = ["api.storekit-sandbox.apple.com", "api.storekit.apple.com"]
        }
        try await ServerAPIClient.run(configuration) { client in
            let (real, tested) = (try await client.buy("coins"), try await client.buy("coins", by: "tester"))
            #expect(try await client.get("/inApps/v1/transactions/\(real)").status == 200)
            #expect(try await client.get("/inApps/v1/transactions/\(real)", sandbox: true).errorCode == 4_040_010)
            #expect(try await client.get("/inApps/v1/transactions/\(tested)").errorCode == 4_040_010)
            let sandbox = try await client.get("/inApps/v1/subscriptions/\(tested)", sandbox: true)
            #expect(try sandbox.status == 200 && sandbox.object["appAppleId"] == nil)
            let token = try client.token(client.claims())
            for (host, id, status) in [
                ("api.storekit-sandbox.apple.com", tested, 200), ("api.storekit-sandbox.apple.com", real, 404),
                ("api.storekit.apple.com", real, 200), ("api.storekit.apple.com", tested, 404),
            ] {
                let answer = try await RawRequest.send(
                    [
                        "GET /inApps/v1/transactions/\(id) HTTP/1.1", "Host: \(host)",
                        "Authorization: Bearer \(token)",
                    ], port: client.simulator.http.port)
                #expect(answer.status == status, "\(host) \(answer.text.prefix(300))")
            }
        }
    }

    @Test("29.1 A history comes in pages of 20 by the last change, and its last revision yields what changed since")
    func pages() async throws {
        try await ServerAPIClient.run { client in
            var ids: [String] = []
            for _ in 0..<45 { ids.append(try await client.buy("coins")) }
            let path = "/inApps/v2/history/\(ids[0])"
            let (found, revision) = try await Self.all(client, path, "")
            #expect(found == ids)
            // Nothing new.
            let later = try await client.get("\(path)?revision=\(revision)")
            #expect(try later.signed("signedTransactions").isEmpty && later.object["hasMore"] as? Bool == false)
            #expect(try later.object["revision"] as? String == revision)
            try await client.simulator.post("/control/transactions/\(ids[3])/refund")
            let new = try await client.buy("coins")
            let changed = try await client.get("\(path)?revision=\(revision)").signed("signedTransactions")
            #expect(changed.map { $0["transactionId"] as? String } == [ids[3], new])
            #expect(changed[0]["revocationDate"] != nil)
            let (downwards, top) = try await Self.all(client, path, "sort=DESCENDING")
            #expect(downwards == [new, ids[3]] + ids.filter { $0 != ids[3] }.reversed())
            try await client.simulator.post("/control/transactions/\(ids[7])/refund")
            let since = try await client.get("\(path)?sort=DESCENDING&revision=\(top)").signed("signedTransactions")
            #expect(since.map { $0["transactionId"] as? String } == [ids[7]])
            // The rest of the query must be repeated.
            #expect(try await client.get("\(path)?revision=\(top)").errorCode == 4_000_005)
            #expect(try await client.get("\(path)?revision=x").errorCode == 4_000_005)
        }
    }

    @Test("29.1 Filters of a history: several values of a key are alternatives, several keys must all fit")
    func filters() async throws {
        try await ServerAPIClient.run { client in
            let coins = try await client.buy("coins")
            let gold = try await client.buy("gold")
            try await client.simulator.post("/control/transactions/\(coins)/refund")
            func ids(_ query: String) async throws -> [String] {
                try await client.get("/inApps/v2/history/\(gold)?\(query)").signed("signedTransactions")
                    .compactMap { $0["transactionId"] as? String }
            }
            #expect(try await ids("revoked=True") == [coins])
            #expect(try await ids("revoked=false") == [gold])
            #expect(try await ids("excludeRevoked=true") == [gold])
            #expect(try await ids("productType=AUTO_RENEWABLE&productType=CONSUMABLE") == [gold, coins])
            #expect(try await ids("productType=AUTO_RENEWABLE&productId=coins").isEmpty)
            #expect(try await ids("productId=coins&productId=gold") == [gold, coins])
            #expect(try await ids("subscriptionGroupIdentifier=club") == [gold])
            #expect(try await ids("inAppOwnershipType=FAMILY_SHARED").isEmpty)
            let start = Int(StoreWorld.start.timeIntervalSince1970) * 1000
            #expect(try await ids("startDate=\(start)").count == 2)
            #expect(try await ids("endDate=\(start)").isEmpty)
            for (query, code) in [
                ("startDate=x", 4_000_015), ("endDate=x", 4_000_016), ("sort=UP", 4_000_021),
                ("productType=GIFT", 4_000_022), ("productId=", 4_000_023),
                ("subscriptionGroupIdentifier=", 4_000_024), ("excludeRevoked=1", 4_000_025),
                ("inAppOwnershipType=x", 4_000_026), ("revoked=1", 4_000_030),
            ] {
                #expect(
                    try await client.get("/inApps/v2/history/\(gold)?\(query)").errorCode == code, "\(query)")
            }
            // The first version leaves finished consumables out.
            let more = try await client.buy("coins")
            #expect(try await client.send(.post, "/inApps/v1/transactions/\(more)/finish").status == 200)
            let old = try await client.get("/inApps/v1/history/\(gold)").signed("signedTransactions")
            #expect(old.compactMap { $0["transactionId"] as? String } == [gold, coins])
            #expect(try await ids("").contains(more))
        }
    }

    @Test("29.1 Keys, revisions and what was said outlive a restart")
    func restart() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "assay-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { #expect(throws: Never.self) { try FileManager.default.removeItem(at: folder) } }
        let database = folder.appending(path: "store.sqlite").path
        let configuration = SimulatorClient.configuration { $0.database = database }
        let kept = Mutex<(client: ServerAPIClient, id: String, revision: String)?>(nil)
        try await ServerAPIClient.run(configuration) { client in
            let id = try await client.buy("coins")
            let revision = try await client.get("/inApps/v2/history/\(id)").object["revision"] as? String
            let body: [String: Any] = [
                "customerConsented": true, "sampleContentProvided": true, "deliveryStatus": "DELIVERED",
            ]
            #expect(try await client.send(.put, "/inApps/v2/transactions/consumption/\(id)", body).status == 202)
            let found = try #require(revision)
            kept.withLock { $0 = (client, id, found) }
        }
        let (former, id, revision) = try #require(kept.withLock { $0 })
        try await SimulatorClient.run(configuration) { simulator in
            let client = ServerAPIClient(simulator, key: former)
            let path = "/inApps/v2/history/\(id)?revision=\(revision)"
            #expect(try await client.get(path).signed("signedTransactions").isEmpty)
            try await simulator.post("/control/transactions/\(id)/refund")
            #expect(try await client.get(path).signed("signedTransactions").count == 1)
            let said = try await simulator.get("/control/consumption").object
            #expect((said[id] as? [String: Any])?["delivery_status"] as? String == "DELIVERED")
        }
    }

    @Test("29.1 A crowd of customers is sold to at once, and each of them has a history")
    func crowd() async throws {
        try await ServerAPIClient.run { client in
            let wanted: [String: Any] = [
                "bundle_id": StoreWorld.app, "product_id": "gold", "prefix": "old", "count": 300,
                "environment": "production",
            ]
            let answer = try await client.simulator.post("/control/purchases/crowd", wanted)
            let purchases = try #require(try answer.object["purchases"] as? [[String: Any]], "\(answer.text)")
            #expect(purchases.count == 300 && purchases[299]["customer_id"] as? String == "old-300")
            for purchase in [purchases[0], purchases[299]] {
                let id = try #require(purchase["transaction_id"] as? String)
                let found = try await client.get("/inApps/v2/history/\(id)").signed("signedTransactions")
                #expect(found.map { $0["transactionId"] as? String } == [id])
            }
            #expect(try await client.simulator.post("/control/purchases/crowd", wanted).status == 409)
        }
    }

    @Test("29.1 Refunds, orders and app transactions are found")
    func lookups() async throws {
        try await ServerAPIClient.run { client in
            var ids: [String] = []
            for _ in 0..<3 { ids.append(try await client.buy("coins")) }
            for id in ids.dropLast() { try await client.simulator.post("/control/transactions/\(id)/refund") }
            for path in ["/inApps/v2/refund/lookup/\(ids[2])", "/inApps/v1/refund/lookup/\(ids[2])"] {
                let found = try await client.get(path).signed("signedTransactions")
                #expect(Set(found.compactMap { $0["transactionId"] as? String }) == Set(ids.dropLast()), "\(path)")
            }
            #expect(try await client.get("/inApps/v1/refund/lookup/123").errorCode == 4_040_005)
            let order = try await client.simulator.get("/control/transactions/\(ids[0])").text("order_id")
            let found = try await client.get("/inApps/v1/lookup/\(order)")
            #expect(try found.object["status"] as? Int == 0)
            #expect(try found.signed("signedTransactions").map { $0["transactionId"] as? String } == [ids[0]])
            let unknown = try await client.get("/inApps/v1/lookup/MS0ABCDEFG").object
            #expect(unknown["status"] as? Int == 1 && unknown.keys.sorted() == ["status"])
            #expect(try await client.get("/inApps/v1/lookup/M-1").errorCode == 4_000_000)
            // The sandbox does not have it.
            let sandbox = try await client.get("/inApps/v1/lookup/\(order)", sandbox: true)
            #expect(sandbox.status == 404 && sandbox.text.isEmpty)
            let app = try await client.get("/inApps/v1/transactions/appTransactions/\(ids[0])").object
            let claims = try JWSClaims.read(try #require(app["signedAppTransactionInfo"] as? String))
            #expect(claims["bundleId"] as? String == StoreWorld.app && claims["deviceVerification"] == nil)
            let id = try #require(claims["appTransactionId"] as? String)
            #expect(try await client.get("/inApps/v1/transactions/\(id)").errorCode == 4_000_048)
        }
    }

    /// All pages of a history, and the last revision.
    private static func all(
        _ client: ServerAPIClient, _ path: String, _ query: String
    ) async throws -> (ids: [String], revision: String) {
        var ids: [String] = []
        var revision = ""
        while true {
            let parts = [query, revision.isEmpty ? "" : "revision=\(revision)"].filter { !$0.isEmpty }
            let answer = try await client.get("\(path)?\(parts.joined(separator: "&"))")
            let page = try answer.signed("signedTransactions")
            ids += page.compactMap { $0["transactionId"] as? String }
            revision = try #require(try answer.object["revision"] as? String)
            let hasMore = try answer.object["hasMore"] as? Bool == true
            #expect(page.count == 20 || !hasMore)
            guard hasMore else { return (ids, revision) }
        }
    }
}
