import AppStoreConnection
import Foundation
import HTTPTypes
import NIOCore
import PurchaseVerification
import Synchronization
import Testing

@Suite("The client of the App Store Server API and the simulated store", .serialized)
struct SimulatedServerAPITests {
    @Test("Questions about a purchase are answered with Apple's signature, in the environment that has it")
    func questions() async throws {
        try await SimulatedServerAPI.run { world in
            for (customer, environment) in [("ada", ValidationEnvironment.production), ("tester", .sandbox)] {
                let bought = try await world.store.buy("gold", by: customer)
                let id = bought.transaction
                let transaction = try await world.client.call(GetTransaction(id), for: world.app)
                #expect(transaction.environment == environment)
                #expect(transaction.value.content.transactionID == id)
                let history = try await world.client.call(GetTransactionHistory(id), for: world.app)
                #expect(history.value.transactions.map { $0.content.transactionID } == [id])
                #expect(history.value.concerns(id) && !history.value.hasMore && history.value.revision != nil)
                let revision = history.value.revision
                let later = try await world.client.call(
                    GetTransactionHistory(id, revision: revision), for: world.app, in: environment)
                #expect(later.value.transactions.isEmpty)
                let statuses = try await world.client.call(GetSubscriptionStatuses(id), for: world.app).value
                #expect(statuses.subscription(of: id)?.status == .active)
                #expect(statuses.subscription(of: id)?.renewalInfo != nil)
                let refunds = try await world.client.call(GetRefundHistory(id), for: world.app).value
                #expect(refunds.transactions.isEmpty)
                _ = try await world.client.call(FinishTransaction(id), for: world.app)
                let token = UUID()
                let body = ["appAccountToken": token.uuidString.lowercased()]
                _ = try await world.client.call(UnsignedOperation(.setAppAccountToken, id, json: body), for: world.app)
                let after = try await world.client.call(GetTransaction(id), for: world.app).value
                #expect(after.content.appAccountToken == token)
            }
            #expect(await world.code(of: GetTransaction("123")) == "app_store_refused 4040010")
            #expect(await world.code(of: GetTransaction("x")) == "app_store_refused 4000006")
        }
    }

    @Test("The history of notifications comes page by page, and each of them verifies")
    func notifications() async throws {
        try await SimulatedServerAPI.run { world in
            for _ in 0..<25 { _ = try await world.store.buy("coins") }
            let now = Int64(ConnectionWorld.start.timeIntervalSince1970 * 1000)
            let filter = GetNotificationHistory.Filter(from: now - 86_400_000, to: now + 86_400_000)
            var (token, ids): (String?, [String]) = (nil, [])
            repeat {
                let page = try await world.client.call(
                    GetNotificationHistory(filter, paginationToken: token), for: world.app, in: .production
                ).value
                ids += page.notifications.compactMap { $0.notification?.notificationUUID }
                #expect(page.notifications.allSatisfy { $0.notification != nil })
                token = page.paginationToken
            } while token != nil
            #expect(ids.count == Set(ids).count)
            let old = GetNotificationHistory.Filter(from: now - 200 * 86_400_000, to: now)
            #expect(await world.code(of: GetNotificationHistory(old)) == "app_store_refused 4000012")
        }
    }

    /// Every fault of the simulator, the codes that a call may end with, and whether a second call is answered.
    private static let faults: [(body: [String: any Sendable], codes: [String])] = [
        (["kind": "outage", "count": 4], ["app_store_unavailable"]),
        (["kind": "outage", "count": 1], ["answered"]),
        (["kind": "retryable", "count": 3], ["answered"]),
        (["kind": "retryable", "count": 4], ["app_store_unavailable 5000001"]),
        (["kind": "error", "code": 4_040_002, "count": 4], ["app_store_unavailable 4040002"]),
        (["kind": "error", "code": 4_123_456, "count": 1], ["app_store_refused 4123456"]),
        (["kind": "error", "status": 502, "count": 2], ["answered"]),
        (["kind": "reset", "count": 4], ["app_store_unreachable"]),
        (["kind": "closed-body", "count": 4], ["app_store_unreachable"]),
        (["kind": "html", "count": 4], ["app_store_unreadable"]),
        (["kind": "broken-json", "count": 4], ["app_store_unreadable"]),
        (["kind": "wrong-types", "count": 4], ["app_store_unreadable", "answered"]),
        (["kind": "empty-object", "count": 4], ["app_store_unreadable"]),
        (["kind": "huge-body", "count": 4], ["app_store_too_large"]),
        (["kind": "too-many-requests", "milliseconds": 5000, "count": 1], ["app_store_rate_limited 4290000"]),
        (["kind": "unauthorized", "environment": "production", "count": 1], ["app_store_refused 4040010"]),
        (["kind": "another-transaction", "count": 1], ["app_store_other_answer"]),
        (["kind": "another-app", "count": 1], ["app_store_unverified"]),
    ]

