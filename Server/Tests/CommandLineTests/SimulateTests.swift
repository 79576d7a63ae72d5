import Foundation
import Testing

@Suite("assay simulate", .serialized)
struct SimulateTests {
    private func post(_ path: String, _ body: String, to address: String, in folder: URL) async throws -> String {
        try body.write(to: folder.appending(path: "body.json"), atomically: true, encoding: .utf8)
        return try await Program.shell(
            "curl -sS -H 'Content-Type: application/json' --data @body.json \(address)\(path)", in: folder
        ).output
    }

    private func text(_ key: String, in json: String) throws -> String {
        let start = try #require(json.range(of: "\"\(key)\":\""), "\(json.prefix(300))")
        return String(json[start.upperBound...].prefix { $0 != "\"" })
    }

    @Test("A store sells evidence that verifies with its trust.pem, and keeps it over a restart and a year")
    func store() async throws {
        try await Program.inTemporaryFolder { folder in
            let simulate =
                "assay simulate --port 0 --clock 2026-01-31T12:00:00Z --first-transaction 1 --database store.db"
            try await RunningServer.run(simulate, in: folder) { server in
                let address = server.address
                #expect(server.line.hasSuffix("; trust assay-authority/trust.pem\n"))
                _ = try await post("/control/apps", #"{"bundle_id":"com.example.app"}"#, to: address, in: folder)
                _ = try await post(
                    "/control/products",
                    #"{"bundle_id":"com.example.app","product_id":"gold","kind":"auto-renewable","#
                        + #""subscription":{"group_id":"club","period":"P1M"}}"#, to: address, in: folder)
                _ = try await post(
                    "/control/customers", #"{"customer_id":"ada","environment":"production"}"#, to: address, in: folder)
                let bought = try await post(
                    "/control/purchases",
                    #"{"bundle_id":"com.example.app","product_id":"gold","customer_id":"ada"}"#, to: address, in: folder
                )
                for name in [
                    "app_receipt", "transaction_receipt", "signed_transaction", "signed_renewal_info",
                    "app_transaction",
                ] {
                    try text(name, in: bought).write(
                        to: folder.appending(path: name), atomically: true, encoding: .utf8)
                }
            }
            let verified = try await Program.shell(
                "assay verify --trust assay-authority/trust.pem app_receipt transaction_receipt signed_transaction "
                    + "signed_renewal_info app_transaction", in: folder)
            #expect(verified.status == 0, "\(verified.output)")
            try await RunningServer.run(simulate, in: folder) { server in
                let address = server.address
                #expect(
                    try await post("/control/clock", #"{"advance":"P1Y"}"#, to: address, in: folder)
                        == #"{"now":"2027-01-31T12:00:00Z","rate":0}"#)
                let receipt = try String(contentsOf: folder.appending(path: "app_receipt"), encoding: .utf8)
                let answer = try await post(
                    "/verifyReceipt", #"{"receipt-data":"\#(receipt)"}"#, to: address, in: folder)
                #expect(answer.hasPrefix(#"{"environment":"Production","receipt":{"#))
                #expect(
                    answer.contains(
                        #""latest_receipt_info":[{"quantity":"1","product_id":"gold","transaction_id":"500000000000013""#
                    ))
                #expect(answer.hasSuffix(#""status":0}"#))
            }
        }
    }

    @Test("28.4 With --notify the store sends notifications, and keeps their attempts in its database")
    func notifications() async throws {
        try await Program.inTemporaryFolder { folder in
            // The simulator itself is a server without the route.
            try await RunningServer.run("assay simulate --port 0", in: folder) { receiver in
                let simulate =
                    "assay simulate --port 0 --clock 2026-01-31T12:00:00Z --first-transaction 1 --database store.db"
                let notifying = "\(simulate) --notify \(receiver.address)/notifications/v2"
                try await RunningServer.run(notifying, in: folder) { server in
                    for (path, body) in [
                        ("/control/apps", #"{"bundle_id":"com.example.app"}"#),
                        (
                            "/control/products",
                            #"{"bundle_id":"com.example.app","product_id":"coins","kind":"consumable"}"#
                        ),
                        ("/control/customers", #"{"customer_id":"ada","environment":"production"}"#),
                        (
                            "/control/purchases",
                            #"{"bundle_id":"com.example.app","product_id":"coins","customer_id":"ada"}"#
                        ),
                        ("/control/notifications/deliver", "{}"),
                    ] {
                        _ = try await post(path, body, to: server.address, in: folder)
                    }
                }
                // The address is kept, too.
                try await RunningServer.run(simulate, in: folder) { server in
                    _ = try await post(
                        "/control/clock", #"{"advance_seconds":3600}"#, to: server.address, in: folder)
                    let counts = try await post(
                        "/control/notifications/deliver", "{}", to: server.address, in: folder)
                    #expect(counts.contains(#""attempts":2"#) && counts.contains(#""waiting":1"#), "\(counts)")
                }
            }
        }
    }

    @Test("The attacks find no mistake of a drop-in that trusts the authority, and end if it does not")
    func attacks() async throws {
        try await Program.inTemporaryFolder { folder in
            try await RunningServer.run("assay serve --port 0", in: folder) { server in
                let result = try await Program.shell("assay simulate attacks --against \(server.address)", in: folder)
                #expect(result.status == 2)
                #expect(result.output.contains("refuses a genuine app receipt"), "\(result.output)")
            }
            let trusting = "assay serve --port 0 --trust assay-authority/trust.pem"
            try await RunningServer.run(trusting, in: folder) { server in
                // Any folder will do, as long as it is the same.
                try FileManager.default.moveItem(
                    at: folder.appending(path: "assay-authority"), to: folder.appending(path: "keys"))
                let result = try await Program.shell(
                    "assay simulate attacks --authority keys --against \(server.address)", in: folder)
                #expect(result.status == 0, "\(result.output)")
                #expect(!result.output.contains("WRONG"))
                #expect(result.output.contains("  right  app-receipt: cross-signed "))
                #expect(result.output.components(separatedBy: "\n").filter { $0.hasPrefix("  right") }.count > 150)
                #expect(result.output.hasSuffix(" attacks, 0 answered wrongly\n"))
            }
        }
    }

    @Test("The attacks find the mistakes of a server")
    func wrongServer() async throws {
        try await Program.inTemporaryFolder { folder in
            // A server that accepts everything.
            try await RunningServer.run("assay simulate --port 0", in: folder) { server in
                _ = try await post(
                    "/control/faults/answers", #"{"kind":"status","status":0,"count":1000}"#, to: server.address,
                    in: folder)
                let result = try await Program.shell(
                    "assay simulate attacks --quiet --against \(server.address)", in: folder)
                #expect(result.status == 1, "\(result.output)")
                #expect(result.output.contains("  WRONG  app-receipt: wrong-root"))
            }
        }
    }
}
