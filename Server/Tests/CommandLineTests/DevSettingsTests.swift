import Foundation
import TestSupport
import Testing

/// `assay dev --config`, as a backend developer uses it.
@Suite("assay dev with a settings file")
struct DevSettingsTests {
    private static let secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYo="

    /// Writes the body of each delivery to `received`, with the difference of its signed time from the machine's.
    private static let receiver = """
        import http.server, json, threading, time
        lock = threading.Lock()
        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = 'HTTP/1.1'
            def do_POST(self):
                body = json.loads(self.rfile.read(int(self.headers['content-length'])))
                body['late'] = abs(int(self.headers['webhook-timestamp']) - time.time()) > 240
                with lock: open('received', 'a').write(json.dumps(body) + '\\n')
                self.send_response(204)
                self.send_header('Content-Length', '0')
                self.end_headers()
            def log_message(self, *arguments): pass
        server = http.server.ThreadingHTTPServer(('127.0.0.1', 0), Handler)
        print('http://127.0.0.1:%d' % server.server_port, flush=True)
        server.serve_forever()
        """

    private static func settings(_ receiver: String, mode: String = "apple") -> String {
        """
        apps:
          game:
            bundle_ids: com.example.game
            mode: \(mode)
            shared_secret_file: shop-secret
            sandbox_access: testers
            products:
              gems: { kind: consumable }
              gold: { kind: auto_renewable, entitlements: premium }
            webhooks:
              - { url: "\(receiver)/hook", secrets: [env:HOOK], allow_hosts: [127.0.0.1] }
        """
    }

    @Test(
        """
        33.1 The settings' webhook gets events, mode apple asks the store, products give named entitlements, a tester's sandbox \
        purchase counts, the clock is the store's, and SIGHUP reads the settings again
        """)
    func settings() async throws {
        try await Program.inTemporaryFolder { folder in
            func write(_ text: String, _ name: String) throws {
                try text.write(to: folder.appending(path: name), atomically: true, encoding: .utf8)
            }
            try write(Self.receiver, "receiver.py")
            try write("s3cret-of-the-shop", "shop-secret")
            try await RunningServer.run("python3 receiver.py", in: folder) { receiver in
                try write(Self.settings(receiver.address), "assay.yaml")
                try await RunningServer.run(
                    "assay dev --config assay.yaml --port 0 --store-port 0 --no-open --log-level info 2>log",
                    in: folder,
                    environment: ["HOOK": Self.secret]
                ) { running in
                    try await Self.use(running, folder)
                    try write(Self.settings(receiver.address, mode: "offline"), "assay.yaml")
                    _ = try await Program.shell("kill -HUP \(running.processIdentifier)", in: folder)
                    try await RecordCommandTests.wait {
                        try String(contentsOf: folder.appending(path: "log"), encoding: .utf8)
                            .contains("settings reloaded")
                    }
                }
            }
        }
    }

    @Test("Wrong settings end the start before the folder is made")
    func wrongSettings() async throws {
        try await Program.inTemporaryFolder { folder in
            let text = "apps:\n  game: { bundle_id: com.example.game, webhooks: [{ url: x, secrets: file:none }] }\n"
            try text.write(to: folder.appending(path: "s.yaml"), atomically: true, encoding: .utf8)
            let dev = "timeout 60 assay dev --config s.yaml --port 0 --store-port 0 --no-open; echo status $?; ls"
            let output = try await Program.shell(dev, in: folder).output
            #expect(output.hasSuffix("status 2\ns.yaml\n"), "\(output)")
            for part in ["Did you mean 'bundle_ids'?", "has no url", "secrets: a file"] {
                #expect(output.contains(part), "\(output)")
            }
        }
    }

