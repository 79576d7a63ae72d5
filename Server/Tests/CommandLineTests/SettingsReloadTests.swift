import Foundation
import TestSupport
import Testing

/// SIGHUP to a running server.
@Suite("assay serve, settings reloaded by SIGHUP")
struct SettingsReloadTests {
    private static func settings(products: Int, more: String = "") -> String {
        let products = (0...products).map { "      product\($0): { kind: consumable }\n" }.joined()
        return "apps:\n  game:\n    bundle_ids: com.example.app\n    products:\n\(products)\(more)"
    }

    private static let second = """
          second:
            bundle_ids: com.example.second
            products: { gems: { kind: consumable } }

        """

    private static func write(_ settings: String, _ folder: URL) throws {
        try settings.write(to: folder.appending(path: "assay.yaml"), atomically: true, encoding: .utf8)
    }

    private static let serve = "assay serve --port 0 2>log"
    private static let key = #"-H "Authorization: Bearer $(cat key)" -H "Content-Type: application/json""#

    /// Sends SIGHUP, and waits for the log line of the reload.
    private static func hangUp(_ server: RunningServer, _ message: String, _ count: Int = 1) -> String {
        """
        kill -HUP \(server.processIdentifier)
        for n in $(seq 1 12000); do [ "$(grep -c '\(message)' log)" -ge \(count) ] && break; sleep 0.05; done
        grep -c '\(message)' log
        """
    }

    /// The status of an order of a product, and the code of a refusal.
    private static func order(_ product: String, _ server: RunningServer, key: String = key) -> String {
        #"curl -sS -o answer -w "%{http_code} " \#(key) -H "Idempotency-Key: $(date +%s%N)" --data '{"customer_id":"a","product_id":"\#(product)"}' "#
            + "\(server.address)/v1/orders; grep -o '\"code\":\"[a-z_]*\"' answer; echo"
    }

    private static func createKey(_ app: String, _ file: String) -> String {
        "assay keys create --app \(app) --scope admin 2>/dev/null >\(file)"
    }

