import Foundation
import Testing

/// A server as a process whose app asks a simulated store, over HTTPS with the store's own authority.
@Suite("assay serve, with the App Store asked", .serialized)
struct WaitingClaimProcessTests {
    private static let secret = "s3cret-of-the-app"

    private static func settings(_ store: String, mode: String = "apple") -> String {
        """
        app_store:
          verify_receipt_production: \(store)/verifyReceipt
          verify_receipt_sandbox: \(store)/sandbox/verifyReceipt
          tls_trust: assay-authority/https/root.pem
        apps:
          game:
            bundle_ids: com.example.app
            mode: \(mode)
            shared_secret_file: secret
            products: { gold: { kind: auto_renewable } }
        """
    }

    @Test("Killed while a claim waits: after the next start the server asks on its own, and grants once")
    func killed() async throws {
        try await Program.inTemporaryFolder { folder in
            // The line about HTTPS is the second one, so the port is chosen here.
            let port = try await Program.shell(
                "python3 -c 'import socket; s = socket.socket(); s.bind((\"127.0.0.1\", 0)); print(s.getsockname()[1])'",
                in: folder
            ).output.trimmingCharacters(in: .whitespacesAndNewlines)
            // The store uses the machine's clock, as the server does for its decisions.
            try await RunningServer.run("assay simulate --port 0 --https-port \(port)", in: folder) { store in
                func post(_ path: String, _ json: String) async throws -> String {
                    try await Program.shell(
                        "curl -sS -H 'Content-Type: application/json' --data '\(json)' \(store.address)/control/\(path)",
                        in: folder
                    ).output
                }
                _ = try await post("apps", #"{"bundle_id":"com.example.app","shared_secret":"\#(Self.secret)"}"#)
                _ = try await post(
                    "products",
                    #"{"bundle_id":"com.example.app","product_id":"gold","kind":"auto-renewable","#
                        + #""subscription":{"group_id":"club","period":"P1M"}}"#)
                _ = try await post("customers", #"{"customer_id":"ada","environment":"production"}"#)
                let bought = try await post(
                    "purchases", #"{"bundle_id":"com.example.app","product_id":"gold","customer_id":"ada"}"#)
                let object = try #require(
                    try JSONSerialization.jsonObject(with: Data(bought.utf8)) as? [String: Any], "\(bought)")
                let evidence = try #require(object["evidence"] as? [String: Any])
                let transaction = try #require(object["transaction"] as? [String: Any])
                let claim = try JSONSerialization.data(withJSONObject: [
                    "receipt_data": try #require(evidence["app_receipt"]), "product_id": "gold", "customer_id": "ada",
                    "transaction_id": try #require(transaction["transaction_id"]),
                ])
                try claim.write(to: folder.appending(path: "claim.json"))
                try Self.secret.write(to: folder.appending(path: "secret"), atomically: true, encoding: .utf8)
                try Self.settings("https://localhost:\(port)")
                    .write(to: folder.appending(path: "assay.yaml"), atomically: true, encoding: .utf8)
                _ = try await Program.shell(
                    "assay keys create --app game --scope admin 2>/dev/null > key", in: folder)
                let send =
                    #"curl -sS -D - -H "Authorization: Bearer $(cat key)" -H "Content-Type: application/json" "#
                    + "--data @claim.json"
                _ = try await post("faults/answers", #"{"kind":"outage","count":1000}"#)
                let serve = "assay serve --port 0 --trust assay-authority/trust.pem --log-format json 2>>log"
                try await RunningServer.run(serve, in: folder) { server in
                    let answer = try await Program.shell("\(send) \(server.address)/v1/purchases", in: folder).output
                    #expect(answer.contains("503 Service Unavailable"), "\(answer)")
                    #expect(answer.lowercased().contains("retry-after:"))
                    #expect(answer.contains(#""verdict":"undetermined""#))
                    _ = try await Program.shell("kill -9 \(server.processIdentifier)", in: folder)
                }
                _ = try await Program.shell("curl -sS -X DELETE \(store.address)/control/faults", in: folder)
                try await RunningServer.run(serve, in: folder) { server in
                    var decided = ""
                    for _ in 0..<3000 {
                        guard !decided.contains("claim_decided") else { break }
                        try await Task.sleep(for: .milliseconds(200))
                        decided = try await Program.shell(
                            #"curl -sS -H "Authorization: Bearer $(cat key)" \#(server.address)/v1/events"#, in: folder
                        ).output
                    }
                    #expect(decided.components(separatedBy: #""type":"granted""#).count == 2, "\(decided)")
                    #expect(decided.contains(#""reason":"accepted""#), "\(decided)")
                    let answer = try await Program.shell("\(send) \(server.address)/v1/purchases", in: folder).output
                    #expect(answer.contains("200 OK") && answer.contains(#""replayed":true"#), "\(answer)")
                }
                let audit = try await Program.shell(
                    "assay audit verify --evidence --trust assay-authority/trust.pem", in: folder)
                #expect(audit.status == 0, "\(audit.output)")
                let log = try String(contentsOf: folder.appending(path: "log"), encoding: .utf8)
                #expect(log.contains("the App Store gave no answer about a claim"), "\(log)")
                let found = try await Program.shell("grep -rl '\(Self.secret)' . | sort", in: folder).output
                // The store's own file has it, too; the server's files do not.
                #expect(!found.contains("log") && !found.contains("assay.sqlite"), "\(found)")
            }
        }
    }

    @Test("Wrong settings are refused at the start, with the correction")
    func settings() async throws {
        try await Program.inTemporaryFolder { folder in
            let key = "assay keys create --app game --scope admin 2>/dev/null > key; "
            for (settings, words) in [
                (Self.settings("http://example.com"), "plain HTTP to another machine"),
                (
                    Self.settings("https://localhost:1").replacingOccurrences(of: "mode: apple", with: "mode: appel"),
                    "mode is 'appel'"
                ),
                (
                    Self.settings("https://localhost:1")
                        .replacingOccurrences(
                            of: "  verify_receipt_sandbox: https://localhost:1/sandbox/verifyReceipt\n", with: ""
                        )
                        .replacingOccurrences(of: "  tls_trust: assay-authority/https/root.pem\n", with: ""),
                    "app_store.verify_receipt_production and app_store.verify_receipt_sandbox"
                ),
                (Self.settings("https://localhost:1"), "assay.yaml: line 4: app_store.tls_trust '"),
                (Self.settings("https://localhost:1") + "\nwait: 3", "wait"),
            ] {
                try Self.secret.write(to: folder.appending(path: "secret"), atomically: true, encoding: .utf8)
                try settings.write(to: folder.appending(path: "assay.yaml"), atomically: true, encoding: .utf8)
                let result = try await Program.shell("\(key)timeout 20 assay serve --port 0", in: folder)
                #expect(result.status == 2, "\(settings)\n\(result.output)")
                #expect(result.output.contains(words), "\(result.output)")
            }
        }
    }
}
