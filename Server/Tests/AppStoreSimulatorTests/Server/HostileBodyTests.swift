import Foundation
import ServerTestSupport
import Testing

@Suite("Hostile JSON at the simulator")
struct HostileBodyTests {
    private static let marks = "e" + String(repeating: "\u{301}\u{316}", count: 40_000)
    private static let escapes = "e" + String(repeating: #"\u0301\u0316"#, count: 40_000)

    /// Bodies that each cost Foundation minutes or hundreds of megabytes, or hide from a reader of bytes.
    static let bodies: [(name: String, body: [UInt8])] = [
        ("a name of marks", Array(#"{"\#(marks)":1}"#.utf8)),
        ("a name of escaped marks", Array(#"{"\#(escapes)":1}"#.utf8)),
        ("a name of marks inside", Array(#"{"bundle_id":{"\#(marks)" : 1}}"#.utf8)),
        ("a text of marks", Array(#"{"bundle_id":"\#(marks)"}"#.utf8)),
        ("a text of escaped marks", Array(#"{"bundle_id":"\#(escapes)"}"#.utf8)),
        ("a long name", Array(#"{"\#(String(repeating: "a", count: 65))":1}"#.utf8)),
        ("equal members", Array(#"{"bundle_id":"com.example.app","bundle_id":"com.example.app"}"#.utf8)),
        ("equal members inside", Array(#"[{"a":[1,{"b":1}],"c":{"d":1,"d":2}}]"#.utf8)),
        ("a second spelling of a name", Array(#"{"bundle_id":"a","bundle\u005fid":"b"}"#.utf8)),
        ("depth", Array(repeatElement(UInt8(ascii: "["), count: 100_000))),
        ("many values", Array("[\(String(repeating: "1,", count: 200_000))1]".utf8)),
        ("UTF-16", Array(#"{"bundle_id":"a"}"#.utf8.flatMap { [$0, 0] })),
    ]

    @Test("is refused by every route of the control API before Foundation reads it", arguments: bodies)
    func control(_ hostile: (name: String, body: [UInt8])) async throws {
        try await SimulatorClient.run { client in
            let before = try await client.get("/control/state").text
            for path in [
                "apps", "products", "customers", "purchases", "clock", "faults/answers", "transactions/1/refund",
            ] {
                let answer = try await client.post("/control/\(path)", bytes: hostile.body)
                #expect(answer.status == 400, "\(path)")
                #expect(try answer.text("code") == "invalid_request")
            }
            #expect(try await client.get("/control/state").text == before)
        }
    }

    @Test("is not a request to verifyReceipt", arguments: bodies)
    func verifyReceipt(_ hostile: (name: String, body: [UInt8])) async throws {
        try await SimulatorClient.run { client in
            let text = String(decoding: hostile.body, as: UTF8.self).replacing("bundle_id", with: "receipt-data")
            let body = hostile.name == "UTF-16" ? hostile.body : Array(text.utf8)
            let answer = try await client.post("/verifyReceipt", bytes: body)
            #expect(answer.text == #"{"status":21000}"#)
        }
    }

    @Test("A text of the maximum length is accepted and compared unchanged")
    func longestText() async throws {
        try await SimulatorClient.run { client in
            let name = String(repeating: "\u{E9}", count: 100)
            let first = try await client.post("/control/customers", ["customer_id": name])
            let second = try await client.post("/control/customers", ["customer_id": name])
            #expect(first.status == 201)
            #expect(second.status == 409)
        }
    }

    @Test(
        "A body with a too large Content-Length is refused at once", arguments: ["1000000000", "9223372036854775808"])
    func announcedLength(_ length: String) async throws {
        try await SimulatorClient.run { client in
            for path in ["/control/apps", "/verifyReceipt", "/sandbox/verifyReceipt"] {
                let answer = try await RawRequest.send(
                    [
                        "POST \(path) HTTP/1.1", "Host: localhost", "Content-Type: application/json",
                        "Content-Length: \(length)",
                    ], port: client.http.port)
                #expect(answer.status == 413, "\(path)")
            }
        }
    }

    @Test("Messages do not name types of Swift or Foundation")
    func messages() async throws {
        try await SimulatorClient.run { client in
            let bodies = [
                #"{"bundle_id":7}"#, #"{"bundle_id":null}"#, #"{"bundle_id":"a","grace_period_days":"x"}"#, "[]", "7",
                "no",
                #"{"bundle_id":"a","environment_names":"x"}"#, #"{"bundle_id":"a","grace_period_days":1e99}"#,
                #"{"bundle_id":"a","grace_period_days":1.5}"#, "{", #"{"bundle_id":["a"]}"#,
            ]
            for body in bodies {
                let answer = try await client.post("/control/apps", bytes: Array(body.utf8))
                #expect(answer.status == 400, "\(body)")
                let detail = try answer.text("detail")
                for word in [
                    "String", "Dictionary", "Array", "Int", "Swift", "decode", "Codable", "JSONError", "Cannot",
                ] {
                    #expect(!detail.contains(word), "\(body): \(detail)")
                }
            }
        }
    }
}