    @Test("20 reloads under load: no request fails, and each reload is in force")
    func load() async throws {
        try await Program.inTemporaryFolder { folder in
            try Self.write(Self.settings(products: 0), folder)
            try #require(try await Program.shell(Self.createKey("game", "key"), in: folder).status == 0)
            try await RunningServer.run(Self.serve, in: folder) { server in
                // They send until they are told to stop, some over connections that stay open.
                let clients = """
                    for c in 1 2 3 4; do (until [ -e stop ]; do
                    curl -sS -o /dev/null -w "%{http_code}\\n" \(Self.key) "\(server.address)/v1/events?limit=[1-50]"
                    for n in 1 2 3 4 5 6 7 8 9 10; do curl -sS -o /dev/null -w "%{http_code}\\n" \(Self.key) -H "Idempotency-Key: $(date +%s%N)" \
                    --data '{"customer_id":"a","product_id":"product0"}' "\(server.address)/v1/orders"; done
                    done; touch done.$c) >codes.$c 2>&1 & done
                    """
                let load = ChildProcess()
                (load.arguments, load.folder) = (["-c", clients], folder)
                load.environment = ["PATH": Program.path]
                try load.run()
                defer { load.terminate() }
                for number in 1...20 {
                    let refused = try await Program.shell(Self.order("product\(number)", server), in: folder).output
                    #expect(refused.contains("product_unknown"), "\(number): \(refused)")
                    try Self.write(Self.settings(products: number), folder)
                    let script = Self.hangUp(server, "settings reloaded", number)
                    #expect(
                        try await Program.shell(script, in: folder).output.contains("\(number)"), "reload \(number)")
                    let taken = try await Program.shell(Self.order("product\(number)", server), in: folder).output
                    #expect(taken.hasPrefix("201"), "\(number): \(taken)")
                }
                let stop = """
                    touch stop; for n in $(seq 1 12000); do [ "$(ls done.* 2>/dev/null | wc -l)" -eq 4 ] && break; sleep 0.05; done
                    cat codes.* | sort | uniq -c
                    """
                let codes = try await Program.shell(stop, in: folder).output
                let kinds = codes.split(separator: "\n").map { $0.split(separator: " ") }
                #expect(Set(kinds.compactMap { $0.last }) == ["200", "201"], "\(codes)")
                print(
                    "20 reloads under load: \(kinds.compactMap { $0.first.flatMap { Int($0) } }.reduce(0, +)) requests")
            }
        }
    }

    @Test("A file with errors keeps the settings before, and the log names its lines; a port takes a restart")
    func refused() async throws {
        try await Program.inTemporaryFolder { folder in
            try Self.write(Self.settings(products: 0), folder)
            try #require(try await Program.shell(Self.createKey("game", "key"), in: folder).status == 0)
            try await RunningServer.run(
                "assay serve 2>log", in: folder, environment: ["ASSAY_HOST": "127.0.0.1", "ASSAY_PORT": "0"]
            ) { server in
                let kept = "those before stay in force"
                try Self.write(Self.settings(products: 1) + "limits: { connections: many }\nmore: true\n", folder)
                var script = Self.hangUp(server, kept, 2)
                #expect(try await Program.shell(script, in: folder).output.hasPrefix("2"))
                let log = try await Program.shell("cat log", in: folder).output
                #expect(log.contains("assay.yaml: line 7: limits.connections is 'many'. Write a whole"), "\(log)")
                #expect(log.contains("assay.yaml: line 8: the file has no setting 'more'"), "\(log)")
                // The bundle id belongs to the earlier app.
                try Self.write(
                    "apps:\n  other:\n    bundle_ids: com.example.app\n", folder)
                script = Self.hangUp(server, kept, 3)
                #expect(try await Program.shell(script, in: folder).output.hasPrefix("3"))
                #expect(
                    try await Program.shell("grep -c bundle_of_another_app log", in: folder).output.hasPrefix("1"))
                #expect(
                    try await Program.shell(Self.order("product1", server), in: folder).output
                        .contains("product_unknown"))
                #expect(try await Program.shell(Self.order("product0", server), in: folder).output.hasPrefix("201"))
                try Self.write(Self.settings(products: 1) + "limits: { connections: 77 }\n", folder)
                script = Self.hangUp(server, "settings reloaded")
                #expect(try await Program.shell(script, in: folder).output.hasPrefix("1"))
                let restart = try await Program.shell("grep 'takes a restart' log", in: folder).output
                #expect(
                    restart.contains("setting=limits.connections") && !restart.contains("server.port"), "\(restart)")
                #expect(try await Program.shell(Self.order("product1", server), in: folder).output.hasPrefix("201"))
            }
        }
    }

    @Test("A file that is missing or empty, or has no apps, keeps the settings before, also under its default name")
    func noApps() async throws {
        try await Program.inTemporaryFolder { folder in
            try Self.write(Self.settings(products: 0), folder)
            try #require(try await Program.shell(Self.createKey("game", "key"), in: folder).status == 0)
            try await RunningServer.run(Self.serve, in: folder) { server in
                let kept = "those before stay in force"
                for (number, change) in ["rm assay.yaml", ": >assay.yaml", "echo 'apps:' >assay.yaml"].enumerated() {
                    try #require(try await Program.shell(change, in: folder).status == 0)
                    let script = Self.hangUp(server, kept, number + 1)
                    #expect(try await Program.shell(script, in: folder).output.hasPrefix("\(number + 1)"), "\(change)")
                    #expect(
                        try await Program.shell(Self.order("product0", server), in: folder).output.hasPrefix("201"),
                        "\(change)")
                }
                let log = try await Program.shell("cat log", in: folder).output
                #expect(log.contains("assay.yaml: no such file") && log.contains("have no app"), "\(log)")
                #expect(!log.contains("settings reloaded"), "\(log)")
            }
        }
    }

    @Test("A server that started without settings, or without apps, gets apps by a reload")
    func firstApps() async throws {
        for start in ["", "server: { log_level: info }\n"] {
            try await Program.inTemporaryFolder { folder in
                if !start.isEmpty { try Self.write(start, folder) }
                try await RunningServer.run(Self.serve, in: folder) { server in
                    try Self.write(Self.settings(products: 0), folder)
                    let script = Self.hangUp(server, "settings reloaded")
                    #expect(try await Program.shell(script, in: folder).output.hasPrefix("1"))
                    let log = try await Program.shell("grep 'settings reloaded' log", in: folder).output
                    #expect(log.contains("apps=1"), "\(log)")
                }
            }
        }
    }

    @Test("Files that the new settings name are read at a reload, and each error names the settings file")
    func namedFiles() async throws {
        try await Program.inTemporaryFolder { folder in
            try Self.write(Self.settings(products: 0), folder)
            try await RunningServer.run(Self.serve, in: folder) { server in
                try Self.write(
                    Self.settings(products: 0) + "app_store: { tls_trust: none.pem }\n", folder)
                let kept = "those before stay in force"
                #expect(try await Program.shell(Self.hangUp(server, kept), in: folder).output.hasPrefix("1"))
                try Self.write(Self.settings(products: 0) + "server: { environments: [Prod] }\n", folder)
                #expect(try await Program.shell(Self.hangUp(server, kept, 2), in: folder).output.hasPrefix("2"))
                let log = try await Program.shell("cat log", in: folder).output
                #expect(log.contains("assay.yaml: line 6: app_store.tls_trust '"), "\(log)")
                #expect(log.contains("assay.yaml: line 6: server.environments has 'Prod'"), "\(log)")
            }
        }
    }

    @Test("Webhooks of the new settings get events, a wrong one changes nothing, and one that was removed gets no more")
    func webhooks() async throws {
        try await Program.inTemporaryFolder { folder in
            // No server listens there.
            let url = "http://127.0.0.1:9/hook"
            func settings(secret: String) -> String {
                Self.settings(
                    products: 0,
                    more: "    webhooks:\n      - { url: '\(url)', secrets: \(secret), allow_hosts: [127.0.0.1] }\n")
            }
            let secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYo="
            try Self.write(Self.settings(products: 0), folder)
            try #require(try await Program.shell(Self.createKey("game", "key"), in: folder).status == 0)
            try await RunningServer.run(Self.serve, in: folder) { server in
                func expect(_ text: String, of command: String = "assay list webhooks --app game") async throws {
                    let script =
                        "for n in $(seq 1 12000); do \(command) 2>&1 | grep -q '\(text)' && break; sleep 0.1; done; \(command)"
                    let output = try await Program.shell(script, in: folder).output
                    #expect(output.contains(text), "\(output)")
                }
                func order() async throws {
                    let output = try await Program.shell(Self.order("product0", server), in: folder).output
                    #expect(output.hasPrefix("201"), "\(output)")
                }
                try await order()
                try Self.write(settings(secret: secret), folder)
                var script = Self.hangUp(server, "settings reloaded")
                #expect(try await Program.shell(script, in: folder).output.hasPrefix("1"))
                try await expect("this server delivers to the webhook", of: "cat log")
                try await order()
                // The order before the reload is not an event of the webhook.
                try await expect("0 events behind, 1 waiting for a retry, 0 given up")
                try Self.write(settings(secret: "whsec_c2hvcnQ="), folder)
                script = Self.hangUp(server, "those before stay in force")
                #expect(try await Program.shell(script, in: folder).output.hasPrefix("1"))
                try await order()
                try await expect("0 events behind, 2 waiting for a retry, 0 given up")
                try Self.write(Self.settings(products: 0), folder)
                script = Self.hangUp(server, "settings reloaded", 2)
                #expect(try await Program.shell(script, in: folder).output.hasPrefix("2"))
                try await order()
                try await expect("1 event behind, 2 waiting for a retry, 0 given up")
                let log = try await Program.shell("cat log", in: folder).output
                #expect(!log.contains("MfKQ9r8G") && !log.contains("c2hvcnQ"), "\(log)")
            }
        }
    }

    @Test("Apps, keys, limits and shared secrets of the new settings are in force")
    func apps() async throws {
        try await Program.inTemporaryFolder { folder in
            try Self.write(Self.settings(products: 0, more: Self.second), folder)
            let keys = [Self.createKey("game", "key"), Self.createKey("second", "key2")].joined(separator: " && ")
            try #require(try await Program.shell(keys, in: folder).status == 0)
            try Self.write(Self.settings(products: 0), folder)
            try await RunningServer.run(Self.serve, in: folder) { server in
                let second = Self.key.replacing("cat key", with: "cat key2")
                let before = try await Program.shell(Self.order("gems", server, key: second), in: folder).output
                #expect(before.contains("app_unknown"), "\(before)")
                try Self.write(
                    Self.settings(products: 0, more: Self.second) + "limits: { body_bytes: 100 }\n", folder)
                let script = Self.hangUp(server, "settings reloaded")
                #expect(try await Program.shell(script, in: folder).output.hasPrefix("1"))
                let after = try await Program.shell(Self.order("gems", server, key: second), in: folder).output
                #expect(after.hasPrefix("201"), "\(after)")
                let large = String(repeating: "x", count: 100)
                let excess = try await Program.shell(Self.order(large, server, key: second), in: folder).output
                #expect(excess.hasPrefix("413"), "\(excess)")
            }
        }
    }
}
