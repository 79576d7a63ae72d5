import Foundation
import HTTPTypes
import PurchaseAPI
import PurchaseLedger
import PurchaseServer
import PurchaseVerification
import TestSupport
import Testing

@Suite("Keys in memory")
struct KeyCacheTests {
    var world: PurchaseServerWorld { CurrentWorld.opened() }

    @Test("A key is looked up once for many requests, and a revocation by another process counts within a second")
    func revocation() async throws {
        let time = TestUptime()
        try await PurchaseServerWorld.run(uptime: time) { world async throws in
            let cache = KeyCache(ledger: world.ledger, uptime: time.read)
            let text = try #require(world.keys[.backend].flatMap { APIKeyText($0) })
            for _ in 0..<100 { #expect(try await cache.key(text) != nil) }
            #expect(cache.lookups == 1)
            #expect(try await world.send(.get, "/v1/orders", as: .backend).status == 200)
            // Another process has its own connections.
            let other = try SQLiteDatabase(path: world.path)
            let ledger = try await PurchaseLedger.openRecorded(
                database: other, verifier: PurchaseVerifier(anchors: []), entryKey: world.entryKey
            ) { world.clock.now }
            #expect(try await ledger.perform(RevokeAPIKey(id: text.id)) != nil)
            try await other.close()
            time.advance(seconds: 0.9)
            #expect(try await cache.key(text) == nil)
            let refused = try await world.send(.get, "/v1/orders", as: .backend)
            #expect(try refused.status == 401 && refused.problem == "key_unknown")
            #expect(cache.lookups == 2)
            #expect(try await world.send(.get, "/v1/orders", as: .admin).status == 200)
        }
    }

    @Test("An unknown key is never remembered, so it never blocks a key that is created later", .server)
    func unknown() async throws {
        let cache = KeyCache(ledger: world.ledger) { 0 }
        let made = try await world.ledger.perform(CreateAPIKey(app: "example", name: "new", scopes: [.backend]))
        let right = try #require(APIKeyText(made.text))
        let wrong = try #require(APIKeyText(made.text + "x"))
        for _ in 0..<3 { #expect(try await cache.key(wrong) == nil) }
        #expect(cache.lookups == 3)
        #expect(try await cache.key(right)?.id == made.key.id)
        #expect(try await cache.key(wrong) == nil)
    }
}
