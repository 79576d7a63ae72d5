import EvidenceMint
import Foundation
import PurchaseServer
import PurchaseVerification
import ServerTestSupport
import TestSupport
import Testing

/// Behaviour that needs raw connections: chunks, Host headers, slow senders.
@Suite("Connections", .server)
struct ConnectionTests {
    private let world: PurchaseServerWorld = CurrentWorld.opened()
    private var port: Int { world.client.port }

    private func withServer(
        _ change: (inout ServerConfiguration) -> Void = { _ in }, _ body: @escaping @Sendable (Int) async throws -> Void
    ) async throws {
        try await PurchaseServerWorld.run(change) { world in try await body(world.client.port) }
    }

    private static func json() throws -> String {
        #"{"receipt-data":""# + Data(try MintedWorld.mint()).base64EncodedString() + #""}"#
    }

    @Test("The Host header of Apple's sandbox means the sandbox")
    func hostHeader() async throws {
        for (host, status) in [
            ("sandbox.itunes.apple.com", 0), ("Sandbox.iTunes.Apple.com:443", 0), ("buy.itunes.apple.com", 21007),
            ("127.0.0.1:\(port)", 21007), ("sandbox.itunes.apple.com.example.org", 21007),
        ] {
            let body = try Self.json()
            let answer = try await RawConnection.open(port: port) { connection in
                try await connection.send(
                    "POST /verifyReceipt HTTP/1.1\r\nHost: \(host)\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)"
                )
                return try await connection.read(until: "\"status\":")
            }
            #expect(answer.contains("\"status\":\(status)}"), "\(host)")
        }
    }

    @Test("A body in chunks is read like one with a length")
    func chunks() async throws {
        let body = try Self.json()
        let answer = try await RawConnection.open(port: port) { connection in
            try await connection.send(
                "POST /sandbox/verifyReceipt HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n")
            var rest = Substring(body)
            while !rest.isEmpty {
                let chunk = rest.prefix(777)
                rest = rest.dropFirst(777)
                try await connection.send("\(String(chunk.utf8.count, radix: 16))\r\n\(chunk)\r\n")
            }
            try await connection.send("0\r\n\r\n")
            return try await connection.read(until: "\"status\":0}")
        }
        #expect(answer.contains("\"status\":0}"))
    }

    @Test("Malformed chunks are answered with 400, once, and the connection is closed")
    func badChunks() async throws {
        let answer = try await RawConnection.open(port: port) { connection in
            try await connection.send(
                "POST /verifyReceipt HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nno chunk\r\n\r\n")
            return try await connection.readToEnd()
        }
        #expect(answer.hasPrefix("HTTP/1.1 400") && answer.components(separatedBy: "HTTP/1.1").count == 2, "\(answer)")
    }

    /// So many parts that sending them takes a minute.
    private static let parts = 600

    @Test(
        "A body that trickles is cut off at its time limit, however steadily it comes, and others are answered meanwhile"
    )
    func slowBody() async throws {
        try await withServer({ ($0.limits.requestSeconds, $0.limits.idleSeconds) = (1, 3600) }) { port in
            let body = try Self.json()
            let head = "POST /sandbox/verifyReceipt HTTP/1.1\r\nHost: x\r\nContent-Length: \(body.utf8.count)\r\n\r\n"
            try await RawConnection.open(port: port) { slow in
                try await slow.send(head)
                let answer = try await RawConnection.open(port: port) { connection in
                    try await connection.send(head + body)
                    return try await connection.read(until: "\"status\":")
                }
                #expect(answer.contains("\"status\":0}"))
                #expect(try await slow.isCutOff(body.prefix(Self.parts).map { String($0) }))
            }
        }
    }

    @Test(
        "A head that trickles is cut off at the time limit for a request, however steadily it arrives",
        .server({ ($0.limits.requestSeconds, $0.limits.idleSeconds) = (1, 3600) }))
    func slowHead() async throws {
        try await RawConnection.open(port: port) { connection async throws in
            let fields = (0..<Self.parts).map { "X-\($0): y\r\n" }
            #expect(try await connection.isCutOff(["POST /verifyReceipt HTTP/1.1\r\n"] + fields))
        }
    }

