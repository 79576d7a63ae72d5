import EvidenceMint
import Foundation
import HTTPTypes
import NIOCore
import PurchaseAPI
import PurchaseLedger
import PurchaseServer
import ServerTestSupport
import TestSupport
import Testing

/// The effect of one client on the others.
@Suite("Overload")
struct OverloadTests {
    var world: PurchaseServerWorld { CurrentWorld.opened() }

    @Test("An address has a limited number of connections; a further one is closed until one of them ends")
    func connectionsPerAddress() async throws {
        let request = "GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n"
        // The test framework has its own connection, which is sooner or later one of the three.
        try await PurchaseServerWorld.run {
            $0.limits.connectionsPerAddress = 3
            $0.limits.uncountedAddresses = []
        } _: { world async throws in
            let port = world.client.port
            try await RawConnection.open(port: port) { first async throws in
                #expect(try await first.request(request).contains("200 OK"))
                try await RawConnection.open(port: port) { second async throws in
                    #expect(try await second.request(request).contains("200 OK"))
                    try await RawConnection.open(port: port) { third async throws in
                        _ = try await third.request(request)
                        let refused = try await RawConnection.open(port: port) { fourth async throws in
                            try await fourth.readToEnd()
                        }
                        #expect(refused.isEmpty)
                    }
                }
                #expect(try await first.request(request).contains("200 OK"))
                // The server takes a moment to notice that the others ended.
                var answer = ""
                for _ in 0..<1000 {
                    guard answer.isEmpty else { break }
                    answer = try await RawConnection.request(port: port, request)
                }
                #expect(answer.contains("200 OK"))
            }
        }
    }

    @Test("Addresses of this machine and of trusted proxies are not limited")
    func uncounted() async throws {
        for proxies in [[], ["127.0.0.1"].compactMap(AddressRange.init)] {
            try await PurchaseServerWorld.run {
                $0.limits.connectionsPerAddress = 1
                if !proxies.isEmpty { $0.limits.uncountedAddresses = [] }
                $0.trustedProxies = proxies
            } _: { world async throws in
                let port = world.client.port
                try await RawConnection.open(port: port) { _ async throws in
                    let answer = try await RawConnection.request(port: port, "GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n")
                    #expect(answer.contains("200 OK"))
                }
            }
        }
    }

    @Test("The rest of a refused request's body is not read: the connection is closed", .server)
    func bodyAfterRefusal() async throws {
        for (head, status) in [
            ("POST /v1/purchases HTTP/1.1\r\nHost: x\r\nContent-Length: 10000000000\r\n\r\n", "401"),
            ("POST /v1/purchases HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n", "401"),
            ("POST /verifyReceipt HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000000000\r\n\r\n", "413"),
            ("POST /nothing HTTP/1.1\r\nHost: x\r\nContent-Length: 10000000000\r\n\r\n", "404"),
        ] {
            try await RawConnection.open(port: world.client.port) { connection async throws in
                try await connection.send(head)
                let answer = try await connection.read(until: "}")
                #expect(answer.hasPrefix("HTTP/1.1 \(status)"), "\(answer)")
                let isChunked = head.contains("chunked")
                let part = String(repeating: "x", count: 65_536)
                let sent = try await connection.sendUntilClosed(
                    isChunked ? "10000\r\n\(part)\r\n" : part, times: 50_000)
                // The whole would be 3 GB; the client's own buffers take some of it.
                #expect(sent < 50_000, "\(status)")
            }
        }
    }

    @Test("A small body that arrives after its refusal is read, and the connection stays open", .server)
    func smallBodyAfterRefusal() async throws {
        let answer = try await RawConnection.open(port: world.client.port) { connection async throws in
            try await connection.send("POST /v1/purchases HTTP/1.1\r\nHost: x\r\nContent-Length: 10000\r\n\r\n")
            let refusal = try await connection.read(until: "}")
            try await connection.send(String(repeating: "x", count: 10_000))
            return try await refusal + connection.request("GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n")
        }
        #expect(answer.hasPrefix("HTTP/1.1 401") && answer.contains(#"{"status":"ok"}"#), "\(answer)")
    }

