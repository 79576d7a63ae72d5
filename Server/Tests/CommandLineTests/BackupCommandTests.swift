import Foundation
import Testing

/// `assay database backup` beside a running server, and the use of the copy.
@Suite("assay database backup")
struct BackupCommandTests {
    @Test(
        "A database is copied while its server runs; the copy agrees with its audit and rebuild, and is not overwritten"
    )
    func backup() async throws {
        try await Program.inTemporaryFolder { folder in
            try "apps:\n  game:\n    bundle_ids: com.example.app\n".write(
                to: folder.appending(path: "assay.yaml"), atomically: true, encoding: .utf8)
            let prepared = try await Program.shell(
                "assay mint --kind production --bundle-id com.example.app -o r.b64 && "
                    + "assay keys create --app game --scope admin 2>/dev/null > key", in: folder)
            try #require(prepared.status == 0, "\(prepared.output)")
            let serve = "assay serve --port 0 --trust assay-authority/trust.pem"
            try await RunningServer.run(serve, in: folder) { server in
                let granted = try await Program.shell(
                    "curl -sS -X PUT -H \"Authorization: Bearer $(cat key)\" \(server.address)/v1/testers/alice",
                    in: folder)
                #expect(granted.output.contains(#""tester":true"#), "\(granted.output)")
                let copied = try await Program.shell("assay database backup copy.sqlite", in: folder)
                #expect(copied.status == 0, "\(copied.output)")
                #expect(copied.output.contains(" bytes to copy.sqlite\n"), "\(copied.output)")
                let verified = try await Program.shell("assay database backup --verify verified.sqlite", in: folder)
                #expect(verified.status == 0, "\(verified.output)")
                #expect(verified.output.contains("1 checkpoint, 0 findings about the log"), "\(verified.output)")
                let files = try await Program.shell("ls verified.sqlite*", in: folder)
                #expect(files.output == "verified.sqlite\n")
                let again = try await Program.shell("assay database backup copy.sqlite", in: folder)
                #expect(again.status == 2 && again.output.contains("backup_file_exists"), "\(again.output)")
            }
            let mode = try await Program.shell("stat -c %a copy.sqlite", in: folder)
            #expect(mode.output == "600\n")
            // Checkpoints that the server signed after the backup would raise the alarm.
            for command in ["audit verify --evidence --signing-key none.key", "list testers --app game"] {
                let answer = try await Program.shell(
                    "assay \(command) --database sqlite:copy.sqlite", in: folder,
                    environment: ["ASSAY_TRUST": "assay-authority/trust.pem"])
                #expect(answer.status == 0, "\(command): \(answer.output)")
                if command.hasPrefix("list testers") { #expect(answer.output.hasSuffix("alice\n"), "\(answer.output)") }
            }
            // A ledger that somebody altered is copied as it is, and the audit of the copy says so.
            let altered = try await Program.shell(
                """
                python3 -c 'import sqlite3; d = sqlite3.connect("assay.sqlite"); \
                d.execute("DELETE FROM testers"); d.commit()'
                assay database backup --verify altered.sqlite
                """, in: folder)
            #expect(altered.status == 1 && altered.output.contains(" finding"), "\(altered.output)")
            let missing = try await Program.shell(
                "assay database backup --database sqlite:none.sqlite other.sqlite", in: folder)
            #expect(missing.status == 2 && missing.output.contains("there is no such database"), "\(missing.output)")
            let left = try await Program.shell("ls other* *.partial* 2>/dev/null | wc -l", in: folder)
            #expect(left.output.trimmingCharacters(in: .whitespacesAndNewlines) == "0")
        }
    }
}
