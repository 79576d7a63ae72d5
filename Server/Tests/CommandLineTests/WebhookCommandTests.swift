import Foundation
import Testing

@Suite("assay webhooks")
struct WebhookCommandTests {
    private static let secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYo="
    /// No server listens there.
    private static let url = "http://127.0.0.1:9/hook?token=hunter2"

    @Test("Webhooks are listed, disabled and enabled while the server runs; URL and secrets are in no log")
    func commands() async throws {
        try await Program.inTemporaryFolder { folder in
            let settings = """
                apps:
                  game:
                    bundle_ids: com.example.app
                    webhooks:
                      - { url: "\(Self.url)", secrets: [env:HOOK], allow_hosts: [127.0.0.1] }
                """
            try settings.write(to: folder.appending(path: "assay.yaml"), atomically: true, encoding: .utf8)
            let environment = ["HOOK": Self.secret]
            func shell(_ command: String) async throws -> String {
                try await Program.shell(command, in: folder, environment: environment).output
            }
            let none = try await shell("assay keys create --app game --scope admin 2>/dev/null >key")
            #expect(none.isEmpty, "\(none)")
            let serve = "assay serve --port 0 --log-level debug 2>log"
            try await RunningServer.run(serve, in: folder, environment: environment) { server in
                func wait(_ command: String, _ text: String) async throws {
                    let script = """
                        for n in $(seq 1 12000); do \(command) 2>&1 | grep -q '\(text)' && break; sleep 0.05; done
                        \(command)
                        """
                    let output = try await shell(script)
                    #expect(output.contains(text), "\(output)")
                }
                try await wait("cat log", "this server delivers to the webhook")
                _ = try await shell(
                    #"curl -sS -H "Authorization: Bearer $(cat key)" -H 'Idempotency-Key: 1' --data '{"customer_id":"a","product_id":"p"}' "#
                        + "\(server.address)/v1/orders")
                try await wait("assay list webhooks --app game", "1 waiting for a retry, 0 given up")
                try await wait("cat log", "connection_failed")
                let disable = "assay webhooks disable --app game '\(Self.url)' --reason 'moves'"
                #expect(try await shell(disable).contains("the webhook is disabled"))
                #expect(try await shell("assay list webhooks --app game").contains("disabled since"))
                #expect(try await shell("assay list webhooks --app game").contains(": moves"))
                #expect(
                    try await shell("assay webhooks enable --app game '\(Self.url)'").contains("the webhook is enabled")
                )
                #expect(
                    try await shell("assay webhooks resend --app game '\(Self.url)'").contains(
                        "0 events are sent again"))
                let since = "assay webhooks resend --app game '\(Self.url)' --since"
                #expect(
                    try await shell("\(since) 2020-01-01T00:00:00Z").contains(
                        "1 event is delivered, from 2020-01-01T00:00:00Z on"))
                // An event of another history, and a number, which names an entry of a forward.
                for event in ["evt_\(String(repeating: "0", count: 32))_1", "1"] {
                    let resend = "assay webhooks resend --app game '\(Self.url)' --event \(event); echo $?"
                    let refused = try await shell(resend)
                    #expect(refused.contains("is not the id of an event") && refused.hasSuffix("2\n"), "\(refused)")
                }
                #expect(try await shell("\(since) yesterday").contains("yesterday"))
                #expect(try await shell("\(since) 2020-01-01T00:00:00Z --event 1").contains("exclude each other"))
                // The server reads the webhook again, and attempts the event anew.
                try await wait("assay list webhooks --app game", "1 waiting for a retry, 0 given up")
                #expect(
                    try await shell("assay webhooks enable --app game http://other.example/")
                        .contains("no server delivered to this URL yet"))
            }
            let log = try await shell("cat log; cat assay-*.key >/dev/null; grep -c . log")
            #expect(!log.contains("hunter2") && !log.contains("MfKQ9r8G"), "\(log)")
        }
    }
}
