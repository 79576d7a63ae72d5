import EvidenceMint
import Foundation
import HTTPTypes
import PurchaseAPI
import PurchaseLedger
import PurchaseServer
import TestSupport
import Testing

extension Trait where Self == WorldTrait<PurchaseServerWorld> {
    /// A server behind a proxy, whose keys have a rate, of which an address and a network have shares in percent.
    fileprivate static func keys(
        _ perSecond: Double, _ burst: Double, address: Double? = nil, network: Double? = nil, proxies: [String] = []
    ) -> Self {
        server { configuration in
            configuration.limits.perKey = RateLimit(perSecond: perSecond, burst: burst)
            if let address { configuration.limits.addressPercentOfKey = address }
            if let network { configuration.limits.networkPercentOfKey = network }
            configuration.trustedProxies = (["127.0.0.1", "::1"] + proxies).compactMap(AddressRange.init)
        }
    }
}

/// Rate limits. Their clock stands still unless a test moves it.
@Suite("Rate limits")
struct RateLimitTests {
    var world: PurchaseServerWorld { CurrentWorld.opened() }

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

    @Test(
        "A backend claims for all its customers from one address at the rate of its key; an app's key there has a share",
        .keys(0.001, 100, address: 2))
    func backend() async throws {
        let good = try JSONEncoder().encode(try PurchaseServerWorld.purchase())
        for (scope, accepted) in [(APIKeyScope.client, 2), (.backend, 100)] {
            for expected in Array(repeating: 200, count: accepted) + [429] {
                #expect(try await Self.send(good, from: "192.0.2.1", as: scope, to: world).status == expected)
            }
        }
    }

    @Test(
        "48.8 A backend pays for each piece of a restore, its address for wrong keys, and its bodies have the limits of all"
    )
    func budgetsOfBackend() async throws {
        try await PurchaseServerWorld.run(uptime: TestUptime()) { configuration in
            configuration.limits.perKey = RateLimit(perSecond: 0.4, burst: 40)
            configuration.trustedProxies = ["127.0.0.1", "::1"].compactMap(AddressRange.init)
        } _: { world async throws in
            for count in [30, 20] {
                #expect(try await Self.restore(count, from: "192.0.2.1", as: .backend, to: world).status == 200)
            }
            let owed = try await Self.restore(1, from: "192.0.2.2", as: .backend, to: world)
            #expect(try owed.status == 429 && owed.document?.detail?.contains("(limits.per_key)") == true)
        }
        try await PurchaseServerWorld.run(uptime: TestUptime()) { configuration in
            configuration.limits.perAddress = RateLimit(perSecond: 0.01, burst: 3)
            configuration.limits.bodyBytes = 20_000
        } _: { world async throws in
            let large = Data(String(repeating: " ", count: 20_001).utf8)
            #expect(try await world.send(.post, "/v1/purchases", data: large, as: .backend).status == 413)
            let wrong: HTTPFields = [
                .authorization: "Bearer assay_0123456789abcdef_" + String(repeating: "A", count: 43)
            ]
            for _ in 0..<2 {
                #expect(try await world.send(.get, "/v1/orders", as: nil, headers: wrong).status == 401)
            }
            let refused = try await world.send(.get, "/v1/orders", as: .backend)
            #expect(try refused.status == 429 && refused.document?.detail?.contains("(limits.per_address)") == true)
        }
    }

