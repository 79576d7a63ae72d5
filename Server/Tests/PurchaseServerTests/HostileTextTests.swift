import Foundation
import HTTPTypes
import NIOCore
import PurchaseAPI
import PurchaseServer
import ServerTestSupport
import TestSupport
import Testing

/// Text that takes quadratic time to compare or hash as a Swift string, at each route and in each field. None of these
/// tests measures time: quadratic work on a megabyte does not end within the limit.
@Suite("Hostile Unicode", .timeLimit(.minutes(10)))
struct HostileTextTests {
    var world: PurchaseServerWorld { CurrentWorld.opened() }

    /// Combining marks in an order that Unicode has to change, with about this many bytes.
    static func marks(_ bytes: Int) -> String { "e" + String(repeating: "\u{301}\u{316}", count: bytes / 4) }

    /// As large as fits into a body of `/v1` with some other members.
    private static let megabyte = marks((1 << 20) - 1024)

    @Test(
        "A member name of a megabyte is refused, plain, in a nested object, and escaped",
        .server,
        arguments: [
            "/verifyReceipt", "/sandbox/verifyReceipt", "/v1/orders", "/v1/purchases", "/v1/customers/a/consume",
        ])
    func names(path: String) async throws {
        let escaped = #"e"# + String(repeating: #"\u0301\u0316"#, count: 1 << 16)
        for json in [
            #"{"\#(Self.megabyte)":1}"#, #"{"metadata":{"\#(Self.megabyte)":"x"}}"#, #"{"\#(escaped)":1}"#,
            #"[{"\#(Self.megabyte)":1}]"#,
        ] {
            let answer = try await world.send(.post, path, data: Data(json.utf8))
            if path.hasSuffix("verifyReceipt") {
                #expect(answer.text == #"{"status":21000}"#)
            } else {
                #expect(try answer.problem == "body_malformed")
            }
        }
    }

    @Test("A megabyte as the value of any member is answered", .server)
    func values() async throws {
        let fields: [(path: String, names: [String])] = [
            ("/verifyReceipt", ["receipt-data", "password", "exclude-old-transactions", "anything"]),
            ("/v1/orders", ["customer_id", "product_id", "quantity", "metadata"]),
            (
                "/v1/purchases",
                [
                    "receipt_data", "signed_transaction", "product_id", "transaction_id", "order_id", "customer_id",
                    "quantity",
                ]
            ), ("/v1/customers/a/consume", ["product_id", "consumption_id", "environment", "quantity"]),
        ]
        for (path, names) in fields {
            for name in names {
                let json = #"{"\#(name)":"\#(Self.megabyte)"}"#
                let answer = try await world.send(.post, path, data: Data(json.utf8))
                if path == "/verifyReceipt" {
                    #expect(answer.text == #"{"status":21002}"#, "\(name)")
                } else {
                    #expect(answer.status == 400, "\(path) \(name): \(answer.text)")
                }
            }
        }
    }

    @Test("A header field that the server reads must be ASCII; other fields may have any text", .server)
    func headers() async throws {
        let marks = Self.marks(12_000)
        for (field, code) in [
            ("Connection", "header_malformed"), ("Expect", "header_malformed"),
            ("Content-Type", "header_malformed"),
            ("Authorization", "header_malformed"), ("Idempotency-Key", "header_malformed"),
            ("If-None-Match", "header_malformed"), ("X-Forwarded-For", "header_malformed"),
            ("User-Agent", nil), ("Cookie", nil), ("X-City", nil), ("Accept", nil),
        ] {
            let answer = try await RawConnection.request(
                port: world.client.port,
                "GET /healthz HTTP/1.1\r\nHost: x\r\n\(field): \(marks)\r\n\r\n")
            if let code {
                #expect(answer.hasPrefix("HTTP/1.1 400") && answer.contains(code), "\(field): \(answer)")
            } else {
                #expect(answer.hasPrefix("HTTP/1.1 200"), "\(field): \(answer)")
            }
        }
    }

