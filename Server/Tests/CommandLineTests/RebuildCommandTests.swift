import Foundation
import TestSupport
import Testing

/// `assay database rebuild` on changed databases.
@Suite("assay database rebuild")
struct RebuildCommandTests {
    private static let settings = """
        server:
          trust: [assay-authority/trust.pem]
        apps:
          game:
            bundle_ids: com.example.app
            products:
              coins: { kind: consumable }
        """

    /// A folder with a database of a few purchases, whose server has stopped.
    private static func with(_ body: (URL) async throws -> Void) async throws {
        try await Program.inTemporaryFolder { folder in
            try settings.write(to: folder.appending(path: "assay.yaml"), atomically: true, encoding: .utf8)
            let purchases = (0..<20).map { "--purchase product=coins,kind=consumable,transaction=p\($0),quantity=3" }
            let prepare = """
                assay mint --kind production --bundle-id com.example.app \(purchases.joined(separator: " ")) -o r.b64 &&
                assay keys create --app game --scope admin 2>/dev/null > key
                """
            let prepared = try await Program.shell(prepare, in: folder)
            try #require(prepared.status == 0, "\(prepared.output)")
            try await RunningServer.run("assay serve --port 0", in: folder) { server in
                let restore = """
                    printf '{"receipt_data":"%s","customer_id":"alice"}' "$(cat r.b64)" > restore.json
                    curl -sS -o restored -w '%{http_code}' -H "Authorization: Bearer $(cat key)" \
                    --data @restore.json \(server.address)/v1/restores
                    """
                try #require(try await Program.shell(restore, in: folder).output == "200")
            }
            try await body(folder)
        }
    }

    /// Changes the database without the program.
    private static func change(_ sql: String, _ folder: URL) async throws {
        try sql.write(to: folder.appending(path: "change.sql"), atomically: true, encoding: .utf8)
        let python =
            "python3 -c 'import sqlite3; "
            + "c = sqlite3.connect(\"assay.sqlite\"); c.executescript(open(\"change.sql\").read()); c.commit()'"
        let result = try await Program.shell(python, in: folder)
        try #require(result.status == 0, "\(result.output)")
    }

    private static func rebuild(_ options: String = "", to target: String = "sqlite:new.sqlite", in folder: URL)
        async throws -> Program.Result
    {
        try await Program.shell("assay database rebuild --to '\(target)' \(options) 2>&1", in: folder)
    }

    /// Every row and definition of the old file.
    private static func dump(_ folder: URL) async throws -> String {
        let script = "import sqlite3; print(*sqlite3.connect(\"assay.sqlite\").iterdump())"
        return try await Program.shell("python3 -c '\(script)' | sha256sum", in: folder).output
    }

    /// What a ledger says of its purchases, and whether its whole audit is clean.
    private static func content(_ database: String, _ folder: URL) async throws -> String {
        try await Program.shell(
            """
            for c in 'show --app game alice' 'audit export' 'list events --app game' 'audit verify --evidence'; do
                assay $c --database '\(database)' 2>/dev/null || echo "status $?"
            done
            """, in: folder
        ).output
    }

    @Test("Damaged tables are listed and rebuilt to a new file or to PostgreSQL, and the old file stays as it is")
    func rebuild() async throws {
        try await ThrowawayPostgreSQL.withDatabase { place in
            try await Self.with { folder in
                let before = try await Self.content("sqlite:assay.sqlite", folder)
                #expect(before.contains("active  60") && !before.contains("status"), "\(before)")
                try await Self.change(
                    """
                    UPDATE entitlements SET balance = 1000000;
                    DELETE FROM ownership_acts WHERE original_key = (SELECT min(original_key) FROM ownership_acts);
                    DELETE FROM events WHERE event_key = 3;
                    INSERT INTO testers SELECT app_key, customer_key, 1 FROM customers LIMIT 1;
                    DROP INDEX events_by_app;
                    """, folder)
                let damaged = try await Self.dump(folder)
                let server = place.url()
                for target in ["sqlite:new.sqlite", server] {
                    let result = try await Self.rebuild(to: target, in: folder)
                    #expect(result.status == 0, "\(result.output)")
                    for finding in [
                        "row_differs  entitlements", "1000000 instead of 60", "row_missing  ownership_acts",
                        "row_missing  events", "row_unknown  testers", "schema_missing  index events_by_app",
                    ] {
                        #expect(result.output.contains(finding), "\(finding): \(result.output)")
                    }
                    #expect(try await Self.content(target, folder) == before)
                }
                #expect(try await Self.dump(folder) == damaged)
                let again = try await Self.rebuild(in: folder)
                #expect(again.status == 2 && again.output.contains("backup_file_exists"), "\(again.output)")
                let filled = try await Self.rebuild(to: server, in: folder)
                #expect(filled.status == 1 && filled.output.contains("copy_target_not_empty"), "\(filled.output)")
                try await RunningServer.run("assay serve --port 0 --database sqlite:new.sqlite", in: folder) { _ in
                    let used = try await Self.rebuild(
                        "--database sqlite:new.sqlite", to: "sqlite:third.sqlite", in: folder)
                    #expect(used.status == 1 && used.output.contains("copy_source_in_use"), "\(used.output)")
                }
                #expect(try await Self.content("sqlite:new.sqlite", folder).contains("active  60"))
            }
        }
    }