    @Test(
        "A body with a too large Content-Length is refused before it is sent",
        .server, arguments: ["17825793", "9223372036854775807", "9223372036854775808", "18446744073709551615"])
    func announcedLength(length: String) async throws {
        let receipt = try await RawConnection.request(
            port: world.client.port,
            "POST /verifyReceipt HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: \(length)\r\n\r\n")
        #expect(receipt.hasPrefix("HTTP/1.1 413") && receipt.hasSuffix(#"{"status":21002}"#), "\(receipt)")
        let key = try #require(world.keys[.backend])
        let order = try await RawConnection.request(
            port: world.client.port,
            "POST /v1/orders HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer \(key)\r\nIdempotency-Key: 1\r\n"
                + "Content-Length: \(length)\r\n\r\n")
        #expect(order.hasPrefix("HTTP/1.1 413") && order.contains("body_too_large"), "\(order)")
    }

    @Test("A request of HTTP/1.1 has one Host, and one that is a host", .server)
    func host() async throws {
        for (head, status) in [
            ("GET /healthz HTTP/1.1\r\n", 400), ("GET /healthz HTTP/1.1\r\nHost: a\r\nHost: b\r\n", 400),
            ("GET /healthz HTTP/1.1\r\nHost: a\r\nhost: a\r\n", 400),
            ("GET /healthz HTTP/1.1\r\nHost: a b\r\n", 400), ("GET /healthz HTTP/1.1\r\nHost: a/b\r\n", 400),
            ("GET /healthz HTTP/1.1\r\nHost: a@b\r\n", 400), ("GET /healthz HTTP/1.1\r\nHost:\r\n", 200),
            ("GET /healthz HTTP/1.1\r\nHost: [::1]:8080\r\n", 200), ("GET /healthz HTTP/1.0\r\n", 200),
            ("GET /healthz HTTP/1.0\r\nHost: a\r\nHost: b\r\n", 400),
        ] {
            let answer = try await RawConnection.request(port: world.client.port, head + "\r\n")
            #expect(answer.contains(" \(status) "), "\(head): \(answer)")
            if status == 400 { #expect(answer.contains("host_malformed"), "\(head): \(answer)") }
        }
    }

    @Test("All routes share one budget of memory for bodies", .server { $0.limits.bufferedBytes = 100_010 })
    func oneBudget() async throws {
        let order = try JSONEncoder().encode(OrderRequest(customerID: "a", productID: "com.example.app.coins"))
        try await RawConnection.open(port: world.client.port) { slow async throws in
            try await slow.send(
                "POST /verifyReceipt HTTP/1.1\r\nHost: x\r\nContent-Length: 100001\r\n\r\n"
                    + String(repeating: " ", count: 100_000))
            // The server reads it at its own pace.
            var answer = try await world.send(.post, "/v1/orders", data: order)
            for _ in 0..<1000 {
                guard answer.status != 503 else { break }
                answer = try await world.send(.post, "/v1/orders", data: order)
            }
            #expect(try answer.problem == "server_busy" && answer.headers[.retryAfter] == "1")
            try await slow.send(" ")
            #expect(try await slow.read(until: "}").contains(#"{"status":21000}"#))
        }
    }

    @Test(
        "If the queue of verifications is full, the next request gets Retry-After, and probes are answered",
        .server { $0.limits.waitingVerifications = 0 })
    func busyWorkers() async throws {
        let receipt = try await world.send(.post, "/verifyReceipt", data: Data("{}".utf8), as: nil)
        #expect(receipt.status == 503 && receipt.text == #"{"status":21005}"# && receipt.headers[.retryAfter] == "1")
        #expect(receipt.headers[try #require(HTTPField.Name("Assay-Reason"))] == "server_busy")
        let order = try await world.send(.post, "/v1/orders", data: Data("{}".utf8))
        #expect(try order.problem == "server_busy" && order.headers[.retryAfter] == "1")
        #expect(try await world.send(.get, "/healthz", as: nil).status == 200)
    }

    @Test(
        "B.1 While all verifying threads are busy, /healthz is answered; requests with evidence, however short, wait for a thread"
    )
    func healthWhileVerifying() async throws {
        try await PurchaseServerWorld.run { world async throws in
            let workers = WorkerPool(limit: 1000)
            let gate = DispatchSemaphore(value: 0)
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<System.coreCount {
                    group.addTask { try await workers.run { gate.wait() } }
                }
                let answered = Counter()
                for length in [0, 1 << 20] {
                    let body = Data(repeating: UInt8(ascii: " "), count: length) + Data("{}".utf8)
                    group.addTask {
                        let answer = try await world.send(.post, "/verifyReceipt", data: body, as: nil)
                        #expect(answer.text == #"{"status":21002}"#)
                        answered.increment()
                    }
                }
                do {
                    defer {
                        #expect(answered.value == 0)
                        for _ in 0..<System.coreCount { gate.signal() }
                    }
                    for _ in 0..<20 { #expect(try await world.send(.get, "/healthz", as: nil).status == 200) }
                }
                try await group.waitForAll()
            }
        }
    }

    @Test("Wrong shared secrets are limited by address and app; above the limit every secret is refused")
    func wrongSecrets() async throws {
        let time = TestUptime()
        func body(_ password: String?, bundleID: String = "com.example.app") throws -> Data {
            let template = AppReceiptTemplate.production(
                bundleID: bundleID, creationDate: MintedWorld.moment, purchases: [])
            return try JSONEncoder().encode(
                VerifyReceiptRequest(
                    receiptData: Data(try MintedWorld.mint(template)).base64EncodedString(), password: password))
        }
        let (wrong, right, none) = (try body("wrong"), try body("right"), try body(nil))
        let other = try body("other", bundleID: "com.example.other")
        try await PurchaseServerWorld.run(uptime: time) {
            $0.sharedSecrets = ["com.example.app": "right", "com.example.other": "other"]
            $0.limits.wrongSecrets = RateLimit(perSecond: 0.01, burst: 3)
        } _: { world async throws in
            func send(_ body: Data) async throws -> PurchaseServerWorld.Answer {
                try await world.send(.post, "/verifyReceipt", data: body, as: nil)
            }
            for _ in 0..<5 { #expect(try await send(right).text.hasSuffix(#""status":0}"#)) }
            for _ in 0..<3 { #expect(try await send(wrong).text == #"{"status":21004}"#) }
            for body in [wrong, right] {
                let refused = try await send(body)
                #expect(refused.status == 429 && refused.text == #"{"status":21005}"#)
                #expect(refused.headers[.retryAfter] == "100")
                #expect(refused.headers[try #require(HTTPField.Name("Assay-Reason"))] == "rate_limited")
            }
            // Requests that need no secret, and requests for another app, are still answered.
            #expect(try await send(none).text.hasSuffix(#""status":0}"#))
            #expect(try await send(other).text.hasSuffix(#""status":0}"#))
            time.advance(seconds: 100)
            #expect(try await send(right).text.hasSuffix(#""status":0}"#))
        }
    }
    @Test("The server's own secret has one limit for each address, whatever app the receipts are of")
    func wrongServerSecrets() async throws {
        try await PurchaseServerWorld.run(uptime: TestUptime()) {
            $0.sharedSecret = "right"
            $0.limits.wrongSecrets = RateLimit(perSecond: 0.01, burst: 3)
        } _: { world async throws in
            for (number, status) in [(0, 200), (1, 200), (2, 200), (3, 429), (4, 429)] {
                let template = AppReceiptTemplate.production(
                    bundleID: "com.example.app\(number)", creationDate: MintedWorld.moment, purchases: [])
                let receipt = Data(try MintedWorld.mint(template)).base64EncodedString()
                let body = try JSONEncoder().encode(VerifyReceiptRequest(receiptData: receipt, password: "wrong"))
                let answer = try await world.send(.post, "/verifyReceipt", data: body, as: nil)
                #expect(answer.status == status, "\(number)")
            }
        }
    }
}
