import Foundation
import HTTPTypes
import NIOCore
import PurchaseAPI
import PurchaseLedger
import PurchaseServer
import ServerTestSupport
import TestSupport
import Testing

/// Connections when nearly all are taken.
@Suite("All connections are taken")
struct ConnectionReserveTests {
    var world: PurchaseServerWorld { CurrentWorld.opened() }

    private static let health = "GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n"

    /// Opens connections that send a text and stay open while the body runs.
    private static func holding(
        _ count: Int, _ text: String, port: Int, _ body: @escaping @Sendable () async throws -> Void
    ) async throws {
        guard count > 0 else { return try await body() }
        try await RawConnection.open(port: port) { connection async throws in
            try await connection.send(text)
            // The request is in progress when the server answers that it waits for the body.
            if text.contains("100-continue") { _ = try await connection.read(until: "100 Continue") }
            try await holding(count - 1, text, port: port, body)
        }
    }

    @Test(
        "B.4 Idle connections are closed for new ones, the one that waited longest first",
        .server { $0.limits.connections = 8 })
    func idle() async throws {
        for text in ["", "GET /healthz HTTP/1.1\r\nHost:"] {
            try await Self.holding(30, text, port: world.client.port) { () async throws in
                for _ in 0..<5 {
                    #expect(try await world.send(.get, "/healthz", as: nil).status == 200)
                    #expect(try await world.send(.get, "/v1/orders", as: .backend).status == 200)
                }
            }
        }
    }

    @Test(
        "B.4 If requests are in progress on all connections, monitors are answered, and others get 503",
        .server { $0.limits.connections = 4 })
    func busy() async throws {
        let port = world.client.port
        let slow = "POST /verifyReceipt HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 9\r\n\r\n"
        try await Self.holding(4, slow, port: port) { () async throws in
            let refused = try await RawConnection.request(port: port, "GET /nothing HTTP/1.1\r\nHost: x\r\n\r\n")
            #expect(refused.hasPrefix("HTTP/1.1 503") && refused.lowercased().contains("retry-after: 1"))
            for path in ["/healthz", "/readyz", "/healthz?a=b"] {
                let answer = try await RawConnection.open(port: port) { connection async throws in
                    try await connection.send("GET \(path) HTTP/1.1\r\nHost: x\r\n\r\n")
                    return try await connection.readToEnd()
                }
                #expect(answer.hasPrefix("HTTP/1.1 200"), "\(answer)")
            }
        }
        var answer = 0
        for _ in 0..<1000 {
            guard answer != 200 else { break }
            answer = try await world.send(.get, "/v1/orders", as: .backend).status
        }
        #expect(answer == 200)
    }

    @Test("B.4 A network has a limited number of connections")
    func network() async throws {
        try await PurchaseServerWorld.run {
            $0.limits.connectionsPerNetwork = 3
            $0.limits.uncountedAddresses = []
        } _: { world async throws in
            let port = world.client.port
            try await Self.holding(3, Self.health, port: port) { () async throws in
                let refused = try await RawConnection.open(port: port) { connection async throws in
                    try await connection.readToEnd()
                }
                #expect(refused.isEmpty)
            }
        }
    }
}