    private static func use(_ running: RunningServer, _ folder: URL) async throws {
        let store = try #require(running.line.split { " ;\n".contains($0) }.filter { $0.hasPrefix("http://") }.last)
        func shell(_ command: String) async throws -> String {
            let result = try await Program.shell(
                command, in: folder, environment: ["STORE": String(store), "SERVER": running.address])
            #expect(result.status == 0, "\(command): \(result.output)")
            return result.output
        }
        /// Buys in the store, whose page then sends the receipt to the server.
        func buy(_ product: String, by customer: String) async throws -> String {
            try await shell(
                """
                curl -sSf -H 'Content-Type: application/json' $STORE/control/purchases --data \
                '{"bundle_id":"com.example.game","product_id":"\(product)","customer_id":"\(customer)"}' > bought
                id=$(python3 -c 'import json; print(json.load(open("bought"))["transaction"]["transaction_id"])')
                curl -sSf -H 'Content-Type: application/json' $STORE/control/transactions/$id/send \
                --data '{"way":"app_receipt"}'
                """)
        }
        func entitlements(of customer: String) async throws -> String {
            try await shell(
                """
                curl -sSf -H "Authorization: Bearer $(cat assay-dev/game-admin.key)" $SERVER/v1/customers/\(customer)/entitlements
                """)
        }
        let granted = try await buy("gold", by: "alice")
        #expect(granted.contains(#""disposition":"granted""#), "\(granted)")
        let alice = try await entitlements(of: "alice")
        #expect(alice.contains(#""state":"active""#) && alice.contains(#""premium""#), "\(alice)")

        _ = try await shell(
            """
            curl -sSf -H 'Content-Type: application/json' $STORE/control/customers \
            --data '{"customer_id":"bob","environment":"sandbox"}'
            """)
        _ = try await buy("gems", by: "bob")
        #expect(!(try await entitlements(of: "bob")).contains(#""balance":1"#))
        _ = try await shell(
            """
            curl -sSf -X PUT -H "Authorization: Bearer $(cat assay-dev/game-admin.key)" $SERVER/v1/testers/bob
            """)
        #expect(try await entitlements(of: "bob").contains(#""balance":1"#))

        // A year passes for both, and the store's notifications tell of the renewals; the webhook's signatures stay at
        // the time of the machine.
        func control(_ path: String, _ body: String) async throws {
            _ = try await shell("curl -sSf -H 'Content-Type: application/json' $STORE/control/\(path) --data '\(body)'")
        }
        try await control("clock", #"{"advance":"P1Y"}"#)
        try await RecordCommandTests.wait {
            let renewed = try await entitlements(of: "alice")
            return renewed.contains(#""state":"active""#) && !renewed.contains(#""news_missing""#)
        }
        // Without a further renewal it ends.
        let original = try await shell(
            """
            curl -sSf "$STORE/control/lists/transactions?search=gold" | python3 -c 'import json, sys
            print(json.load(sys.stdin)["items"][-1]["original_transaction_id"])'
            """)
        try await control("subscriptions/\(original.trimmingCharacters(in: .whitespacesAndNewlines))/cancel", "{}")
        try await control("clock", #"{"advance":"P1Y"}"#)
        try await RecordCommandTests.wait { try await entitlements(of: "alice").contains(#""state":"expired""#) }
        _ = try await shell(
            """
            curl -sSf -H "Authorization: Bearer $(cat assay-dev/game-admin.key)" -H 'Idempotency-Key: 1' $SERVER/v1/orders \
            --data '{"customer_id":"alice","product_id":"gems"}'
            """)
        var received = ""
        try await RecordCommandTests.wait {
            // There is no file before the first delivery.
            received = (try? String(contentsOf: folder.appending(path: "received"), encoding: .utf8)) ?? ""
            return received.contains("order_created")
        }
        // The App Store was asked about both claims.
        let decided = received.split(separator: "\n").filter { $0.contains(#""type": "claim_decided""#) }
        #expect(decided.count == 2 && decided.allSatisfy { $0.contains(#""reason": "accepted""#) }, "\(received)")
        #expect(received.contains(#""type": "granted""#) && !received.contains(#""late": true"#), "\(received)")
    }
}
