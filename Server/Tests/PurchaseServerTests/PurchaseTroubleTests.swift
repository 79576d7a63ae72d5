import EvidenceMint
import Foundation
import HTTPTypes
import PurchaseAPI
import PurchaseLedger
import PurchaseServer
import PurchaseVerification
import TestSupport
import Testing

/// The purchase server on a database that fails, and with many clients at once, over real HTTP.
@Suite("Failures, and many clients")
struct PurchaseTroubleTests {
    var world: PurchaseServerWorld { CurrentWorld.opened() }

    @Test("A database that cannot be written gives 503 with its code and not ready; nothing is lost, and it recovers")
    func trouble() async throws {
        try await PurchaseServerWorld.run(busySeconds: 0.1) { world in
            let claim = try PurchaseServerWorld.purchase()
            let other = try PurchaseServerWorld.purchase("2000000000000002", product: "com.example.app.pro")
            #expect(try await world.send(.post, "/v1/purchases", claim).status == 200)
            // Compressed evidence could fit into the free space of the file.
            let incompressible = String(
                decoding: (0..<600_000).map { _ in UInt8.random(in: 0x21...0x5B) }, as: UTF8.self)
            let pages = try #require(try await world.database.setting("page_count"))
            for (cause, value, cure, code) in [
                ("query_only", "1", "0", "database_read_only"),
                ("max_page_count", pages, "1000000", "database_full"),
            ] {
                try await world.database.set(cause, to: value)
                // The server looks once a second. In a full database, its next probe fits into the space of the one
                // before.
                if code == "database_read_only" {
                    var ready = try await world.send(.get, "/readyz", as: nil)
                    while ready.status == 200 { ready = try await world.send(.get, "/readyz", as: nil) }
                    #expect(try ready.status == 503 && ready.problem == code)
                }
                let refused = try await world.send(
                    .post, "/v1/purchases",
                    PurchaseRequest(
                        receiptData: incompressible, productID: "", transactionID: ""))
                #expect(try refused.status == 503 && refused.problem == code, "\(refused.text)")
                #expect(refused.headers[.retryAfter] != nil)
                #expect(try await world.send(.get, "/healthz", as: nil).status == 200)
                #expect(try await !world.entitlements(of: "alice").isEmpty, "what was read is still read")
                try await world.database.set(cause, to: cure)
                while try await world.send(.get, "/readyz", as: nil).status != 200 {}
            }
            #expect(try await world.send(.post, "/v1/purchases", other).status == 200)
        }
    }

    @Test(
        "32 clients send the same 20 claims at once: exactly 20 grants",
        .server { $0.limits.addressPercentOfKey = 100 })
    func concurrency() async throws {
        // The ledger's own test has a thousand claims; this one tests the path over HTTP.
        let transactions = (0..<20).map { "h\($0)" }
        let receipts = try (0..<2).map {
            try PurchaseServerWorld.coins(Array(transactions[($0 * 10)..<($0 * 10 + 10)]))
        }
        let clock = ContinuousClock()
        let begin = clock.now
        let counts = try await withThrowingTaskGroup(of: [String: Int].self) { group in
            for _ in 0..<32 {
                group.addTask {
                    var counts: [String: Int] = [:]
                    for (index, transaction) in transactions.enumerated() {
                        let body = try PurchaseServerWorld.purchase(transaction, receipt: receipts[index / 10])
                        let answer = try await world.send(.post, "/v1/purchases", body, as: .client)
                        let isReplayed = try answer.message(PurchaseAnswer.self).replayed
                        counts["\(answer.status) \(isReplayed ? "replayed" : "granted")", default: 0] += 1
                    }
                    return counts
                }
            }
            return try await group.reduce(into: [:]) { $0.merge($1, uniquingKeysWith: +) }
        }
        #expect(counts == ["200 granted": 20, "200 replayed": 31 * 20])
        #expect(try await world.entitlements(of: "alice").first?.balance == 20)
        print("32 clients over HTTP, 20 claims each: \(counts), in \(clock.now - begin)")
    }
}
