import Foundation
import Testing

@Suite("assay verify --ask-apple", .serialized)
struct AskAppleTests {
    private static let secret = "s3cret-of-the-app"

    /// Runs a store with a receipt `receipt.b64` of a subscription, and the body with the options that ask the store.
    private func store(
        _ body: (_ post: (String, String) async throws -> String, _ verify: String, _ folder: URL) async throws -> Void
    ) async throws {
        try await Program.inTemporaryFolder { folder in
            let simulate = "assay simulate --port 0 --clock 2026-01-31T12:00:00Z --https-port 0"
            try await RunningServer.run(simulate, in: folder) { server in
                let post = { (path: String, json: String) in
                    try json.write(to: folder.appending(path: "body.json"), atomically: true, encoding: .utf8)
                    let command =
                        "curl -sS -H 'Content-Type: application/json' --data @body.json \(server.address)/control/\(path)"
                    return try await Program.shell(command, in: folder).output
                }
                _ = try await post("apps", #"{"bundle_id":"com.example.app","shared_secret":"\#(Self.secret)"}"#)
                _ = try await post(
                    "products",
                    #"{"bundle_id":"com.example.app","product_id":"gold","kind":"auto-renewable","#
                        + #""subscription":{"group_id":"club","period":"P1M"}}"#)
                _ = try await post("customers", #"{"customer_id":"ada","environment":"production"}"#)
                let bought = try await post(
                    "purchases", #"{"bundle_id":"com.example.app","product_id":"gold","customer_id":"ada"}"#)
                for name in ["app_receipt", "signed_transaction"] {
                    let start = try #require(bought.range(of: "\"\(name)\":\""), "\(bought.prefix(300))")
                    try String(bought[start.upperBound...].prefix { $0 != "\"" })
                        .write(to: folder.appending(path: name), atomically: true, encoding: .utf8)
                }
                try Self.secret.write(to: folder.appending(path: "secret"), atomically: true, encoding: .utf8)
                let verify =
                    "assay verify --trust assay-authority/trust.pem --ask-apple "
                    + "--verify-receipt-production \(server.address)/verifyReceipt "
                    + "--verify-receipt-sandbox \(server.address)/sandbox/verifyReceipt"
                try await body(post, verify, folder)
            }
        }
    }

    @Test("Apple's answer and the signature decide together: agreed, refused, contradicted, or not available")
    func verdicts() async throws {
        try await store { post, verify, folder in
            let withSecret = "\(verify) --shared-secret-file secret"
            let agreed = try await Program.shell("\(withSecret) app_receipt", in: folder)
            #expect(agreed.status == 0, "\(agreed.output)")
            #expect(agreed.output.contains("Production of Apple: Apple agrees."))

            let json = try await Program.shell("\(withSecret) --json app_receipt signed_transaction", in: folder)
            #expect(json.status == 0)
            #expect(json.output.contains(#""apple":{"verdict":"verified","environment":"Production","status":0}"#))
            #expect(json.output.components(separatedBy: #""apple""#).count == 2, "signed data is not asked about")

            let unnamed = try await Program.shell(verify + " --json app_receipt", in: folder)
            #expect(unnamed.status == 1)
            #expect(unnamed.output.contains(#""code":"app_store_secret_mismatch""#), "\(unnamed.output)")
            let variable = try await Program.shell(
                "\(verify) app_receipt", in: folder, environment: ["ASSAY_SHARED_SECRET": Self.secret])
            #expect(variable.status == 0, "\(variable.output)")

            _ = try await post("faults/answers", #"{"kind":"edited","edit":"product"}"#)
            let edited = try await Program.shell("\(withSecret) app_receipt", in: folder)
            #expect(edited.status == 1)
            #expect(edited.output.contains("REJECTED  app_receipt"), "\(edited.output)")
            #expect(edited.output.contains("expected: receipt.in_app[0].product_id gold"))
            #expect(edited.output.contains("found:    gold.lifetime"))

            _ = try await post("faults/answers", #"{"kind":"status","status":21003}"#)
            let refused = try await Program.shell("\(withSecret) --json app_receipt", in: folder)
            #expect(refused.status == 1)
            #expect(refused.output.contains(#""verdict":"rejected","code":"app_store_refused""#), "\(refused.output)")

            _ = try await post("faults/answers", #"{"kind":"status","status":21002,"count":2}"#)
            let undetermined = try await Program.shell("\(withSecret) app_receipt", in: folder)
            #expect(undetermined.status == 3, "\(undetermined.output)")
            #expect(undetermined.output.contains("UNDECIDED app_receipt"))
            #expect(undetermined.output.contains("0 verified, 0 rejected, 1 undetermined."))

            // Evidence that cannot be genuine is not sent.
            _ = try await post("faults/answers", #"{"kind":"status","status":0}"#)
            let forged = try await Program.shell(
                "head -c 500 app_receipt | \(withSecret) --json -", in: folder)
            #expect(forged.status == 1)
            #expect(!forged.output.contains(#""apple""#))
            for output in [agreed, json, unnamed, variable, edited, refused, undetermined, forged] {
                #expect(!output.output.contains(Self.secret))
            }
        }
    }

    @Test("Wrong options are refused before anything is sent")
    func options() async throws {
        try await Program.inTemporaryFolder { folder in
            try "x".write(to: folder.appending(path: "receipt"), atomically: true, encoding: .utf8)
            for (options, words) in [
                ("--shared-secret-file secret", "add '--ask-apple'"),
                ("--exclude-old-transactions", "add '--ask-apple'"),
                ("--ask-apple --verify-receipt-production https://a.example/", "Name both"),
                (
                    "--ask-apple --verify-receipt-production http://a.example/ --verify-receipt-sandbox https://b.example/",
                    "plain HTTP to another machine"
                ),
                ("--ask-apple --shared-secret-file missing", "missing"),
                ("--ask-apple --tls-trust missing.pem", "the certificate authorities in missing.pem cannot be used"),
            ] {
                let result = try await Program.shell("assay verify \(options) receipt", in: folder)
                #expect(result.status == 2, "\(options): \(result.output)")
                #expect(result.output.contains(words), "\(options): \(result.output)")
            }
        }
    }
}
