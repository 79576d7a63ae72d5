import EvidenceMint
import Foundation
import TestSupport
import Testing

/// `assay doctor` on installations that are sound and on broken ones.
@Suite("31.5 assay doctor")
struct DoctorTests {
    struct Report: Decodable {
        let findings: [Finding]
        let failed: Int
        let warnings: Int

        struct Finding: Decodable {
            let check: String
            let state: String
            let found: String
            let action: String?
        }

        /// The finding of a check that is in a state.
        func finding(_ check: String, _ state: String) -> Finding? {
            findings.first { $0.check == check && $0.state == state }
        }
    }

    static let settings = """
        server: { port: 0 }
        apps:
          game: { bundle_ids: com.example.app, products: { coins: { kind: consumable } } }
        """

    /// A folder with a ledger that a server has used.
    static func installation(
        _ settings: String = settings, environment: [String: String] = [:], _ body: (URL) async throws -> Void
    ) async throws {
        try await Program.inTemporaryFolder { folder in
            try write(settings, folder)
            let key = try await Program.shell(
                "assay keys create --app game --scope admin 2>/dev/null > key; mkdir backups; touch backups/a.sqlite",
                in: folder, environment: environment)
            try #require(key.status == 0, "\(key.output)")
            try await RunningServer.run("assay serve 2>log", in: folder, environment: environment) { server in
                let granted = try await Program.shell(
                    "assay customers grant --app game alice coins --reason test", in: folder, environment: environment)
                #expect(granted.status == 0, "\(granted.output)")
            }
            try await body(folder)
        }
    }

    /// Answers every request with a status, and writes the requests to the file `requests`.
    private static let receiver = """
        import http.server, sys
        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
                open("requests", "ab").write(str(self.headers).encode() + body)
                self.send_response(int(sys.argv[1]))
                self.send_header("Content-Length", "0")
                self.end_headers()
            do_GET = do_POST
            def log_message(self, *arguments): pass
        open("requests", "wb")
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        print(f"ready on http://127.0.0.1:{server.server_port}", flush=True)
        server.serve_forever()
        """

    private static func withReceiver(
        _ folder: URL, status: Int, _ body: (RunningServer) async throws -> Void
    ) async throws {
        try receiver.write(to: folder.appending(path: "receiver.py"), atomically: true, encoding: .utf8)
        try await RunningServer.run("python3 receiver.py \(status)", in: folder, body)
    }

    static func write(_ settings: String, _ folder: URL) throws {
        try settings.write(to: folder.appending(path: "assay.yaml"), atomically: true, encoding: .utf8)
    }

    /// What `assay doctor` prints in JSON, and its exit status.
    static func examine(
        _ folder: URL, _ options: String = "", before: String = "", environment: [String: String] = [:]
    ) async throws -> (Report, status: Int32) {
        let result = try await Program.shell(
            "\(before)assay doctor --json --backups backups \(options) 2>errors", in: folder, environment: environment)
        let report = try JSONDecoder().decode(Report.self, from: Data(result.output.utf8))
        #expect(report.failed == report.findings.count { $0.state == "failed" })
        #expect(report.findings.allSatisfy { ($0.state == "fine") == ($0.action == nil) })
        return (report, result.status)
    }

    @Test("A sound installation has no failure, for people and for programs, and nothing is changed by the examination")
    func sound() async throws {
        try await Self.installation { folder in
            let before = try await Program.shell("assay audit verify --signing-key none.key", in: folder)
            let (report, status) = try await Self.examine(folder)
            #expect(status == 0 && report.failed == 0, "\(report)")
            for check in ["settings", "database", "database_schema", "database_writes", "record", "keys", "backups"] {
                #expect(report.finding(check, "fine") != nil, "\(check): \(report)")
            }
            // Apple's three roots, and what a new installation does not have yet.
            #expect(report.findings.count { $0.check == "certificates" && $0.state == "fine" } == 3)
            #expect(report.finding("checkpoints", "warning") != nil)
            let text = try await Program.shell("assay doctor --backups backups 2>/dev/null", in: folder)
            #expect(text.status == 0 && text.output.hasPrefix("fine     settings"), "\(text.output)")
            #expect(text.output.contains(": 1 app, 0 receivers\n"), "\(text.output)")
            #expect(text.output.contains("assay: 0 failed, 1 warning, "), "\(text.output)")
            let after = try await Program.shell("assay audit verify --signing-key none.key", in: folder)
            #expect(before.status == 0 && after.output == before.output, "\(after.output)")
        }
    }

