import Foundation
import HTTPTypes
import PurchaseLedger
import PurchaseServer
import ServerTestSupport
import TestSupport
import Testing

/// The second listener, for operators.
@Suite("31.3 The listener for operators")
struct AdminListenerTests {
    private static func run(
        _ change: (inout ServerConfiguration) -> Void = { _ in },
        _ body: @escaping @Sendable (PurchaseServerWorld) async throws -> Void
    ) async throws {
        try await PurchaseServerWorld.run(
            {
                $0.admin = .port(host: "127.0.0.1", 0)
                change(&$0)
            }, body)
    }

    @Test("Metrics are there and not on the port of clients; health is on both; nothing else is there")
    func doors() async throws {
        try await Self.run { world in
            let metrics = try await world.ask("/metrics")
            #expect(metrics.status == 200)
            #expect(metrics.headers[.contentType] == "text/plain; version=0.0.4; charset=utf-8")
            #expect(try await world.ask("/metrics", method: .head).text.isEmpty)
            #expect(try await world.ask("/metrics", method: .post).status == 405)
            for scope in [nil, APIKeyScope.admin] {
                #expect(try await world.send(.get, "/metrics", as: scope).status == 404)
            }
            for path in ["/healthz", "/readyz"] {
                #expect(try await world.ask(path).status == 200)
                #expect(try await world.send(.get, path, as: nil).status == 200)
            }
            for path in ["/v1/submissions", "/verifyReceipt", "/notifications/v2", "/openapi.yaml"] {
                #expect(try await world.ask(path).status == 404, "\(path)")
            }
        }
    }

    @Test(
        "D.3 A request whose host is a name of somebody else is not answered, on any path",
        arguments: [
            ("localhost", true), ("127.0.0.1:8081", true), ("evil.example", false), ("localhost.evil.example", false),
            ("127.0.0.1.evil.example", false), ("[::1]:8081", true), ("[x]evil.example", false), ("evil", false),
        ])
    func host(name: String, isAnswered: Bool) async throws {
        try await Self.run { world in
            let port = try #require(world.admin?.port)
            for (path, status) in [
                ("/metrics", 200), ("/healthz", 200), ("/readyz", 200), ("/console/sign-in", 200), ("/nowhere", 404),
            ] {
                let answer = try await RawConnection.request(
                    port: port, "GET \(path) HTTP/1.1\r\nHost: \(name)\r\nConnection: close\r\n\r\n")
                #expect(answer.hasPrefix("HTTP/1.1 \(isAnswered ? status : 421) "), "\(path): \(answer)")
                #expect(isAnswered || answer.contains("host_not_allowed"))
            }
        }
    }

    @Test("The limits of heads and of idle connections hold there, too")
    func limits() async throws {
        try await Self.run({ ($0.limits.requestSeconds, $0.limits.idleSeconds) = (3, 1) }) { world in
            let port = try #require(world.admin?.port)
            for start in ["", "GET /metrics HTTP/1.1\r\nHost: x\r\nX-Slow: "] {
                // It ends only when the server closes.
                let answer = try await RawConnection.open(port: port) { connection in
                    if !start.isEmpty { try await connection.send(start) }
                    return try await connection.readToEnd()
                }
                #expect(!answer.contains("200 OK"))
            }
            let long = String(repeating: "x", count: 9000)
            let answer = try await RawConnection.request(port: port, "GET /\(long) HTTP/1.1\r\nHost: x\r\n\r\n")
            #expect(answer.hasPrefix("HTTP/1.1 414"))
        }
    }

    @Test("An address is HOST:PORT, the path of a socket, or off")
    func addresses() {
        #expect(AdminAddress("off") == .off && AdminAddress("OFF") == .off)
        #expect(AdminAddress("127.0.0.1:8081") == .standard)
        #expect(AdminAddress("[::1]:0") == .port(host: "::1", 0))
        #expect(AdminAddress("/run/assay/admin.sock") == .socket("/run/assay/admin.sock"))
        for text in ["", "8081", "127.0.0.1", "127.0.0.1:", ":8081", "::1:80", "x:70000", "/run/", "run/x.sock"] {
            #expect(AdminAddress(text) == nil, "\(text)")
        }
        #expect(AdminAddress("/" + String(repeating: "x", count: 103)) == nil)
    }
}
