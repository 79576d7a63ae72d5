import Foundation
import HTTPTypes
import PurchaseAPI
import PurchaseLedger
import PurchaseServer
import ServerTestSupport
import Testing

/// `GET /v1/events/stream`, over connections on which a test reads every byte.
@Suite("The stream of events")
struct EventStreamTests {
    var world: PurchaseServerWorld { CurrentWorld.opened() }

    private static func head(_ key: String?, after id: String? = nil) -> String {
        "GET /v1/events/stream HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer \(key ?? "")\r\n"
            + (id.map { "Last-Event-ID: \($0)\r\n" } ?? "") + "\r\n"
    }

    /// The events in the bytes of a stream, each written as one chunk.
    private static func events(_ text: String) throws -> [EventMessage] {
        try text.split(separator: "\n").filter { $0.hasPrefix("data: ") }.map {
            try JSONDecoder().decode(EventMessage.self, from: Data($0.dropFirst(6).utf8))
        }
    }

    private func order(_ world: PurchaseServerWorld, _ customer: String = "alice") async throws -> String {
        let request = OrderRequest(customerID: customer, productID: "com.example.app.coins")
        return try await world.send(.post, "/v1/orders", request, as: .backend).message(OrderMessage.self).orderID
    }

    private func listed(_ world: PurchaseServerWorld) async throws -> [EventMessage] {
        try await world.send(.get, "/v1/events?limit=500", as: .backend).message(EventPage.self).events
    }

    /// The status and the code of a refused request for a stream.
    private func refusal(_ world: PurchaseServerWorld, key: String?, after id: String? = nil) async throws -> String {
        let answer = try await RawConnection.request(port: world.client.port, Self.head(key, after: id))
        let code = answer.firstMatch(of: /"code":"([a-z_]+)"/).map { String($0.1) }
        return "\(answer.dropFirst(9).prefix(3)) \(code ?? answer)"
    }

    @Test(
        "After any event of the list, the stream has exactly the events that follow in it, then those of the future",
        .server)
    func resumed() async throws {
        let (world, key) = (world, world.keys[.backend])
        for number in 0..<12 { _ = try await order(world, "customer \(number % 3)") }
        let list = try await listed(world)
        for start in 0...list.count {
            let id = start == 0 ? "0" : list[start - 1].id
            try await RawConnection.open(port: world.client.port) { connection async throws in
                try await connection.send(Self.head(key, after: id))
                var text = ""
                if start < list.count { text += try await connection.read(until: list.last?.id ?? "") }
                let order = try await self.order(world)
                text += try await connection.read(until: order)
                let whole = try await self.listed(world)
                #expect(try Self.events(text) == Array(whole[start...].prefix(try Self.events(text).count)))
                #expect(try Self.events(text).last?.orderID == order)
            }
        }
    }

    @Test("Without an id the stream begins now, and names the event before it, so that a client loses none", .server)
    func fromNow() async throws {
        let (world, key) = (world, world.keys[.backend])
        _ = try await order(world)
        let newest = try #require(try await listed(world).last)
        let seen = try await RawConnection.open(port: world.client.port) { connection async throws in
            try await connection.send(Self.head(key))
            let text = try await connection.read(until: newest.id)
            #expect(text.contains("text/event-stream") && text.lowercased().contains("cache-control: no-store"))
            #expect(try Self.events(text).isEmpty)
            return newest.id
        }
        let missed = try await order(world)
        try await RawConnection.open(port: world.client.port) { connection async throws in
            try await connection.send(Self.head(key, after: seen))
            #expect(try Self.events(try await connection.read(until: missed)).map(\.orderID) == [missed])
        }
    }