    @Test("B.1 Evidence that does not verify costs its address 41 tokens, evidence that does costs one")
    func rejectedVerifications() async throws {
        let forged = try MintedWorld.mint(fault: .crossSigned)
        let rejected = try JSONEncoder().encode(VerifyReceiptRequest(receiptData: Data(forged).base64EncodedString()))
        let accepted = try JSONEncoder().encode(
            VerifyReceiptRequest(receiptData: Data(try MintedWorld.mint()).base64EncodedString()))
        let (claim, good) = (
            try JSONEncoder().encode(try PurchaseServerWorld.purchase(receipt: forged)),
            try JSONEncoder().encode(try PurchaseServerWorld.purchase())
        )
        func signed(_ fault: SignedPayloadFault?) throws -> Data {
            let template = DropInWorld.signed(1) { $0.environment = "Sandbox" }
            let text = String(decoding: try MintedWorld.mint(template, fault: fault), as: UTF8.self)
            return try JSONEncoder().encode(VerifyReceiptRequest(receiptData: text))
        }
        for (path, bad, genuine, scope) in [
            ("/sandbox/verifyReceipt", rejected, accepted, nil),
            ("/sandbox/verifyReceipt", try signed(.wrongRoot), try signed(nil), nil),
            ("/v1/purchases", claim, good, APIKeyScope.client),
            ("/v1/purchases", claim, good, .backend),
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

    @Test(
        "B.1 Evidence that does not verify costs its address as much if something else is wrong with the request",
        .server { configuration in
            configuration.limits.perAddress = RateLimit(perSecond: 0.001, burst: 100)
            configuration.limits.addressPercentOfKey = 100
        },
        arguments: ["a claim without a product", "a claim of no units", "two receipts", "a restore without a customer"])
    func rejectedVerificationsOfFlawedRequests(_ flaw: String) async throws {
        let forged = Data(try MintedWorld.mint(fault: .crossSigned)).base64EncodedString()
        var body: [String: Any] = [
            "receipt_data": forged, "product_id": "coins", "transaction_id": "1", "customer_id": "c",
        ]
        switch flaw {
        case "a claim without a product": body["product_id"] = nil
        case "a claim of no units": body["quantity"] = 0
        case "two receipts": body["signed_transaction"] = forged
        default: body = ["receipt_data": forged]
        }
        let data = try JSONSerialization.data(withJSONObject: body)
        let path = body["product_id"] == nil && body["transaction_id"] == nil ? "/v1/restores" : "/v1/purchases"
        // 100 tokens: after three bodies of 41 the address owes some.
        var statuses: [Int] = []
        for _ in 0..<4 { statuses.append(try await world.send(.post, path, data: data, as: .client).status) }
        #expect(statuses.prefix(3).allSatisfy { $0 != 429 } && statuses.last == 429, "\(statuses)")
    }

    /// A claim with evidence that is not genuine, so that it costs the key its token.
    private static let junk = Data(
        #"{"receipt_data":"bm8=","product_id":"a","transaction_id":"1","customer_id":"c"}"#.utf8)

    /// Sends a request to `/v1/purchases` from an address behind a proxy.
    private static func send(
        _ body: Data = junk, from address: String, as scope: APIKeyScope = .client, to world: PurchaseServerWorld
    ) async throws -> PurchaseServerWorld.Answer {
        let name = try #require(HTTPField.Name("X-Forwarded-For"))
        return try await world.send(.post, "/v1/purchases", data: body, as: scope, headers: [name: address])
    }

    @Test(
        "B.4 One address takes at most its part of a key that installations share, and the others have the rest",
        .keys(0.04, 16, address: 25, network: 100))
    func addressPart() async throws {
        for _ in 0..<4 { #expect(try await Self.send(from: "192.0.2.1", to: world).status == 422) }
        let refused = try await Self.send(from: "192.0.2.1", to: world)
        #expect(try refused.status == 429 && refused.headers[.retryAfter] == "100" && refused.problem == "rate_limited")
        #expect(try refused.document?.detail?.contains("limits.per_key.address_percent") == true)
        #expect(try refused.document?.detail?.contains("a backend has a key of the scope backend") == true)
        #expect(try refused.document?.expected == "at most 0.01 a second, and 4 at once")
        for _ in 0..<20 { #expect(try await Self.send(from: "192.0.2.1", to: world).status == 429) }
        // None of that was charged to the key.
        for address in ["192.0.2.2", "192.0.2.3", "2001:db8::1"] {
            for _ in 0..<4 { #expect(try await Self.send(from: address, to: world).status == 422) }
        }
        let all = try await Self.send(from: "192.0.2.9", to: world)
        #expect(try all.status == 429 && all.document?.detail?.contains("(limits.per_key)") == true)
        // The key of a backend has its own limit.
        for _ in 0..<16 { #expect(try await Self.send(from: "192.0.2.1", as: .admin, to: world).status == 422) }
        #expect(try await Self.send(from: "192.0.2.1", as: .admin, to: world).status == 429)
    }

    @Test(
        "D.3 Clients whose proxy sends an unreadable X-Forwarded-For have the share of one address, a proxy itself none",
        .keys(0.04, 100, address: 4, network: 100, proxies: ["10.0.0.0/8"]))
    func unreadableAddress() async throws {
        for address in ["unknown", "198.51.100.7, -", ","] {
            #expect(try await Self.send(from: address, to: world).status == 422)
        }
        for (address, status) in [
            ("_hidden", 422), ("unknown", 429), (",", 429), ("198.51.100.7, ?, 10.0.0.3", 422),
            ("198.51.100.7", 422), ("unknown, 198.51.100.8", 422),
        ] {
            #expect(try await Self.send(from: address, to: world).status == status, "\(address)")
        }
        // A backend beside the proxy.
        for _ in 0..<8 {
            #expect(try await world.send(.post, "/v1/purchases", data: Self.junk, as: .client).status == 422)
        }
    }

    @Test(
        "B.4 One /48 of IPv6, or one /24 of IPv4, takes a fifth of the rate of a client key, and honest clients have the rest",
        .keys(0.04, 100), arguments: ["2001:db8:7:%::1", "198.51.100.%"])
    func networkPart(pattern: String) async throws {
        // By default one address has two of a hundred, and a network twenty.
        var statuses: [Int: Int] = [:]
        for number in 0..<40 {
            let address = pattern.replacingOccurrences(of: "%", with: "\(number + 1)")
            for _ in 0..<3 { statuses[try await Self.send(from: address, to: world).status, default: 0] += 1 }
        }
        #expect(statuses == [422: 20, 429: 100])
        let refused = try await Self.send(from: pattern.replacingOccurrences(of: "%", with: "99"), to: world)
        #expect(try refused.document?.detail?.contains("limits.per_key.network_percent") == true)
        for number in 0..<40 {
            #expect(try await Self.send(from: "203.0.\(number).1", to: world).status == 422, "\(number)")
        }
    }

    @Test(
        "B.4 A request that fails before evidence is read costs its address, and gives the key its token back",
        .keys(0.01, 10, address: 50, network: 100))
    func failedRequests() async throws {
        for (number, body) in ["{}", "", "[", #"{"customer_id":7}"#, #"{"product_id":"a"}"#].enumerated() {
            for _ in 0..<5 {
                let answer = try await Self.send(Data(body.utf8), from: "192.0.\(number + 1).1", to: world)
                #expect(answer.status == 400, "\(body)")
            }
            #expect(try await Self.send(Data(body.utf8), from: "192.0.\(number + 1).1", to: world).status == 429)
        }
        // All tokens of the key are left, and evidence takes them, genuine or not.
        for number in 0..<10 {
            #expect(try await Self.send(from: "198.51.\(number).1", to: world).status == 422)
        }
        #expect(try await Self.send(from: "198.51.99.1", to: world).status == 429)
    }

    @Test("B.3 A restore takes as many tokens of the key's rate as it has pieces, and one that takes more is owed")
    func pieces() async throws {
        let time = TestUptime()
        try await PurchaseServerWorld.run(uptime: time) { configuration in
            configuration.limits.perKey = RateLimit(perSecond: 0.4, burst: 40)
            configuration.limits.addressPercentOfKey = 25
            configuration.limits.networkPercentOfKey = 100
            configuration.trustedProxies = ["127.0.0.1", "::1"].compactMap(AddressRange.init)
        } _: { world async throws in
            func restore(_ count: Int) async throws -> Int {
                try await Self.restore(count, from: "192.0.2.1", to: world).status
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

    /// Sends a restore of pieces that are not genuine, from an address behind a proxy.
    private static func restore(
        _ count: Int, from address: String, as scope: APIKeyScope = .client, to world: PurchaseServerWorld
    ) async throws -> PurchaseServerWorld.Answer {
        let name = try #require(HTTPField.Name("X-Forwarded-For"))
        let request = RestoreRequest(customerID: "alice", signedTransactions: (0..<count).map { "e30.e30.\($0)" })
        return try await world.send(.post, "/v1/restores", request, as: scope, headers: [name: address])
    }

    @Test(
        "B.4 The pieces of a restore count for the network, too: many addresses of one network do not take the key",
        .keys(0.4, 100, address: 10))
    func piecesOfNetwork() async throws {
        for number in 1...2 {
            #expect(try await Self.restore(10, from: "198.51.100.\(number)", to: world).status == 200)
        }
        for number in 3...9 {
            let refused = try await Self.restore(10, from: "198.51.100.\(number)", to: world)
            #expect(refused.status == 429)
            #expect(try refused.document?.detail?.contains("limits.per_key.network_percent") == true)
        }
        for number in 0..<8 {
            #expect(try await Self.restore(10, from: "203.0.\(number).1", to: world).status == 200)
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
        #expect(limiter.count <= 1000 && limiter.take(regular) == 1)
        time.advance(seconds: 1)
        #expect(limiter.take(regular) == nil && limiter.take(regular) == 1)
    }
}
