import Foundation
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

    private static func rebuild(in folder: URL, _ options: String = "") async throws -> Program.Result {
        try await Program.shell("assay database rebuild \(options) 2>/dev/null", in: folder)
    }

    @Test("A changed row, a missing row and an added row are listed; --repair restores them and records it")
    func repair() async throws {
        try await Self.with { folder in
            #expect(try await Self.rebuild(in: folder).status == 0)
            try await Self.change(
                """
                UPDATE entitlements SET balance = 1000000;
                DELETE FROM ownership_acts WHERE original_key = (SELECT min(original_key) FROM ownership_acts);
                INSERT INTO testers SELECT app_key, customer_key, 1 FROM customers LIMIT 1;
                """, folder)
            let found = try await Self.rebuild(in: folder)
            #expect(found.status == 1)
            for finding in ["row_differs  entitlements", "row_missing  ownership_acts", "row_unknown  testers"] {
                #expect(found.output.contains(finding), "\(found.output)")
            }
            #expect(found.output.contains("1000000 instead of 60"), "\(found.output)")
            // A rebuild without --repair changes nothing.
            #expect(try await Self.rebuild(in: folder).output == found.output)
            #expect(try await Program.shell("assay audit verify", in: folder).status == 1)
            let repaired = try await Self.rebuild(in: folder, "--repair")
            #expect(
                repaired.status == 0 && repaired.output.contains("were replaced by the rebuild"),
                "\(repaired.output)")
            let after = try await Self.rebuild(in: folder)
            #expect(after.status == 0, "\(after.output)")
            let export = try await Program.shell("assay audit export 2>/dev/null | tail -1", in: folder).output
            #expect(export.contains(#""kind":"rules""#) && export.contains("3 findings"), "\(export)")
        }
    }

    @Test("A changed journal or changed evidence is listed, and --repair changes nothing")
    func damagedJournal() async throws {
        for (sql, finding) in [
            ("DROP TRIGGER journal_no_update; UPDATE journal SET details = x'7b7d' WHERE kind = 3", "details_changed"),
            ("DROP TRIGGER evidence_no_update; UPDATE evidence SET content = x'00'", "evidence_changed"),
        ] {
            try await Self.with { folder in
                try await Self.change("UPDATE entitlements SET balance = 7; \(sql);", folder)
                let result = try await Program.shell("assay database rebuild --repair", in: folder)
                #expect(result.status == 1 && result.output.contains(finding), "\(result.output)")
                #expect(result.output.contains("assay: nothing was repaired"), "\(result.output)")
                let shown = try await Program.shell("assay show --app game alice 2>/dev/null", in: folder)
                #expect(shown.output.contains("active  7"), "\(shown.output)")
            }
        }
    }

    @Test("Without the certificates of the server, evidence counts as refused, and --repair changes nothing")
    func withoutTrust() async throws {
        try await Self.with { folder in
            let command = "assay database rebuild --repair --config /dev/null --database sqlite:assay.sqlite 2>&1"
            let result = try await Program.shell(command, in: folder)
            #expect(result.status == 1 && result.output.contains("evidence_refused  "), "\(result.output)")
            #expect(result.output.contains("name the certificates with --trust"), "\(result.output)")
            #expect(try await Self.rebuild(in: folder).status == 0)
            let named = try await Program.shell(
                "\(command) --trust assay-authority/trust.pem", in: folder)
            #expect(named.status == 0, "\(named.output)")
        }
    }

    @Test("A repair that is killed leaves the tables either unchanged or repaired")
    func killed() async throws {
        try await Self.with { folder in
            for delay in ["0.05", "0.1", "0.2", "0.4"] {
                try await Self.change("UPDATE entitlements SET balance = 7;", folder)
                let before = try await Self.rebuild(in: folder)
                #expect(before.status == 1)
                let kill = """
                    mkdir -p tmp; TMPDIR=tmp assay database rebuild --repair >killed 2>&1 & p=$!; sleep \(delay); kill -KILL $p
                    wait $p; echo $?
                    """
                let status = try await Program.shell(kill, in: folder).output
                let after = try await Self.rebuild(in: folder)
                // Killed before or after the commit; a program that was not killed has repaired the tables.
                #expect(after.status == 0 || after.output == before.output, "\(status) \(after.output)")
                #expect(try await Self.rebuild(in: folder, "--repair").status == 0)
                #expect(try await Self.rebuild(in: folder).status == 0)
            }
        }
    }
}