    @Test(
        "A head counts from its first byte: one that began in time may end after the idle time",
        .server({ ($0.limits.requestSeconds, $0.limits.idleSeconds) = (3600, 5) }))
    func headAfterIdleTime() async throws {
        let answer = try await RawConnection.open(port: port) { connection in
            try await connection.send("GET /healthz HTTP/1.1\r\n")
            try await Task.sleep(for: .seconds(7))
            try await connection.send("Host: x\r\n\r\n")
            return try await connection.read(until: "\"status\":")
        }
        #expect(answer.hasPrefix("HTTP/1.1 200"), "\(answer)")
    }

    @Test(
        "A silent connection is closed after the idle time; an empty line begins no request",
        .server({ ($0.limits.requestSeconds, $0.limits.idleSeconds) = (3600, 1) }))
    func idle() async throws {
        for start in ["", "\r\n"] {
            // It ends only when the server closes.
            let answer = try await RawConnection.open(port: port) { connection in
                if !start.isEmpty { try await connection.send(start) }
                return try await connection.readToEnd()
            }
            #expect(!answer.contains("200 OK"))
        }
    }

    @Test(
        "A connection with half a header is closed after the time for a request, also after an earlier request",
        .server({ ($0.limits.requestSeconds, $0.limits.idleSeconds) = (1, 3600) }))
    func halfHead() async throws {
        for earlier in ["", "GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n"] {
            // It ends only when the server closes.
            let answer = try await RawConnection.open(port: port) { connection in
                var before = ""
                if !earlier.isEmpty {
                    try await connection.send(earlier)
                    before = try await connection.read(until: "\"status\":")
                }
                try await connection.send("POST /verifyReceipt HTTP/1.1\r\nHost: x\r\nX-Slow: ")
                return before + (try await connection.readToEnd())
            }
            #expect(answer.components(separatedBy: "HTTP/1.1").count == (earlier.isEmpty ? 1 : 2), "\(answer)")
        }
    }

    @Test("A client that sends Expect: 100-continue gets 100 before it sends its body")
    func expectation() async throws {
        let body = try Self.json()
        let answer = try await RawConnection.open(port: port) { connection in
            try await connection.send(
                "POST /sandbox/verifyReceipt HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\n"
                    + "Content-Length: \(body.utf8.count)\r\n\r\n")
            let first = try await connection.read(until: "\r\n\r\n")
            try await connection.send(body)
            return try await first + connection.read(until: "\"status\":")
        }
        #expect(answer.hasPrefix("HTTP/1.1 100 Continue\r\n\r\n"), "\(answer)")
        #expect(answer.contains("HTTP/1.1 200 OK") && answer.contains("\"status\":0}"))
    }

    @Test("An answer to HEAD has no body, so the next answer is not out of step")
    func head() async throws {
        for path in ["/verifyReceipt", "/healthz", "/nothing"] {
            let answer = try await RawConnection.open(port: port) { connection in
                try await connection.send(
                    "HEAD \(path) HTTP/1.1\r\nHost: x\r\n\r\n"
                        + "GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
                return try await connection.readToEnd()
            }
            #expect(answer.components(separatedBy: "\r\n\r\n").count == 3, "\(answer)")
            #expect(answer.hasSuffix("\r\n\r\n{\"status\":\"ok\"}"), "\(answer)")
            #expect(answer.components(separatedBy: "{").count == 2, "\(answer)")
        }
    }

    @Test("Many requests over one connection are answered in their order")
    func pipelined() async throws {
        let answer = try await RawConnection.open(port: port) { connection in
            let request = "GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n"
            let last = "GET /nothing HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"
            try await connection.send(String(repeating: request, count: 20) + last)
            return try await connection.readToEnd()
        }
        #expect(answer.components(separatedBy: #"{"status":"ok"}"#).count == 21 && answer.contains("404 Not Found"))
    }
}