    @Test("Heads that are too large, and targets that are too long or not ASCII, are refused, each with its status")
    func heads() async throws {
        let long = String(repeating: "x", count: 20_000)
        let many = (0..<120).map { "X-\($0): y\r\n" }.joined()
        try await PurchaseServerWorld.run { world async throws in
            for (head, status, code) in [
                ("GET /healthz HTTP/1.1\r\nHost: x\r\nX-Long: \(long)\r\n", 431, "headers_too_large"),
                ("GET /healthz HTTP/1.1\r\nHost: x\r\nX-Long: \(Self.marks(60_000))\r\n", 431, "headers_too_large"),
                ("GET /healthz HTTP/1.1\r\nHost: x\r\n\(many)", 431, "headers_too_large"),
                ("GET /\(long) HTTP/1.1\r\nHost: x\r\n", 414, "target_too_long"),
                ("GET /healthz?\(Self.marks(4000))=1 HTTP/1.1\r\nHost: x\r\n", 400, ""),
                ("GET /\(Self.marks(4000)) HTTP/1.1\r\nHost: x\r\n", 400, ""),
                ("GET /healthz HTTP/1.1\r\nHost: \(Self.marks(4000))\r\n", 400, "host_malformed"),
            ] {
                let answer = try await RawConnection.request(port: world.client.port, head + "\r\n")
                #expect(answer.hasPrefix("HTTP/1.1 \(status)"), "\(answer)")
                // The parser refuses a target beyond ASCII itself, without a document.
                #expect(code.isEmpty || answer.contains(#""code":"\#(code)""#), "\(answer)")
            }
            // The same connection continues after a refusal.
            let two = try await RawConnection.open(port: world.client.port) { connection in
                try await connection.send(
                    "GET /healthz HTTP/1.1\r\nX: y\r\n\r\nGET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"
                )
                return try await connection.readToEnd()
            }
            #expect(two.contains("HTTP/1.1 400") && two.hasSuffix(#"{"status":"ok"}"#), "\(two)")
            // It ends where the sender announced.
            for head in [
                "GET /healthz HTTP/1.1\r\nHost: a b\r\nConnection: Close", "GET /healthz HTTP/1.0\r\nHost: a b",
            ] {
                let last = try await RawConnection.open(port: world.client.port) { connection in
                    try await connection.send(head + "\r\n\r\n")
                    return try await connection.readToEnd()
                }
                #expect(last.contains(" 400 "), "\(last)")
            }
        }
    }

    @Test("Names and values of queries and parts of paths are refused or not found, however they are encoded", .server)
    func queries() async throws {
        let encoded = "e" + String(repeating: "%CC%81%CC%96", count: 600)
        for (path, status) in [
            ("/v1/orders?\(encoded)=1", 400), ("/v1/orders?status=\(encoded)", 400),
            ("/v1/orders?customer_id=\(encoded)", 400), ("/v1/orders?limit=\(encoded)", 400),
            ("/v1/orders?cursor=\(encoded)", 400), ("/v1/submissions?verdict=\(encoded)", 400),
            ("/v1/submissions?from=\(encoded)", 400), ("/v1/submissions?code=\(encoded)", 400),
            ("/v1/orders/\(encoded)", 400), ("/v1/customers/\(encoded)/entitlements", 400), ("/\(encoded)", 404),
        ] {
            let answer = try await world.send(.get, path)
            #expect(answer.status == status, "\(path.prefix(40)): \(answer.text)")
        }
    }

    @Test("JSON that readers understand differently is refused: members twice, a comma too many", .server)
    func ambiguous() async throws {
        let receipt = try #require(try PurchaseServerWorld.purchase().receiptData)
        for json in [
            #"{"receipt-data":"\#(receipt)","receipt-data":"x"}"#,
            #"{"receipt-data":"x","receipt-data":"\#(receipt)"}"#,
            #"{"receipt-data":"\#(receipt)",}"#,
        ] {
            let answer = try await world.send(.post, "/sandbox/verifyReceipt", data: Data(json.utf8), as: nil)
            #expect(answer.text == #"{"status":21000}"#, "\(json.prefix(30))")
        }
        for json in [
            #"{"customer_id":"a","customer_id":"b","product_id":"com.example.app.coins"}"#,
            #"{"customer_id":"a","product_id":"com.example.app.coins",}"#,
        ] {
            let answer = try await world.send(.post, "/v1/orders", data: Data(json.utf8))
            #expect(try answer.problem == "body_malformed", "\(json)")
        }
    }
}
