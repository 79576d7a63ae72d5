import Foundation
import TestSupport
import Testing

/// The commands that operators use beside a running server.
@Suite("assay customers, list and show")
struct OperatorCommandTests {
    private static let settings = """
        apps:
          game:
            bundle_ids: com.example.app
            products:
              com.example.app.coins: { kind: consumable }
              com.example.app.pro: { kind: non-consumable, entitlements: [full] }
        """
    private static let serve = "assay serve --port 0 --trust assay-authority/trust.pem"
    private static let pro = "com.example.app.pro"

    /// A folder with settings, a key in `key`, and a server whose start recorded the settings.
    private static func with(_ body: (URL, RunningServer) async throws -> Void) async throws {
        try await Program.inTemporaryFolder { folder in
            try settings.write(to: folder.appending(path: "assay.yaml"), atomically: true, encoding: .utf8)
            let prepare = """
                assay mint --kind production --bundle-id com.example.app -o r.b64 \
                --purchase product=\(pro),kind=non-consumable,transaction=1,purchased=2025-05-01T00:00:00Z &&
                assay mint --kind sandbox --bundle-id com.example.app -o s.b64 \
                --purchase product=\(pro),kind=non-consumable,transaction=2000000000000002 &&
                assay keys create --app game --scope admin 2>/dev/null > key
                """
            let prepared = try await Program.shell(prepare, in: folder)
            try #require(prepared.status == 0, "\(prepared.output)")
            try await RunningServer.run(serve, in: folder) { server in try await body(folder, server) }
        }
    }

    /// A claim by curl.
    private static func claim(
        _ receipt: String, _ transaction: String, _ customer: String, _ server: RunningServer, _ folder: URL
    ) async throws -> String {
        let command = """
            printf '{"receipt_data":"%s","product_id":"\(pro)","transaction_id":"\(transaction)","customer_id":"\(customer)"}' \
            "$(cat \(receipt))" > claim.json; curl -sS -H "Authorization: Bearer $(cat key)" \
            -H 'Content-Type: application/json' --data @claim.json \(server.address)/v1/purchases
            """
        return try await Program.shell(command, in: folder).output
    }

    /// The program's standard output, and its exit status.
    private static func output(_ command: String, _ folder: URL) async throws -> Program.Result {
        try await Program.shell("assay \(command) 2>/dev/null", in: folder)
    }

    @Test("A grant is shown with its reason until it is lifted, beside a running server")
    func grant() async throws {
        try await Self.with { folder, server async throws in
            let granted = try await Self.output(
                "customers grant --app game alice \(Self.pro) --reason 'a gift'", folder)
            #expect(granted.status == 0)
            let id = granted.output.trimmingCharacters(in: .whitespacesAndNewlines)
            #expect(UUID(uuidString: id) != nil, "\(granted.output)")
            let shown = try await Self.output("show --app game alice", folder).output
            #expect(shown.contains("active") && shown.contains(id) && shown.contains("full"), "\(shown)")
            let asked = try await Program.shell(
                #"curl -sS -H "Authorization: Bearer $(cat key)" \#(server.address)/v1/customers/alice/entitlements"#,
                in: folder)
            #expect(asked.output.contains(#""state":"active""#), "\(asked.output)")
            #expect(
                try await Self.output("customers lift --app game alice \(id) --reason over", folder).output
                    == "assay: lifted \(id)\n")
            let after = try await Self.output("show --app game alice", folder).output
            #expect(after.contains("revoked_by_hand") && !after.contains(" active"), "\(after)")
            let events = try await Program.shell(
                #"curl -sS -H "Authorization: Bearer $(cat key)" "\#(server.address)/v1/events""#, in: folder)
            #expect(
                events.output.contains(#""reason":"a gift""#) && events.output.contains(#""reason":"over""#),
                "\(events.output)")
        }
    }

