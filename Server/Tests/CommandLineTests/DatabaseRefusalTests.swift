import Foundation
import Testing

/// The message of every command about a database that it cannot use.
@Suite("Refused databases")
struct DatabaseRefusalTests {
    private static let commands = [
        "serve --port 0", "database migrate", "list keys", "keys create --app game --scope client",
        "list testers --app game", "show --app game alice", "audit verify", "audit export",
        "database rebuild --to sqlite:new.sqlite",
    ]

    private static func refuse(_ script: String, _ words: String) async throws {
        try await Program.inTemporaryFolder { folder in
            let create = "python3 -c 'import sqlite3; c = sqlite3.connect(\"assay.sqlite\"); \(script); c.commit()'"
            let created = try await Program.shell("\(create) && cp assay.sqlite before", in: folder)
            try #require(created.status == 0, "\(created.output)")
            for command in commands {
                let result = try await Program.shell("assay \(command)", in: folder)
                #expect(result.status == 2 && result.output.contains(words), "\(command): \(result.output)")
            }
            let dump = """
                for f in before assay.sqlite; do python3 -c 'import sqlite3, sys
                print(*sqlite3.connect(sys.argv[1]).iterdump())' $f; done | sort | uniq -c | grep -v '^ *2 '
                """
            #expect(try await Program.shell(dump, in: folder).output.isEmpty, "something was written")
        }
    }

    private static let migrations =
        "c.execute(\"CREATE TABLE schema_migrations (number INTEGER PRIMARY KEY, title TEXT, applied_at INTEGER)\")"

    @Test("A database of the ledger before the first release is refused")
    func earlierLedger() async throws {
        let title = "Orders, purchases, entitlements, keys and the record"
        try await Self.refuse(
            "\(Self.migrations); c.execute(\"INSERT INTO schema_migrations VALUES (1, ?, 0)\", (\"\(title)\",)); "
                + "c.execute(\"INSERT INTO schema_migrations VALUES (2, ?, 0)\", (\"Withdrawals\",))",
            "database_schema_unknown: ")
    }

    @Test("A database of a newer version is refused")
    func newer() async throws {
        let title = "The tables of 30 November 2026"
        try await Self.refuse(
            "\(Self.migrations); c.execute(\"INSERT INTO schema_migrations VALUES (1, ?, 0)\", (\"\(title)\",)); "
                + "c.execute(\"INSERT INTO schema_migrations VALUES (99, ?, 0)\", (\"Later\",))",
            "database_schema_too_new: ")
    }

    @Test("Settings that give a bundle id to another app are refused with the remedy, until they are corrected")
    func movedBundle() async throws {
        try await Program.inTemporaryFolder { folder in
            func name(_ app: String) throws {
                try "apps:\n  \(app): { bundle_ids: com.example.app }\n".write(
                    to: folder.appending(path: "assay.yaml"), atomically: true, encoding: .utf8)
            }
            try name("game")
            try await RunningServer.run("assay serve --port 0", in: folder) { _ in }
            try name("renamed")
            // A start that is not refused would run until it is ended.
            let refused = try await Program.shell("timeout 120 assay serve --port 0", in: folder)
            #expect(refused.status == 2, "\(refused.output)")
            for words in ["bundle_of_another_app", "Give the app its old name", "com.example.app in the app game"] {
                #expect(refused.output.contains(words), "\(refused.output)")
            }
            try name("game")
            try await RunningServer.run("assay serve --port 0", in: folder) { _ in }
        }
    }

    @Test("A missing database, a file that is not a database, and a folder are refused")
    func none() async throws {
        try await Program.inTemporaryFolder { folder in
            for command in Self.commands.filter({
                !$0.hasPrefix("serve") && !$0.contains("create") && $0 != "database migrate"
            }) {
                let result = try await Program.shell("assay \(command)", in: folder)
                #expect(
                    result.status == 2 && result.output.contains("there is no such database"),
                    "\(command): \(result.output)")
                #expect(!FileManager.default.fileExists(atPath: folder.appending(path: "assay.sqlite").path))
            }
            let text = "yes 'not a database' | head -c 100000 > assay.sqlite; cp assay.sqlite before"
            _ = try await Program.shell(text, in: folder)
            for command in Self.commands {
                let result = try await Program.shell("assay \(command)", in: folder)
                #expect(
                    result.status == 2 && result.output.contains("database_corrupt"), "\(command): \(result.output)")
            }
            #expect(try await Program.shell("cmp before assay.sqlite", in: folder).status == 0)
            let directory = try await Program.shell("assay list keys --database sqlite:.", in: folder)
            #expect(
                directory.status == 2 && directory.output.contains("is a folder; name a file in it"),
                "\(directory.output)")
        }
    }
}
