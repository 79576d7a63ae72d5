import EvidenceMint
import Foundation
import HTTPTypes
import PurchaseAPI
import PurchaseLedger
import PurchaseServer
import TestSupport
import Testing

/// Rate limits. Their clock stands still unless a test moves it.
@Suite("Rate limits")
struct RateLimitTests {
    @Test("A key with too many requests gets Retry-After, other keys do not, and later it is accepted again")
    func perKey() async throws {
        let time = TestUptime()
        try await PurchaseServerWorld.run(uptime: time) { configuration in
            configuration.limits.perKey = RateLimit(perSecond: 0.01, burst: 5)
        } _: { world async throws in
            for expected in [200, 200, 200, 200, 200, 429, 429] {
                #expect(try await world.send(.get, "/v1/orders", as: .backend).status == expected)
            }
            time.advance(seconds: 70)
            let refused = try await world.send(.get, "/v1/orders", as: .backend)
            #expect(try refused.problem == "rate_limited")
            #expect(try refused.document?.detail?.contains("(limits.per_key)") == true)
            #expect(refused.headers[.retryAfter] == "30")
            #expect(try await world.send(.get, "/v1/orders", as: .admin).status == 200)
            time.advance(seconds: 30)
            for expected in [200, 429] {
                #expect(try await world.send(.get, "/v1/orders", as: .backend).status == expected)
            }
        }
    }