    @Test("A running server, a port that another program has, and an address without a proxy are told apart")
    func listening() async throws {
        try await Self.installation { folder in
            try await RunningServer.run("assay serve 2>log", in: folder) { server in
                let port = try #require(URL(string: server.address)?.port)
                try Self.write(Self.settings.replacing("port: 0", with: "port: \(port)"), folder)
                let (report, _) = try await Self.examine(folder)
                #expect(report.finding("listening", "fine")?.found.contains("ready on 127.0.0.1:\(port)") == true)
                try Self.write(Self.settings.replacing("port: 0", with: "port: \(port), host: 0.0.0.0"), folder)
                let (open, status) = try await Self.examine(folder)
                #expect(status == 0 && open.finding("proxies", "warning") != nil, "\(open)")
                #expect(open.finding("limits", "fine") != nil, "\(open)")
            }
            try await Self.withReceiver(folder, status: 404) { receiver in
                let port = try #require(URL(string: receiver.address)?.port)
                try Self.write(Self.settings.replacing("port: 0", with: "port: \(port)"), folder)
                let (report, status) = try await Self.examine(folder)
                #expect(status == 1 && report.finding("listening", "failed") != nil, "\(report)")
            }
        }
    }

    @Test("It takes the options of serve, all wrong ones at once, and warns of a variable that is not a setting")
    func options() async throws {
        try await Self.installation { folder in
            let (report, status) = try await Self.examine(
                folder, "--host 0.0.0.0 --admin off", environment: ["ASSAY_PROT": "1"])
            #expect(status == 0 && report.finding("listening", "warning")?.found == "server.admin is off", "\(report)")
            #expect(report.finding("proxies", "warning")?.found.hasPrefix("0.0.0.0 is reached without TLS") == true)
            let variable = report.finding("settings", "warning")
            #expect(variable?.found == "the variable ASSAY_PROT is not a setting", "\(report)")
            #expect(variable?.action?.hasPrefix("Did you mean ASSAY_PORT? ") == true, "\(report)")
            let (wrong, failed) = try await Self.examine(folder, "--port x --log-level loud")
            #expect(failed == 1 && wrong.failed == 2, "\(wrong)")
            #expect(wrong.findings.allSatisfy { $0.found.hasSuffix(" (setting_wrong)") }, "\(wrong)")
        }
    }

    @Test("Wrong settings are told line by line; a missing database is not created")
    func settings() async throws {
        try await Self.installation { folder in
            try Self.write("server: { port: x }\napps:\n  game: {}\n", folder)
            let (report, status) = try await Self.examine(folder)
            #expect(status == 1 && report.failed >= 2, "\(report)")
            #expect(report.findings.allSatisfy { $0.check == "settings" && $0.found.contains("line ") })
            try Self.write(Self.settings, folder)
            let (missing, _) = try await Self.examine(folder, "--database sqlite:none.sqlite")
            #expect(missing.finding("database", "failed") != nil, "\(missing)")
            #expect(try await Program.shell("ls none.sqlite", in: folder).status != 0)
        }
    }

    @Test("A key that others can read, and a key that is missing")
    func keys() async throws {
        try await Self.installation { folder in
            let (open, status) = try await Self.examine(folder, before: "chmod 644 *.key; ")
            #expect(status == 1 && open.finding("keys", "failed")?.action?.hasPrefix("Run: chmod 600 ") == true)
            let (missing, _) = try await Self.examine(folder, before: "rm *.key; ")
            #expect(missing.findings.count { $0.check == "keys" && $0.state == "warning" } == 1, "\(missing)")
            // What was signed with the key is known, so a new one is not simply made.
            #expect(missing.finding("keys", "failed")?.found.contains("log_signing_key_missing") == true, "\(missing)")
        }
    }

    @Test("An older schema, a clock that is an hour behind, and entries that nobody seals")
    func database() async throws {
        try await Self.installation { folder in
            func change(_ sql: String) async throws {
                let result = try await Program.shell(
                    """
                    cp assay.sqlite changed.sqlite
                    python3 -c 'import sqlite3, sys; d = sqlite3.connect("changed.sqlite"); d.executescript(sys.argv[1])' \
                    "\(sql)"
                    """, in: folder)
                try #require(result.status == 0, "\(result.output)")
            }
            let options = "--database sqlite:changed.sqlite"
            try await change("DELETE FROM schema_migrations WHERE number = (SELECT max(number) FROM schema_migrations)")
            let (older, status) = try await Self.examine(folder, options)
            #expect(status == 1, "\(older)")
            #expect(older.finding("database_schema", "failed")?.action?.contains("assay database migrate") == true)
            #expect(older.finding("database_writes", "fine") == nil)
            try await change("UPDATE schema_migrations SET number = number + 1000")
            let (newer, _) = try await Self.examine(folder, options)
            #expect(newer.finding("database_schema", "failed")?.action?.hasSuffix("use that version.") == true)
            try await change("UPDATE schema_migrations SET title = 'of others'")
            let other = try await Self.examine(folder, options).0
            #expect(other.finding("database_schema", "failed")?.action?.hasSuffix("name a new file.") == true)
            let triggers = "SELECT name FROM sqlite_master WHERE type = 'trigger' AND tbl_name = 'journal'"
            let names = try await Program.shell(
                """
                python3 -c 'import sqlite3, sys; print(*[r[0] for r in sqlite3.connect("assay.sqlite").execute(sys.argv[1])])' \
                "\(triggers)"
                """, in: folder
            ).output.split(whereSeparator: \.isWhitespace)
            let dropped = names.map { "DROP TRIGGER \($0);" }.joined()
            try await change("\(dropped) UPDATE journal SET at = at + 3600000")
            let (behind, _) = try await Self.examine(folder, options)
            #expect(behind.finding("clock", "failed") != nil, "\(behind)")
            try await change(
                "\(dropped) UPDATE journal SET at = at - 3600000; "
                    + "DROP TRIGGER log_entries_no_delete; DELETE FROM log_entries WHERE leaf = (SELECT max(leaf) FROM log_entries); "
                    + "UPDATE log_state SET size = size - 1, sealed_up_to = (SELECT max(entry_key) FROM log_entries)")
            let (pending, _) = try await Self.examine(folder, options)
            #expect(pending.finding("record", "warning")?.found.hasPrefix("1 entry is not sealed") == true)
        }
    }

