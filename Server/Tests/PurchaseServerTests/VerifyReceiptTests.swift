import EvidenceMint
import Foundation
import HTTPTypes
import NIOCore
import NIOFoundationCompat
import PurchaseServer
import PurchaseVerification
import ServerTestSupport
import TestSupport
import Testing

/// The drop-in, over real HTTP in one process.
@Suite("verifyReceipt", .server)
struct VerifyReceiptTests {
    private let world: PurchaseServerWorld = CurrentWorld.opened()
    private var client: LiveClient { world.client }

    /// Text that would take sixty times its size when decoded.
    private static let many = #"{"receipt-data":"x\u0041","a":["# + String(repeating: "1,", count: 5000) + "1]}"

    private func withServer(
        _ change: (inout ServerConfiguration) -> Void = { _ in },
        _ body: @escaping @Sendable (LiveClient) async throws -> Void
    ) async throws {
        try await PurchaseServerWorld.run(change) { world in try await body(world.client) }
    }

    private func body(_ receipt: [UInt8], _ more: [String: Any] = [:]) throws -> ByteBuffer {
        let object = more.merging(["receipt-data": Data(receipt).base64EncodedString()]) { $1 }
        return ByteBuffer(data: try JSONSerialization.data(withJSONObject: object))
    }

    private func production(_ purchases: [PurchaseTemplate] = []) -> AppReceiptTemplate {
        .production(bundleID: "com.example.app", creationDate: MintedWorld.moment, purchases: purchases)
    }

    private func text(_ response: LiveResponse) -> String { String(buffer: response.body) }

    private func object(_ response: LiveResponse) throws -> [String: Any] {
        try #require(try JSONSerialization.jsonObject(with: Data(buffer: response.body)) as? [String: Any])
    }