    @Test(
        "Without the key of entries, or without a signed checkpoint, what SQL wrote could count, so nothing is written")
    func keys() async throws {
        try await Self.with { folder in
            for (options, words) in [
                ("--entry-key none.key", "entry_key_missing"), ("--signing-key none.key", "checkpoint_missing"),
            ] {
                let refused = try await Self.rebuild(options, in: folder)
                #expect(refused.status == 2 && refused.output.contains(words), "\(refused.output)")
                #expect(!FileManager.default.fileExists(atPath: folder.appending(path: "new.sqlite").path))
            }
            let rebuilt = try await Self.rebuild("--signing-key none.key --without-checkpoint", in: folder)
            #expect(rebuilt.status == 0, "\(rebuilt.output)")
        }
    }

    @Test("A changed journal, log or evidence is named, and nothing is written")
    func damagedJournal() async throws {
        for (sql, finding) in [
            ("DROP TRIGGER journal_no_update; UPDATE journal SET details = x'7b7d' WHERE kind = 3", "details_changed"),
            ("DROP TRIGGER evidence_no_update; UPDATE evidence SET content = x'00'", "evidence_changed"),
            ("DROP TRIGGER log_entries_no_delete; DELETE FROM log_entries WHERE leaf = 0", "leaf_missing"),
        ] {
            try await Self.with { folder in
                try await Self.change("UPDATE entitlements SET balance = 7; \(sql);", folder)
                let result = try await Self.rebuild(in: folder)
                #expect(result.status == 1 && result.output.contains(finding), "\(result.output)")
                #expect(result.output.contains("assay: nothing was written"), "\(result.output)")
                #expect(try await Program.shell("ls", in: folder).output.contains("new.sqlite") == false)
            }
        }
    }

    @Test("Without the certificates of the server, evidence counts as refused, and nothing is written")
    func withoutTrust() async throws {
        try await Self.with { folder in
            let options = "--config /dev/null --database sqlite:assay.sqlite"
            let result = try await Self.rebuild(options, in: folder)
            #expect(result.status == 1 && result.output.contains("evidence_refused  "), "\(result.output)")
            #expect(result.output.contains("the certificates with --trust"), "\(result.output)")
            let named = try await Self.rebuild("\(options) --trust assay-authority/trust.pem", in: folder)
            #expect(named.status == 0, "\(named.output)")
        }
    }

    @Test("A rebuild that is killed leaves no file with the new name, or a complete one")
    func killed() async throws {
        try await Self.with { folder in
            let before = try await Self.content("sqlite:assay.sqlite", folder)
            for delay in ["0.05", "0.1", "0.2", "0.4"] {
                let kill = """
                    mkdir -p tmp; TMPDIR=tmp assay database rebuild --to sqlite:new.sqlite >killed 2>&1 & p=$!; sleep \(delay)
                    kill -KILL $p; wait $p; ls
                    """
                guard try await Program.shell(kill, in: folder).output.contains("new.sqlite\n") else { continue }
                #expect(try await Self.content("sqlite:new.sqlite", folder) == before)
                _ = try await Program.shell("rm new.sqlite", in: folder)
            }
            _ = try await Program.shell("rm -f new.sqlite.partial*", in: folder)
            #expect(try await Self.rebuild(in: folder).status == 0)
            #expect(try await Self.content("sqlite:new.sqlite", folder) == before)
        }
    }
}