    @Test("E.5 What the record has is listed and shown, with repeated rejections as one line, and without --app")
    func lookups() async throws {
        try await Self.with { folder, server async throws in
            #expect(try await Self.claim("r.b64", "1", "alice", server, folder).contains(#""code":"accepted""#))
            for _ in 1...3 { _ = try await Self.claim("r.b64", "9", "alice", server, folder) }
            let created = try await Program.shell(
                #"curl -sS -H "Authorization: Bearer $(cat key)" -H 'Idempotency-Key: 1' "#
                    + #"--data '{"customer_id":"alice","product_id":"com.example.app.coins"}' \#(server.address)/v1/orders"#,
                in: folder)
            let order = try #require(
                try JSONSerialization.jsonObject(with: Data(created.output.utf8)) as? [String: Any], "\(created.output)"
            )
            let id = try #require(order["order_id"] as? String)
            func output(_ command: String) async throws -> String {
                let result = try await Self.output(command, folder)
                #expect(result.status == 0, "\(command): \(result.output)")
                return result.output
            }
            func lines(_ command: String) async throws -> [Substring] {
                try await output(command).split(separator: "\n")
            }
            for (command, expected) in [
                ("list orders", id), ("list orders --customer alice --state created", id),
                ("show \(id)", "created"),
                ("list purchases --customer alice", Self.pro), ("show 1", "alice"), ("list events", "granted"),
                ("list events --order \(id)", "order_created"),
                ("list events --customer alice --json", #""type":"granted""#),
                ("list customers al", "alice"), ("list customers 1", "transaction"),
                ("list customers \(id)", "order"),
                ("list timeline --customer alice", "The customer got the purchase (learned from a claim)."),
            ] {
                let text = try await output(command)
                #expect(text.contains(expected), "\(command): \(text)")
            }
            let rejected = try await lines("list submissions --verdict rejected")
            #expect(rejected.count == 2 && rejected[1].contains("transaction_not_found  3  "), "\(rejected)")
            let single = try await lines("list submissions --verdict rejected --json")
            #expect(single.count == 3)
            let submission = try #require(rejected[1].split(separator: " ").first)
            #expect(try await output("show \(submission)").contains("transaction_not_found"))
            let event = try #require(try await lines("list events --limit 1").last?.split(separator: " ").first)
            #expect(try await output("show \(event)").contains("type"))
            #expect(try await Self.output("show 77", folder).status == 1)
            let other = "evt_\(String(repeating: "0", count: 32))_1"
            #expect(try await Self.output("show \(other)", folder).status == 1)
            #expect(try await Self.output("list events --after \(other)", folder).status == 2)
            // One id can name several things; each is shown, under what it is.
            let shared = try await output("customers grant 1 \(Self.pro) --reason 'the name of a transaction'")
            #expect(!shared.isEmpty)
            let both = try await output("show 1")
            #expect(both.hasPrefix("customer 1 of game") && both.contains("\npurchase\n"), "\(both)")
            for kind in [
                "purchases --customer alice", "purchases --transaction 1", "orders", "events", "submissions",
                "customers",
                "customers al", "timeline --customer alice", "refunds", "notifications", "webhooks", "testers",
                "operators", "keys",
            ] {
                let text = try await output("list \(kind) --json")
                for line in text.split(separator: "\n") {
                    #expect(
                        (try? JSONSerialization.jsonObject(with: Data(line.utf8))) is [String: Any], "\(kind): \(line)")
                }
                _ = try await output("list \(kind)")
            }
            let after = try await lines("list events --after \(event)")
            #expect(after.count > 1 && !after.contains { $0.hasPrefix("\(event) ") }, "\(after)")
            let unknown = try await Program.shell("assay list orders --app gaem 2>&1", in: folder)
            #expect(unknown.status == 2 && unknown.output.contains("the ledger has no such app, but game"))
        }
    }

    @Test("A purchase is revoked, reinstated, transferred and merged; --at and --json answer for another time")
    func acts() async throws {
        try await Self.with { folder, server async throws in
            #expect(try await Self.claim("r.b64", "1", "alice", server, folder).contains(#""code":"accepted""#))
            let revoked = try await Self.output(
                "customers revoke --app game alice --transaction 1 --reason fraud", folder)
            #expect(revoked.status == 0, "\(revoked.output)")
            let shown = try await Self.output("show --app game alice", folder).output
            #expect(shown.contains("withdrawn  revoked_by_hand"), "\(shown)")
            let past = try await Self.output("show --app game alice --at 2025-06-01T00:00:00Z --json", folder)
            let json = try #require(
                try JSONSerialization.jsonObject(with: Data(past.output.utf8)) as? [String: Any], "\(past.output)")
            #expect(json["at"] as? String == "2025-06-01T00:00:00Z")
            let entitlements = try #require(json["entitlements"] as? [[String: Any]])
            #expect(entitlements.map { $0["state"] as? String } == ["active"], "\(past.output)")
            let id = revoked.output.trimmingCharacters(in: .whitespacesAndNewlines)
            #expect(
                try await Self.output("customers lift --app game alice \(id) --reason checked", folder).status == 0)
            #expect(
                try await Self.output("customers move --app game 1 bob --reason 'a new account'", folder).output
                    == "assay: transferred 1 from alice to bob\n")
            #expect(
                try await Self.output("customers merge --app game bob carol --reason 'signed in'", folder).output
                    == "assay: merged bob into carol\n")
            let merged = try await Self.output("show --app game bob", folder).output
            #expect(merged.hasPrefix("customer carol (bob was merged into it) of game\n"), "\(merged)")
            #expect(merged.contains("active"))
            // A second merge, and a transfer to the owner, are refused with their codes and status 1.
            for (command, code) in [
                ("customers merge --app game bob carol --reason again", "customer_merge_circular"),
                ("customers move --app game 1 carol --reason again", "purchase_not_movable"),
                ("customers move --app game 7 carol --reason unknown", "purchase_unknown"),
                ("customers lift --app game carol \(UUID().uuidString) --reason unknown", "grant_unknown"),
                ("customers grant --app game carol nothing --reason unknown", "product_unknown"),
                ("show --app game nobody", "id_unknown"),
            ] {
                let refused = try await Program.shell("assay \(command)", in: folder)
                #expect(refused.status == 1 && refused.output.contains("assay: \(code): "), "\(refused.output)")
            }
        }
    }

    @Test("An erased customer is unknown, their purchase stays claimed, and the audit agrees")
    func erase() async throws {
        try await Self.with { folder, server async throws in
            #expect(try await Self.claim("r.b64", "1", "alice", server, folder).contains(#""code":"accepted""#))
            let trust = "--trust assay-authority/trust.pem"
            let erase = "assay customers erase --app game alice --reason 'asked by letter' \(trust)"
            let unasked = try await Program.shell("\(erase) < /dev/null", in: folder)
            #expect(unasked.status == 2 && unasked.output.contains("--yes"), "\(unasked.output)")
            let erased = try await Program.shell("\(erase) --yes", in: folder)
            #expect(
                erased.status == 0
                    && erased.output.contains(
                        "assay: erased alice: 1 entry, 1 piece of evidence; 1 purchase stays claimed\n"),
                "\(erased.output)")
            let again = try await Program.shell("\(erase) --yes", in: folder)
            #expect(again.status == 1 && again.output.contains("assay: customer_unknown: "), "\(again.output)")
            for customer in ["alice", "bob"] {
                let claim = try await Self.claim("r.b64", "1", customer, server, folder)
                #expect(claim.contains(#""code":"purchase_erased""#), "\(claim)")
            }
            let audited = try await Self.output("audit verify --evidence \(trust)", folder)
            #expect(audited.status == 0 && audited.output.contains("the tables agree"), "\(audited.output)")
        }
    }

    @Test("An account token belongs to one customer")
    func token() async throws {
        try await Self.with { folder, _ async throws in
            let token = "6f1b5b5e-3c1e-4c0f-9f0a-0d7f4c1e2a3b"
            for _ in 0..<2 {
                #expect(
                    try await Self.output("customers token --app game alice \(token)", folder).output
                        == "assay: \(token) names alice\n")
            }
            let taken = try await Program.shell("assay customers token --app game bob \(token)", in: folder)
            #expect(taken.status == 1 && taken.output.contains("assay: token_taken: "), "\(taken.output)")
            let malformed = try await Program.shell("assay customers token --app game bob 12", in: folder)
            #expect(malformed.status == 2, "\(malformed.output)")
        }
    }

    @Test("A sandbox purchase counts while its customer is a tester")
    func testers() async throws {
        try await Self.with { folder, server async throws in
            #expect(
                try await Self.claim("s.b64", "2000000000000002", "reviewer", server, folder)
                    .contains(#""code":"accepted""#))
            func shown(_ options: String = "") async throws -> String {
                try await Self.output("show --app game reviewer \(options)", folder).output
            }
            #expect(try await shown().contains("pending  sandbox_not_accepted"))
            #expect(try await shown("--environment sandbox").contains("  active"))
            let add = "customers tester --app game reviewer --reason 'App Review'"
            #expect(try await Self.output(add, folder).output == "assay: reviewer is a tester now\n")
            #expect(try await Self.output(add, folder).output == "assay: reviewer was a tester already\n")
            #expect(try await Self.output("list testers --app game", folder).output == "CUSTOMER\nreviewer\n")
            #expect(try await shown().contains("of game, tester\n"))
            #expect(try await shown().contains("  active"))
            let remove = "customers tester --remove --app game reviewer"
            #expect(try await Self.output(remove, folder).output == "assay: reviewer is no longer a tester\n")
            #expect(try await Self.output(remove, folder).output == "assay: reviewer was not a tester\n")
            #expect(try await Self.output("list testers --app game", folder).output.isEmpty)
            #expect(try await shown().contains("sandbox_not_accepted"))
        }
    }

    @Test("The journal has all of these actions, and a rebuild equals the tables")
    func rebuilt() async throws {
        try await Program.inTemporaryFolder { folder in
            try Self.settings.write(to: folder.appending(path: "assay.yaml"), atomically: true, encoding: .utf8)
            #expect(try await Program.shell("assay keys create --app game --scope admin", in: folder).status == 0)
            try await RunningServer.run("assay serve --port 0", in: folder) { _ in }
            for command in [
                "customers grant --app game alice \(Self.pro) --reason gift",
                "customers grant --app game alice com.example.app.coins --quantity 5 --reason gift",
                "customers token --app game alice \(UUID().uuidString)", "customers tester --app game alice",
                "customers merge --app game alice bob --reason 'signed in'",
            ] {
                let result = try await Self.output(command, folder)
                #expect(result.status == 0, "\(command): \(result.output)")
            }
            let audited = try await Self.output("audit verify --evidence", folder)
            #expect(audited.status == 0 && audited.output.contains("the tables agree"), "\(audited.output)")
        }
    }

    @Test(
        "Wrong arguments end with status 2 and a message with the right form",
        arguments: [
            ("customers grant --app game alice pro", "--reason"),
            ("customers grant --app game alice pro --reason ''", "--reason is ''"),
            ("customers grant --app game alice pro --reason \"$(printf 'a\\nb')\"", "control characters"),
            ("customers grant --app game alice pro --reason x --quantity 0", "whole number from 1"),
            ("customers grant --app game alice pro --reason x --until tomorrow", "--until"),
            ("customers revoke --app game alice --reason x", "--transaction or --grant"),
            ("customers revoke --app game alice --grant 12 --reason x", "--grant"),
            ("show --app game alice --at yesterday", "--at"), ("show alice", "no such database"),
            ("customers erase --app game alice --yes", "--reason"), ("customers tester --app game", "<customer>"),
            ("list ordres", "Did you mean 'orders'?"),
            ("list orders --code x", "does not take --code, but --customer, --state"),
            ("list orders --state lost", "--state is 'lost'"), ("list orders --state due", "--state is 'due'"),
            ("list external --state lost", "Write one of due, open, refused, reported"),
            ("list external --state due", "no such database"), ("list operators --app game", "does not take --app"),
            ("list timeline", "needs --customer"),
            ("list customers --limit 9223372036854775807", "from 1 to 1,000,000"),
            ("list purchases", "needs --customer or"),
            // The rest of a URL can be a password.
            ("list keys --database postgress://u:secret@h/db", "--database begins with 'postgress'. Write"),
            ("list orders alice", "takes no 'alice'"), ("list events --after 12", "not the id of an event"),
        ])
    func wrongArguments(_ command: String, _ words: String) async throws {
        try await Program.inTemporaryFolder { folder in
            let result = try await Program.shell("assay \(command)", in: folder)
            #expect(result.status == 2 && result.output.contains(words), "\(result.output)")
            #expect(!FileManager.default.fileExists(atPath: folder.appending(path: "assay.sqlite").path))
        }
    }

    @Test("Each replaced command names the one that replaced it")
    func formerCommands() async throws {
        let file = Corpus.projectFolder.appending(path: "Server/Sources/assay/Assay.swift")
        let table = try String(contentsOf: file, encoding: .utf8).matches(of: /"([a-z -]+)": "assay ([^"]+)"/)
        #expect(table.count == 19)
        try await Program.inTemporaryFolder { folder in
            for row in table {
                let old = try await Program.shell("assay \(row.1)", in: folder)
                #expect(
                    old.status == 2 && old.output.contains("'assay \(row.1)' is 'assay \(row.2)' now"), "\(old.output)")
            }
        }
    }

    @Test("E.5 Without --app, a ledger of several apps names them, and one of a single app uses it")
    func unnamedApp() async throws {
        try await Program.inTemporaryFolder { folder in
            let file = folder.appending(path: "assay.yaml")
            try Self.settings.write(to: file, atomically: true, encoding: .utf8)
            try await RunningServer.run("assay serve --port 0", in: folder) { _ in }
            let alone = try await Program.shell("assay customers tester alice && assay list testers", in: folder)
            #expect(alone.status == 0 && alone.output.contains("alice"), "\(alone.output)")
            let due = try await Program.shell("assay list external --state due", in: folder)
            #expect(due.status == 0 && due.output.contains("there are none"), "\(due.output)")
            let second = "\n  second:\n    bundle_ids: com.example.second\n"
            try (Self.settings + second).write(to: file, atomically: true, encoding: .utf8)
            try await RunningServer.run("assay serve --port 0", in: folder) { _ in }
            let unnamed = try await Program.shell("assay show alice", in: folder)
            #expect(
                unnamed.status == 2
                    && unnamed.output.contains("--app: is missing, and the ledger has several: game, second"),
                "\(unnamed.output)")
            let create = "for app in game second; do assay keys create --app $app --scope client; done"
            let keys = try await Program.shell("(\(create); assay list keys --app second) 2>/dev/null", in: folder)
            let listed = keys.output.split(separator: "\n").filter { !$0.hasPrefix("assay_") }
            #expect(listed.count == 2 && listed.last?.contains("second") == true, "\(keys.output)")
        }
    }

    @Test("For an app that no start recorded, the message lists the recorded apps")
    func unknownApp() async throws {
        try await Self.with { folder, _ async throws in
            let result = try await Program.shell("assay list testers --app other", in: folder)
            #expect(
                result.status == 2 && result.output.contains("other: the ledger has no such app, but game"),
                "\(result.output)")
        }
    }
}