    @Test("Guessing keys is limited by the address; the probes of machines are not limited")
    func perAddress() async throws {
        let time = TestUptime()
        try await PurchaseServerWorld.run(uptime: time) { configuration in
            configuration.limits.perAddress = RateLimit(perSecond: 0.01, burst: 3)
        } _: { world async throws in
            for expected in [401, 401, 401, 429] {
                #expect(try await world.send(.get, "/v1/orders", as: nil).status == expected)
            }
            for path in ["/healthz", "/readyz"] {
                for _ in 0..<40 { #expect(try await world.send(.get, path, as: nil).status == 200) }
            }
        }
    }

    @Test("B.1 Evidence that does not verify costs its address 41 tokens, evidence that does costs one")
    func rejectedVerifications() async throws {
        let forged = try MintedWorld.mint(fault: .crossSigned)
        let rejected = try JSONEncoder().encode(
            VerifyReceiptRequest(receiptData: Data(forged).base64EncodedString()))
        let accepted = try JSONEncoder().encode(
            VerifyReceiptRequest(receiptData: Data(try MintedWorld.mint()).base64EncodedString()))
        let (claim, good) = (
            try JSONEncoder().encode(try PurchaseServerWorld.purchase(receipt: forged)),
            try JSONEncoder().encode(try PurchaseServerWorld.purchase())
        )
        for (path, bad, genuine, scope) in [
            ("/sandbox/verifyReceipt", rejected, accepted, nil), ("/v1/purchases", claim, good, APIKeyScope.client),
        ] {
            try await PurchaseServerWorld.run { configuration in
                configuration.limits.perAddress = RateLimit(perSecond: 0.001, burst: 100)
                configuration.limits.addressPercentOfKey = 100
            } _: { world async throws in
                for _ in 0..<10 {
                    #expect(try await world.send(.post, path, data: genuine, as: scope).status == 200)
                }
                // 90 tokens are left: three bodies go below zero.
                for _ in 0..<3 {
                    #expect(try await world.send(.post, path, data: bad, as: scope).status != 429)
                }
                #expect(try await world.send(.post, path, data: genuine, as: scope).status == 429)
            }
        }
    }

    @Test("One address takes at most its part of a key that installations share, and the others have the rest")
    func addressPart() async throws {
        let (time, name) = (TestUptime(), try #require(HTTPField.Name("X-Forwarded-For")))
        try await PurchaseServerWorld.run(uptime: time) { configuration in
            configuration.limits.perKey = RateLimit(perSecond: 0.04, burst: 16)
            configuration.trustedProxies = ["127.0.0.1", "::1"].compactMap(AddressRange.init)
        } _: { world async throws in
            func send(_ address: String, as scope: APIKeyScope = .client) async throws -> PurchaseServerWorld.Answer {
                try await world.send(.post, "/v1/purchases", data: Data("{}".utf8), as: scope, headers: [name: address])
            }
            for _ in 0..<4 { #expect(try await send("192.0.2.1").status == 400) }
            let refused = try await send("192.0.2.1")
            #expect(refused.status == 429 && refused.headers[.retryAfter] == "100")
            #expect(try refused.problem == "rate_limited")
            #expect(try refused.document?.detail?.contains("limits.per_key.address_percent") == true)
            #expect(try refused.document?.expected == "at most 0.01 a second, and 4 at once")
            for _ in 0..<20 { #expect(try await send("192.0.2.1").status == 429) }
            // None of that was charged to the key.
            for address in ["192.0.2.2", "192.0.2.3", "2001:db8::1"] {
                for _ in 0..<4 { #expect(try await send(address).status == 400) }
            }
            let all = try await send("192.0.2.9")
            #expect(all.status == 429)
            #expect(try all.document?.detail?.contains("(limits.per_key)") == true)
            // The key of a backend has its own limit.
            for _ in 0..<16 { #expect(try await send("192.0.2.1", as: .admin).status == 400) }
            #expect(try await send("192.0.2.1", as: .admin).status == 429)
        }
    }

    @Test("B.3 A restore takes as many tokens of the key's rate as it has pieces, and one that takes more is owed")
    func pieces() async throws {
        let time = TestUptime()
        try await PurchaseServerWorld.run(uptime: time) { configuration in
            configuration.limits.perKey = RateLimit(perSecond: 0.4, burst: 40)
        } _: { world async throws in
            func restore(_ count: Int) async throws -> Int {
                let request = RestoreRequest(
                    customerID: "alice", signedTransactions: (0..<count).map { "e30.e30.\($0)" })
                return try await world.send(.post, "/v1/restores", request, as: .client).status
            }
            // A quarter of the key's 40 tokens is the share of the address: 10, and 1 more every ten seconds.
            #expect(try await restore(4) == 200)
            #expect(try await restore(5) == 200)
            #expect(try await restore(100) == 200)
            #expect(try await restore(1) == 429)
            time.advance(seconds: 980)
            #expect(try await restore(1) == 429)
            time.advance(seconds: 30)
            #expect(try await restore(1) == 200)
        }
    }

    @Test("Addresses in one IPv6 network count as one client; each IPv4 address counts separately")
    func networks() async throws {
        let name = try #require(HTTPField.Name("X-Forwarded-For"))
        try await PurchaseServerWorld.run(uptime: TestUptime()) { configuration in
            configuration.limits.perAddress = RateLimit(perSecond: 0.01, burst: 2)
            configuration.trustedProxies = ["127.0.0.1", "::1"].compactMap(AddressRange.init)
        } _: { world async throws in
            for (address, expected) in [
                ("2001:db8:1:2::1", 200), ("2001:db8:1:2:ffff::2", 200), ("2001:db8:1:2:3:4:5:6", 429),
                ("2001:db8:1:3::1", 200), ("192.0.2.1", 200), ("192.0.2.1", 200), ("192.0.2.1", 429),
                ("192.0.2.2", 200), ("::ffff:192.0.2.1", 429),
            ] {
                let answer = try await world.send(.get, "/v1/orders", headers: [name: address])
                #expect(answer.status == expected, "\(address)")
            }
        }
    }

    @Test("The limiter remembers a limited number of names, and forgets none that is still in use")
    func boundedMemory() {
        let time = TestUptime()
        let limiter = RateLimiter(RateLimit(perSecond: 1, burst: 2), names: 1000, uptime: time.read)
        let regular = Array("regular".utf8)
        for number in 0..<50_000 {
            #expect(limiter.take(Array("\(number)".utf8)) == nil)
            if number % 100 == 0 { _ = limiter.take(regular) }
        }
        #expect(limiter.count <= 1000)
        #expect(limiter.take(regular) == 1)
        time.advance(seconds: 1)
        #expect(limiter.take(regular) == nil)
        #expect(limiter.take(regular) == 1)
    }
}