    @Test("A genuine receipt is answered in Apple's keys, order, types and forms")
    func genuine() async throws {
        var template = production([
            .consumable(
                productID: "coins", transactionID: "700000000000001", purchaseDate: MintedWorld.moment, quantity: 3)
        ])
        template.downloadID = 503_000_000_000_000_007
        template.originalPurchaseDate = Date(timeIntervalSince1970: 1_688_194_800)
        let receipt = try MintedWorld.mint(template)
        let (request, base64) = (try body(receipt), Data(receipt).base64EncodedString())
        let response = try await client.execute(uri: "/verifyReceipt", method: .post, body: request)
        #expect(response.status == .ok && response.headers[.contentType] == "application/json")
        let answer = text(response)
        #expect(
            answer.hasPrefix(
                #"{"environment":"Production","receipt":{"receipt_type":"Production","adam_id":1234567890,"#
                    + #""app_item_id":1234567890,"bundle_id":"com.example.app","application_version":"1","#
                    + #""download_id":503000000000000007,"version_external_identifier":870000001,"#
                    + #""receipt_creation_date":"2023-11-14 22:13:20 Etc/GMT","#
                    + #""receipt_creation_date_ms":"1700000000000","#
                    + #""receipt_creation_date_pst":"2023-11-14 14:13:20 America/Los_Angeles","#
                    + #""request_date":""#))
        let purchase =
            #"[{"quantity":"3","product_id":"coins","#
            + #""transaction_id":"700000000000001","original_transaction_id":"700000000000001","#
            + #""purchase_date":"2023-11-14 22:13:20 Etc/GMT","purchase_date_ms":"1700000000000","#
            + #""purchase_date_pst":"2023-11-14 14:13:20 America/Los_Angeles","#
            + #""original_purchase_date":"2023-11-14 22:13:20 Etc/GMT","#
            + #""original_purchase_date_ms":"1700000000000","#
            + #""original_purchase_date_pst":"2023-11-14 14:13:20 America/Los_Angeles","#
            + #""is_trial_period":"false","in_app_ownership_type":"PURCHASED"}]"#
        #expect(
            answer.hasSuffix(
                #""original_purchase_date":"2023-07-01 07:00:00 Etc/GMT","#
                    + #""original_purchase_date_ms":"1688194800000","#
                    + #""original_purchase_date_pst":"2023-07-01 00:00:00 America/Los_Angeles","#
                    + #""original_application_version":"1.0","in_app":\#(purchase)},"#
                    + #""latest_receipt_info":\#(purchase),"latest_receipt":"\#(base64)","status":0}"#),
            "\(answer)")
        #expect(response.headers[try #require(HTTPField.Name("Assay-State"))] == "as-of-signing")
    }

    @Test("A number that the receipt lacks is null")
    func absentNumber() async throws {
        var template = production()
        template.downloadID = nil
        let request = try body(try MintedWorld.mint(template))
        let response = try await client.execute(uri: "/verifyReceipt", method: .post, body: request)
        #expect(text(response).contains(#""download_id":null,"#))
    }

    @Test("A receipt with subscriptions is answered with the purchases at its signature, newest first")
    func subscriptions() async throws {
        func period(_ number: Int, of subscription: String) -> PurchaseTemplate {
            .subscription(
                productID: subscription, transactionID: "\(subscription)\(number)",
                originalTransactionID: "\(subscription)0",
                purchaseDate: MintedWorld.moment.addingTimeInterval(Double(number) * 1000),
                originalPurchaseDate: MintedWorld.moment,
                expiresDate: MintedWorld.moment.addingTimeInterval(Double(number) * 1000 + 1000))
        }
        var template = production([
            period(1, of: "a"), period(3, of: "a"), period(0, of: "a"), period(2, of: "b"), period(4, of: "b"),
            .nonConsumable(
                productID: "pro", transactionID: "p", purchaseDate: MintedWorld.moment.addingTimeInterval(2500)),
        ])
        template.creationDate = MintedWorld.moment.addingTimeInterval(5000)
        let receipt = try MintedWorld.mint(template)
        let (all, latest) = (try body(receipt), try body(receipt, ["exclude-old-transactions": true]))
        func identifiers(_ request: ByteBuffer) async throws -> [String] {
            let response = try await client.execute(uri: "/verifyReceipt", method: .post, body: request)
            let state = response.headers[try #require(HTTPField.Name("Assay-State"))]
            #expect(state == "as-of-signing")
            let answer = try object(response)
            #expect(answer["latest_receipt"] as? String == Data(receipt).base64EncodedString())
            #expect(((answer["receipt"] as? [String: Any])?["in_app"] as? [Any])?.count == 6)
            let info = try #require(answer["latest_receipt_info"] as? [[String: Any]])
            return info.compactMap { $0["transaction_id"] as? String }
        }
        #expect(try await identifiers(all) == ["b4", "a3", "p", "b2", "a1", "a0"])
        #expect(try await identifiers(latest) == ["b4", "a3", "p"])
    }

    @Test("latest_receipt is one line of base64, however the receipt was sent")
    func oneLine() async throws {
        let receipt = try MintedWorld.mint(production())
        let line = Data(receipt).base64EncodedString()
        let lines = Data(receipt).base64EncodedString(options: [.lineLength64Characters, .endLineWithLineFeed])
        #expect(lines != line)
        for sent in [line, lines, lines.replacing("\n", with: "\r\n"), line + "\n"] {
            let request = ByteBuffer(data: try JSONSerialization.data(withJSONObject: ["receipt-data": sent]))
            let answer = try object(try await client.execute(uri: "/verifyReceipt", method: .post, body: request))
            #expect(answer["status"] as? Int == 0 && answer["latest_receipt"] as? String == line)
        }
    }

    @Test("Each address answers for its own environment")
    func environments() async throws {
        let sandbox = try body(try MintedWorld.mint())
        let production = try body(try MintedWorld.mint(production()))
        func status(_ uri: String, _ body: ByteBuffer) async throws -> Int? {
            let response = try await client.execute(uri: uri, method: .post, body: body)
            return try object(response)["status"] as? Int
        }
        #expect(try await status("/verifyReceipt", sandbox) == 21007)
        #expect(try await status("/sandbox/verifyReceipt", sandbox) == 0)
        #expect(try await status("/verifyReceipt", production) == 0)
        #expect(try await status("/sandbox/verifyReceipt", production) == 21008)
    }

    @Test("Evidence that does not verify gets only Apple's status, with the reason in a header")
    func failures() async throws {
        let receipt = try MintedWorld.mint(production())
        let cases: [(name: String, method: HTTPRequest.Method, body: ByteBuffer, status: Int, reason: String)] = [
            ("GET", .get, ByteBuffer(), 21000, "not_posted"),
            ("PUT", .put, try body(receipt), 21000, "not_posted"),
            ("no body", .post, ByteBuffer(), 21000, "not_json"),
            ("not JSON", .post, ByteBuffer(string: "receipt-data=MIIT"), 21000, "not_json"),
            ("an array", .post, ByteBuffer(string: "[]"), 21000, "not_json"),
            ("no receipt", .post, ByteBuffer(string: "{}"), 21002, "evidence_empty"),
            ("many values", .post, ByteBuffer(string: Self.many), 21000, "not_json"),
            (
                "many levels", .post, ByteBuffer(string: #"{"a":"# + String(repeating: "[", count: 99)), 21000,
                "not_json"
            ),
            ("an empty receipt", .post, ByteBuffer(string: #"{"receipt-data":""}"#), 21002, "evidence_empty"),
            ("a receipt that is a number", .post, ByteBuffer(string: #"{"receipt-data":7}"#), 21002, "evidence_empty"),
            (
                "not a receipt", .post, ByteBuffer(string: #"{"receipt-data":"invalid receipt data"}"#), 21002,
                "evidence_unrecognized"
            ),
            (
                "a JWS", .post, ByteBuffer(string: #"{"receipt-data":"eyJhbGciOiJFUzI1NiJ9.e30.AAAA"}"#), 21002,
                "jws_instead_of_receipt"
            ),
            ("cut short", .post, try body(Array(receipt.dropLast())), 21002, "asn1_truncated"),
            ("tampered", .post, try body(try MintedWorld.mint(fault: .flippedPayloadByte)), 21003, "signature_invalid"),
            ("another root", .post, try body(try MintedWorld.mint(fault: .wrongRoot)), 21003, "issuer_unknown"),
            (
                "forged", .post, try body(try MintedWorld.mint(fault: .flippedLeafCertificateByte)), 21003,
                "certificate_signature_invalid"
            ),
            (
                "a developer's certificate", .post, try body(try MintedWorld.mint(fault: .developerCertificate)), 21003,
                "leaf_marker_missing"
            ),
        ]
        for item in cases {
            let response = try await client.execute(uri: "/verifyReceipt", method: item.method, body: item.body)
            #expect(response.status == .ok, "\(item.name)")
            #expect(text(response) == "{\"status\":\(item.status)}", "\(item.name)")
            let reason = response.headers[try #require(HTTPField.Name("Assay-Reason"))]
            #expect(reason == item.reason, "\(item.name)")
        }
    }

    @Test(
        "A shared secret that differs is refused, and a receipt with subscriptions needs one",
        .server { $0.sharedSecret = "0123456789abcdef" })
    func sharedSecret() async throws {
        let subscription = try MintedWorld.mint(production(MintedWorld.purchases()))
        let plain = try MintedWorld.mint(production())
        func answer(_ receipt: [UInt8], _ password: Any?) async throws -> String {
            let request = try body(receipt, password.map { ["password": $0] } ?? [:])
            let answer = text(try await client.execute(uri: "/verifyReceipt", method: .post, body: request))
            return answer.hasSuffix(#""status":0}"#) ? "valid" : answer
        }
        #expect(try await answer(subscription, "0123456789abcdef") == "valid")
        #expect(try await answer(subscription, "0123456789abcdeF") == #"{"status":21004}"#)
        #expect(try await answer(subscription, "") == #"{"status":21004}"#)
        #expect(try await answer(subscription, nil) == #"{"status":21004}"#)
        #expect(try await answer(plain, nil) == "valid")
        #expect(try await answer(plain, "0123456789abcdef") == "valid")
        #expect(try await answer(plain, "wrong") == #"{"status":21004}"#)
        // A forged receipt is reported as forged, whatever the secret is.
        let forged = try MintedWorld.mint(production(), fault: .wrongRoot)
        #expect(try await answer(forged, "wrong") == #"{"status":21003}"#)
    }

    @Test("If apps share a server, each app's receipts require its own shared secret")
    func sharedSecrets() async throws {
        let receipt = try MintedWorld.mint(production(MintedWorld.purchases()))
        for (secrets, password, status) in [
            (["com.example.app": "a", "com.example.other": "b"], "a", 0), (["com.example.app": "a"], "b", 21004),
            (["com.example.app": "a", "com.example.other": "b"], "b", 21004), (["com.example.other": "b"], "a", 0),
        ] {
            try await withServer({ $0.sharedSecrets = secrets }) { client async throws in
                let request = try body(receipt, ["password": password])
                let answer = text(try await client.execute(uri: "/verifyReceipt", method: .post, body: request))
                #expect(answer.hasSuffix("\"status\":\(status)}"))
            }
        }
    }

    @Test("JSON is read with any content type")
    func contentTypes() async throws {
        let request = try body(try MintedWorld.mint(production()))
        for type in [
            "application/json", "application/x-www-form-urlencoded", "text/plain", "application/octet-stream",
        ] {
            let response = try await client.execute(
                uri: "/verifyReceipt", method: .post, headers: [.contentType: type], body: request)
            #expect(text(response).hasSuffix(#""status":0}"#), "\(type)")
        }
    }

    @Test("A body beyond the limit is refused, and the server continues")
    func bodyLimit() async throws {
        let request = try body(try MintedWorld.mint(production()))
        try await withServer({ $0.limits.bodyBytes = request.readableBytes }) { client async throws in
            var larger = request
            larger.writeString(" ")
            let refused = try await client.execute(uri: "/verifyReceipt", method: .post, body: larger)
            #expect(refused.status == .contentTooLarge)
            #expect(text(refused) == #"{"status":21002}"#)
            let accepted = try await client.execute(uri: "/verifyReceipt", method: .post, body: request)
            #expect(text(accepted).hasSuffix(#""status":0}"#))
        }
    }

    @Test("A request beyond the memory limit of all requests gets 503 and Retry-After")
    func serverBusy() async throws {
        let request = try body(try MintedWorld.mint(production()))
        try await withServer({ $0.limits.bufferedBytes = request.readableBytes - 1 }) { client async throws in
            let response = try await client.execute(uri: "/verifyReceipt", method: .post, body: request)
            #expect(response.status == .serviceUnavailable && response.headers[.retryAfter] == "1")
            #expect(text(response) == #"{"status":21005}"#)
            #expect(response.headers[try #require(HTTPField.Name("Assay-Reason"))] == "server_busy")
        }
    }

    @Test("Xcode's receipts are answered only at the sandbox address, if they are accepted")
    func xcode() async throws {
        let signer = try MintedWorld.xcodeSigner()
        let receipt = try signer.encode(
            .xcode(bundleID: "com.example.app", creationDate: MintedWorld.moment, purchases: MintedWorld.purchases()))
        let request = try body(receipt)
        try await withServer {
            $0.environments.insert(.xcode)
            if let anchor = try? TrustAnchor(certificate: signer.identity.certificate) { $0.anchors.append(anchor) }
        } _: { client async throws in
            let sandbox = try await client.execute(uri: "/sandbox/verifyReceipt", method: .post, body: request)
            #expect(text(sandbox).hasPrefix(#"{"environment":"Xcode","receipt":{"receipt_type":"Xcode""#))
            let production = try await client.execute(uri: "/verifyReceipt", method: .post, body: request)
            #expect(text(production) == #"{"status":21007}"#)
        }
        try await withServer { client async throws in
            let response = try await client.execute(uri: "/sandbox/verifyReceipt", method: .post, body: request)
            #expect(text(response) == #"{"status":21003}"#)
        }
    }

    @Test("The server answers health checks, and unknown paths with a problem document")
    func healthAndProblems() async throws {
        let health = try await client.execute(uri: "/healthz", method: .get)
        #expect(health.status == .ok)
        #expect(text(health) == #"{"status":"ok"}"#)
        let unknown = try await client.execute(uri: "/nothing", method: .get)
        #expect(unknown.status == .notFound && unknown.headers[.contentType] == "application/problem+json")
        #expect(try object(unknown)["code"] as? String == "not_found")
        #expect(
            try object(unknown)["detail"] as? String
                == "The path does not exist; GET /openapi.yaml lists all paths.")
    }
}