    @Test(
        "All streams of an app have the same events in the same order, also one that nobody reads for a while", .server)
    func fannedOut() async throws {
        let (world, key) = (world, world.keys[.backend])
        // More than a reader keeps, so that the one that is behind reads pages of its own.
        let count = 1_200
        try await RawConnection.open(port: world.client.port) { late async throws in
            try await late.send(Self.head(key, after: "0"))
            let texts = try await withThrowingTaskGroup(of: String.self) { group in
                for _ in 0..<4 {
                    group.addTask {
                        try await RawConnection.open(port: world.client.port) { connection async throws in
                            try await connection.send(Self.head(key, after: "0"))
                            return try await connection.read(until: "the last one")
                        }
                    }
                }
                for number in 0..<count {
                    _ = try await world.ledger.perform(
                        CreateOrder(
                            app: "example",
                            OrderDraft(customerID: "\(number % 7)", productID: "com.example.app.coins")))
                }
                _ = try await self.order(world, "the last one")
                return try await group.reduce(into: []) { $0.append($1) }
            }
            let last = try await late.read(until: "the last one")
            let ids = try Self.events(last).map(\.id)
            #expect(ids.count == count + 1 && Set(ids).count == ids.count)
            for text in texts { #expect(try Self.events(text).map(\.id) == ids) }
        }
    }

    @Test(
        "An id that is none, that is ahead or that another history of the ledger had is refused, as is a client's key",
        .server)
    func refused() async throws {
        let (world, key) = (world, world.keys[.backend])
        _ = try await order(world)
        let id = try #require(try await listed(world).first?.id)
        let other = "evt_\(String(repeating: "0", count: 32))_1"
        for wrong in ["1", "evt_1", "gap_\(id)", "\(id)x", "-1"] {
            #expect(try await refusal(world, key: key, after: wrong) == "400 field_malformed", "\(wrong)")
        }
        for wrong in [other, String(id.dropLast()) + "2", String(id.dropLast()) + "9223372036854775807"] {
            #expect(try await refusal(world, key: key, after: wrong) == "409 cursor_ahead", "\(wrong)")
        }
        #expect(try await refusal(world, key: world.keys[.client]) == "403 scope_insufficient")
        #expect(try await refusal(world, key: nil) == "401 key_missing")
    }

    @Test("A key has ten streams; another key has its own; a revocation ends the streams of a key alone")
    func keys() async throws {
        let uptime = TestUptime()
        try await PurchaseServerWorld.run(uptime: uptime) { try await keys($0, uptime) }
    }

    private func keys(_ world: PurchaseServerWorld, _ uptime: TestUptime) async throws {
        let other = world.keys[.backend]
        let made = try await world.ledger.perform(CreateAPIKey(app: "example", name: "new", scopes: [.backend]))
        async let survivor = RawConnection.open(port: world.client.port) { connection async throws in
            try await connection.send(Self.head(other))
            return try await connection.read(until: "the survivor")
        }
        let ends = try await withThrowingTaskGroup(of: String.self) { group in
            let (opened, continuation) = AsyncStream.makeStream(of: Void.self)
            for _ in 0..<10 {
                group.addTask {
                    try await RawConnection.open(port: world.client.port) { connection async throws in
                        try await connection.send(Self.head(made.text))
                        _ = try await connection.read(until: "id: 0")
                        continuation.yield()
                        return try await connection.read(until: "0\r\n\r\n")
                    }
                }
            }
            var count = 0
            for await _ in opened {
                count += 1
                if count == 10 { break }
            }
            #expect(try await self.refusal(world, key: made.text) == "429 rate_limited")
            let id = try #require(APIKeyText(made.text)).id
            #expect(try await world.ledger.perform(RevokeAPIKey(id: id)) != nil)
            // The streams look the key up with their next sign of life.
            uptime.advance(seconds: 10)
            return try await group.reduce(into: []) { $0.append($1) }
        }
        _ = try await order(world, "the survivor")
        #expect(try Self.events(try await survivor).map(\.customerID) == ["the survivor"])
        #expect(ends.count == 10 && ends.allSatisfy { $0.hasSuffix("0\r\n\r\n") })
        #expect(try await refusal(world, key: made.text) == "401 key_unknown")
    }

    @Test("All keys together have a number of streams")
    func all() async throws {
        try await PurchaseServerWorld.run(eventStreams: 1) { world in
            let made = try await world.ledger.perform(CreateAPIKey(app: "example", name: "new", scopes: [.backend]))
            try await RawConnection.open(port: world.client.port) { connection async throws in
                try await connection.send(Self.head(world.keys[.backend]))
                _ = try await connection.read(until: "id: 0")
                let answer = try await RawConnection.request(port: world.client.port, Self.head(made.text))
                #expect(answer.hasPrefix("HTTP/1.1 429 ") && answer.contains("at most 1 of all keys"), "\(answer)")
            }
        }
    }

    @Test(
        "A stream has a sign of life every ten seconds, and outlives the limits of idle connections and slow requests")
    func signOfLife() async throws {
        let uptime = TestUptime()
        try await PurchaseServerWorld.run(uptime: uptime) {
            ($0.limits.idleSeconds, $0.limits.requestSeconds) = (1, 1)
        } _: { world in
            try await RawConnection.open(port: world.client.port) { connection async throws in
                try await connection.send(Self.head(world.keys[.backend]))
                _ = try await connection.read(until: "id: 0")
                for _ in 0..<2 {
                    try await Task.sleep(for: .milliseconds(1500))
                    uptime.advance(seconds: 10)
                    #expect(try await connection.read(until: ":\n\n").hasSuffix("\r\n:\n\n\r\n"))
                }
                let order = try await self.order(world)
                #expect(try Self.events(try await connection.read(until: order)).map(\.orderID) == [order])
            }
        }
    }

    @Test(
        "A stream that begins after an erasure has nothing of the customer, whatever others were sent before", .server)
    func erased() async throws {
        let (world, key) = (world, world.keys[.backend])
        try await RawConnection.open(port: world.client.port) { first async throws in
            try await first.send(Self.head(key))
            _ = try await first.read(until: "id: 0")
            let order = try await self.order(world, "the customer")
            #expect(try await first.read(until: order).contains("the customer"))
            _ = try await world.ledger.perform(
                EraseCustomer(app: "example", customerID: "the customer", reason: "asked for it"))
            _ = try await first.read(until: "customer_erased")
            _ = try await self.order(world, "the last one")
            try await RawConnection.open(port: world.client.port) { second async throws in
                try await second.send(Self.head(key, after: "0"))
                let text = try await second.read(until: "the last one")
                #expect(text.contains("customer_erased") && !text.contains("the customer"))
            }
        }
    }

    @Test("A stop of the server ends the streams, whole")
    func stopped() async throws {
        let (ports, port) = AsyncStream.makeStream(of: (Int, String).self)
        let (opened, open) = AsyncStream.makeStream(of: Void.self)
        async let stream = { () async throws -> String in
            for await (port, key) in ports {
                return try await RawConnection.open(port: port) { connection async throws in
                    try await connection.send(Self.head(key))
                    let begin = try await connection.read(until: "id: 0")
                    open.finish()
                    return begin + (try await connection.readToEnd())
                }
            }
            return ""
        }()
        try await PurchaseServerWorld.run { world async throws in
            port.yield((world.client.port, world.keys[.backend] ?? ""))
            for await _ in opened {}
        }
        #expect(try await stream.hasSuffix("\r\n0\r\n\r\n"))
    }
}