    @Test("A trusted certificate that expired, and one that soon will")
    func certificates() async throws {
        try await Self.installation { folder in
            func authority(until end: Date) throws -> String {
                let period = CertificateAuthority.Validity.Period(
                    notBefore: Date(timeIntervalSince1970: 1_500_000_000), notAfter: end)
                return try CertificateAuthority(validity: .init(root: period)).root.pem
            }
            for (end, state) in [
                (Date(timeIntervalSinceNow: -86_400), "failed"), (.init(timeIntervalSinceNow: 864_000), "warning"),
            ] {
                try authority(until: end).write(
                    to: folder.appending(path: "old.pem"), atomically: true, encoding: .utf8)
                let (report, _) = try await Self.examine(folder, environment: ["ASSAY_TRUST": "old.pem"])
                #expect(report.finding("certificates", state) != nil, "\(report)")
            }
        }
    }

    @Test("A webhook that accepts a signed test delivery, one that answers 500, and none to which anything is sent")
    func webhooks() async throws {
        let environment = ["HOOK": "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYo="]
        try await Self.installation { folder in
            for (answer, state) in [(200, "fine"), (500, "failed")] {
                try await Self.withReceiver(folder, status: answer) { receiver in
                    let hook =
                        "webhooks: [{ url: '\(receiver.address)/hook', secrets: [env:HOOK], allow_hosts: [127.0.0.1] }]"
                    try Self.write(Self.settings.replacing("bundle_ids", with: "\(hook), bundle_ids"), folder)
                    let (none, _) = try await Self.examine(folder, "--no-deliveries", environment: environment)
                    #expect(none.finding("webhooks", state) == nil)
                    #expect(try await Program.shell("cat requests", in: folder).output.isEmpty)
                    let (report, status) = try await Self.examine(folder, environment: environment)
                    #expect(report.finding("webhooks", state) != nil && (status == 0) == (answer == 200), "\(report)")
                    let request = try await Program.shell("cat requests", in: folder).output
                    #expect(request.contains("webhook-signature: v1,") && request.contains(#""type":"test""#))
                }
            }
        }
    }

    @Test("Checkpoints that were not published for a day, and backups that stopped")
    func ages() async throws {
        let settings = Self.settings + "\nrecord: { checkpoints: [published] }\n"
        try await Self.installation(settings) { folder in
            let (fresh, status) = try await Self.examine(folder)
            #expect(status == 0 && fresh.finding("checkpoints", "fine") != nil, "\(fresh)")
            let later = """
                assay customers grant --app game bob coins --reason test >/dev/null 2>&1
                touch -d '2 days ago' published backups/a.sqlite
                """
            let (old, failed) = try await Self.examine(folder, before: "\(later)\n")
            #expect(failed == 1 && old.finding("checkpoints", "failed") != nil, "\(old)")
            #expect(old.finding("backups", "warning") != nil)
        }
    }

    @Test("PostgreSQL without fsync, and one that is read-only")
    func postgreSQL() async throws {
        try await ThrowawayPostgreSQL.withDatabase { place in
            try await Self.installation { folder in
                let database = "--database '\(place.url())'"
                let created = try await Program.shell("assay database migrate \(database)", in: folder)
                try #require(created.status == 0, "\(created.output)")
                // The tests' own PostgreSQL does not wait for the disk.
                let (report, status) = try await Self.examine(folder, database)
                #expect(status == 1, "\(report)")
                #expect(report.finding("database_durability", "failed")?.found.contains("fsync = off") == true)
                #expect(report.finding("clock", "fine") != nil && report.finding("database_writes", "fine") != nil)
                let readOnly = try await Program.shell(
                    """
                    psql '\(place.url())' -c "DO \\$\\$ BEGIN EXECUTE format('ALTER DATABASE %I SET \
                    default_transaction_read_only = on', current_database()); END \\$\\$"
                    """, in: folder)
                try #require(readOnly.status == 0, "\(readOnly.output)")
                let (refused, _) = try await Self.examine(folder, database)
                #expect(refused.finding("database_writes", "failed") != nil, "\(refused)")
            }
        }
    }
}