    @Test("The fault table: no fault is taken for an answer, and the next call is answered", arguments: faults.indices)
    func faultTable(_ index: Int) async throws {
        let fault = Self.faults[index]
        try await SimulatedServerAPI.run { world in
            try await world.store.post("apps", ["bundle_id": "com.example.other"])
            try await world.store.post(
                "products", ["bundle_id": "com.example.other", "product_id": "gems", "kind": "consumable"])
            try await world.store.post(
                "purchases", ["bundle_id": "com.example.other", "product_id": "gems", "customer_id": "grace"])
            _ = try await world.store.buy("coins", by: "grace")
            let id = try await world.store.buy("coins").transaction
            try await world.store.post("faults/server-api", fault.body)
            let code = await world.code(of: GetTransaction(id))
            #expect(fault.codes.contains(code), "\(fault.body): \(code)")
            _ = try await world.store.call("faults", .delete)
            world.clock.advance(.seconds(60))
            #expect(await world.code(of: GetTransaction(id)) == "answered", "\(fault.body)")
        }
    }

    @Test("An answer that was recorded before a refund is not believed an hour later")
    func stale() async throws {
        try await SimulatedServerAPI.run { world in
            let id = try await world.store.buy("coins").transaction
            try await world.store.post("faults/server-api", ["kind": "stale", "count": 1])
            try await world.store.post("clock", ["time": "2026-01-31T14:00:00Z"])
            world.time.advance(seconds: 7200)
            #expect(await world.code(of: GetTransaction(id)) == "app_store_old_answer")
            #expect(await world.code(of: GetTransaction(id)) == "answered")
        }
    }

    @Test("Evidence that the store signs wrongly is not believed")
    func wrongSignatures() async throws {
        try await SimulatedServerAPI.run { world in
            let id = try await world.store.buy("coins").transaction
            try await world.store.post(
                "faults/evidence", ["kind": "signed_transaction", "fault": "edited-claims", "count": 1])
            #expect(await world.code(of: GetTransaction(id)) == "app_store_unverified")
        }
    }

    @Test(
        "A server with a wrong certificate gets no call, and so no token",
        arguments: ["wrong-host", "expired", "unknown-issuer"]
    )
    func certificates(_ fault: String) async throws {
        try await SimulatedServerAPI.run { world in
            let id = try await world.store.buy("coins").transaction
            try await world.store.post("faults/certificates", ["fault": fault, "count": 4])
            try await world.store.post("faults/server-api", ["kind": "latency", "milliseconds": 0, "count": 100])
            #expect(await world.code(of: GetTransaction(id)) == "app_store_certificate")
            let left = try await world.store.call("faults", .get)["server_api"] as? [[String: Any]]
            #expect(left?.first?["count"] as? Int == 100, "no request arrived")
            _ = try await world.store.call("faults", .delete)
            #expect(await world.code(of: GetTransaction(id)) == "answered")
        }
    }

    @Test("Another key of the store is used when the first is revoked, and a silent store is not waited for")
    func keysAndSilence() async throws {
        let limits = AttemptLimits(connect: .seconds(20), read: .milliseconds(300), whole: .seconds(20))
        try await SimulatedServerAPI.run(limits: limits) { world in
            let id = try await world.store.buy("coins").transaction
            var app = world.app
            app.keys.append(try await world.store.makeAPIKey())
            _ = try await world.store.call("api-keys/\(app.keys[0].keyID)", .delete)
            let answer = try await world.client.call(GetTransaction(id), for: app)
            #expect(answer.environment == .production)
            try await world.store.post("faults/server-api", ["kind": "silence", "count": 4])
            do throws(AppStoreServerError) {
                _ = try await world.client.call(GetTransaction(id), for: app)
                Issue.record("it was answered")
            } catch {
                #expect(error.code == .timeout)
            }
        }
    }
}
