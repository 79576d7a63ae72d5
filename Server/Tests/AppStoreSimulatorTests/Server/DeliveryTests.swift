import AppStoreSimulator
import Foundation
import NIOCore
import ServerTestSupport
import Testing

@Suite("Evidence sent to the server under test")
struct DeliveryTests {
    @Test("returns the request and its answer, with the status and without the key")
    func answer() async throws {
        try await SimulatorClient.run { server in
            // A simulator is a server of verifyReceipt. It did not issue the receipt, so it answers 21003.
            let configuration = SimulatorClient.configuration {
                $0.server = "http://127.0.0.1:\(server.http.port)"
                $0.serverKey = "assay_secret"
            }
            try await SimulatorClient.run(configuration) { client in
                try await client.openShop(secret: "s3cret")
                let id = try await client.buy("coins", by: "tester").text("transaction", "transaction_id")
                let sent = try await client.post("/control/transactions/\(id)/send", ["way": "verify_receipt"])
                let object = try sent.object
                #expect(try sent.text("url").hasSuffix("/sandbox/verifyReceipt"))
                #expect((object["answer"] as? [String: Any])?["status"] as? Int == 21003, "\(sent.text)")
                #expect((object["request"] as? [String: Any])?["password"] as? String == "s3cret")
                let claim = try await client.post("/control/transactions/\(id)/send", ["customer_id": "carol"])
                let request = try #require(try claim.object["request"] as? [String: Any])
                #expect(request["customer_id"] as? String == "carol" && request["transaction_id"] as? String == id)
                #expect(try claim.object["status"] as? Int == 404 && claim.object["needs_key"] as? Bool == true)
                #expect(!sent.text.contains("assay_secret") && !claim.text.contains("assay_secret"))
            }
        }
    }

    @Test("without a server, or to one that does not answer, is refused with the option to change")
    func noServer() async throws {
        let nobody = SimulatorClient.configuration { $0.server = "http://127.0.0.1:1" }
        for (configuration, code, option) in [
            (SimulatorClient.configuration(), "no_server", "--server"), (nobody, "server_unreachable", "--server"),
        ] {
            try await SimulatorClient.run(configuration) { client in
                try await client.openShop()
                let id = try await client.buy("coins").text("transaction", "transaction_id")
                let answer = try await client.post("/control/transactions/\(id)/send")
                #expect(try answer.text("code") == code)
                #expect(try answer.text("detail").contains(option), "\(answer.text)")
            }
        }
    }

    @Test("needs an address of plain HTTP", arguments: ["https://127.0.0.1:1", "localhost", "http://a/b"])
    func address(text: String) async throws {
        await #expect(throws: SimulatorConfigurationError.invalidServer(text)) {
            try await SimulatorClient.run(SimulatorClient.configuration { $0.server = text }) { _ in }
        }
    }
}
