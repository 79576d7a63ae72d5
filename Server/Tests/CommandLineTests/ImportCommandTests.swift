import EvidenceMint
import Foundation
import TestSupport
import Testing

/// `assay import` as a process: its formats, its errors, and kills at any moment.
@Suite("assay import")
struct ImportCommandTests {
    private static let settings = """
        server:
          trust: [assay-authority/trust.pem]
        apps:
          game:
            bundle_ids: com.example.app
            products:
              coins: { kind: consumable }
        """

    /// A folder with settings that a server recorded, and `count` signed transactions of as many purchases.
    private static func inFolder(_ count: Int, _ body: (URL, [String]) async throws -> Void) async throws {
        try await Program.inTemporaryFolder { folder in
            try settings.write(to: folder.appending(path: "assay.yaml"), atomically: true, encoding: .utf8)
            let authority = try AppStoreAuthority(folder: folder.appending(path: "assay-authority"))
            let encoder = SignedPayloadEncoder(authority: authority)
            var evidence: [String] = []
            for number in 0..<count {
                let purchase = PurchaseTemplate.consumable(
                    productID: "coins", transactionID: "\(1000 + number)", purchaseDate: MintedWorld.moment)
                var template = SignedTransactionTemplate(purchase: purchase, bundleID: "com.example.app")
                template.environment = "Production"
                evidence.append(try encoder.encode(template))
            }
            try await RunningServer.run("assay serve --port 0", in: folder) { _ in }
            try await body(folder, evidence)
        }
    }

    private static func run(_ command: String, _ folder: URL) async throws -> Program.Result {
        try await Program.shell("assay \(command)", in: folder)
    }

    private static func write(_ text: String, _ name: String, _ folder: URL) throws {
        try FileManager.default.createDirectory(
            at: folder.appending(path: name).deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data(text.utf8).write(to: folder.appending(path: name))
    }

    /// The number of claims in the journal.
    private static func claims(_ folder: URL) async throws -> Int {
        let query =
            "import sqlite3; print(sqlite3.connect(\"assay.sqlite\").execute("
            + "\"SELECT count(*) FROM journal WHERE kind = 3\").fetchone()[0])"
        let output = try await Program.shell("python3 -c '\(query)'", in: folder).output
        return Int(output.trimmingCharacters(in: .whitespacesAndNewlines)) ?? -1
    }

    @Test("CSV of RFC 4180, NDJSON and folders give equal results; a second run and a trial change nothing")
    func formats() async throws {
        try await Self.inFolder(4) { folder, evidence in
            let customers = ["kündin, \"1\"", "bob", "c\u{327}edric", "dora\u{2028}"]
            let rows = customers.indices.map { index in
                "\"\(customers[index].replacing("\"", with: "\"\""))\",\"\(evidence[index])\",2024-01-31T12:00:00Z"
            }
            let csv = "\u{FEFF}customer_id,signed_transaction,imported_at\r\n" + rows.joined(separator: "\r\n")
            try Self.write(csv, "a.csv", folder)
            let json = try customers.indices.map { index in
                let object = ["customer_id": customers[index], "receipt_data": evidence[index]]
                return String(decoding: try JSONEncoder().encode(object), as: UTF8.self)
            }
            try Self.write("\n" + json.joined(separator: "\n\n") + "\n", "a.ndjson", folder)
            try Self.write(evidence[1] + "\n", "files/bob.jws", folder)
            try Self.write(evidence[2], "files/c\u{327}edric/first", folder)
            let before = try await Self.claims(folder)
            let trial = try await Self.run(
                "import --app game --consumables balance --dry-run a.csv; ls -d $TMPDIR/assay-trial* | wc -l", folder)
            #expect(trial.output.contains("accepted  4") && trial.output.contains("nothing was written"))
            #expect(try await Self.claims(folder) == before)
            let first = try await Self.run("import --app game --consumables balance a.csv", folder)
            #expect(first.status == 0 && first.output.contains("accepted  4"), "\(first.output)")
            #expect(try await Self.claims(folder) == before + 4)
            for command in ["a.csv", "a.ndjson", "- < a.ndjson", "--announce --jobs 1 a.csv", "--dry-run a.csv"] {
                let again = try await Self.run("import --app game --consumables balance \(command)", folder)
                #expect(
                    again.status == 0 && again.output.contains("4 of them had been imported before"), "\(again.output)")
            }
            #expect(try await Self.claims(folder) == before + 4)
            let files = try await Self.run("import --app game --consumables balance files", folder)
            #expect(files.status == 0 && files.output.contains("accepted  2"), "\(files.output)")
            let shown = try await Self.run("show --app game 'kündin, \"1\"'", folder)
            #expect(shown.output.contains("1000"), "\(shown.output)")
            // The transaction of the file is written with a line feed, so it is other evidence of the same purchase.
            #expect(try await Self.claims(folder) == before + 5)
            let audit = try await Self.run("audit verify --evidence", folder)
            #expect(audit.status == 0, "\(audit.output)")
            let exported = try await Self.run("audit export", folder)
            #expect(exported.output.contains("\"imported\""), "the note is in the journal")
        }
    }

    @Test("B.5 A row of 8 MB of commas is rejected after as many fields as the header has, in little memory")
    func manyFields() async throws {
        try await Self.inFolder(1) { folder, evidence in
            let commas = String(repeating: ",", count: 8_000_000)
            try Self.write(
                "customer_id,signed_transaction\n\(commas)\nalice,\(evidence[0])\n", "a.csv", folder)
            let result = try await Program.shell(
                "python3 -c 'import resource, subprocess, sys; status = subprocess.run(sys.argv[1:]).returncode; "
                    + "print(\"peak\", resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss); sys.exit(status)' "
                    + "assay import --app game --consumables balance a.csv", in: folder)
            #expect(result.status == 1)
            #expect(
                result.output.contains(
                    "line 2: rejected, row_malformed: the row has more than 2 fields, as many as the header"),
                "\(result.output)")
            #expect(result.output.contains("accepted  1"), "\(result.output)")
            let peak = result.output.split(separator: "peak ").last.flatMap { Int($0.prefix { $0.isNumber }) } ?? .max
            #expect(peak < 300_000, "\(peak) kB")
            try Self.write(commas, "header.csv", folder)
            let header = try await Self.run("import --app game --consumables balance header.csv", folder)
            #expect(header.status == 2 && header.output.contains("the header cannot be read"), "\(header.output)")
        }
    }

    @Test(
        "B.5 An import of a folder refuses symbolic links, to files and to folders, and imports the files beside them")
    func links() async throws {
        try await Self.inFolder(3) { folder, evidence in
            try Self.write(evidence[0], "files/alice.jws", folder)
            try Self.write(evidence[1], "secret/receipt", folder)
            for (name, target) in [("files/bob.jws", "secret/receipt"), ("files/carol", "secret")] {
                try FileManager.default.createSymbolicLink(
                    at: folder.appending(path: name), withDestinationURL: folder.appending(path: target))
            }
            let result = try await Self.run("import --app game --consumables balance files", folder)
            #expect(result.status == 1 && result.output.contains("accepted  1"), "\(result.output)")
            for name in ["files/bob.jws", "files/carol"] {
                #expect(
                    result.output.contains("\(name): rejected, row_malformed: is a symbolic link"), "\(result.output)")
            }
        }
    }

    @Test("A damaged row is reported with its line and code, and the rows around it are imported")
    func damagedRows() async throws {
        try await Self.inFolder(3) { folder, evidence in
            let rows = [
                "customer_id,signed_transaction,order_id,imported_at", "alice,\(evidence[0]),,",
                "bob,\"\(evidence[1]),,",
                "bob,\(evidence[1])", "bo\"b,\(evidence[1]),,", "bob,\"\(evidence[1])\"x,,", ",\(evidence[1]),,",
                "bob,,,", "bob,\(evidence[1]),7,", "bob,\(evidence[1]),,yesterday", "bob,forged,,",
                "mallory,\(evidence[0]),,", "", "carol,\(evidence[2]),,",
            ]
            try Self.write(rows.joined(separator: "\n"), "a.csv", folder)
            let result = try await Self.run("import --app game --consumables balance a.csv", folder)
            #expect(result.status == 1)
            for line in [
                "line 3: rejected, row_malformed",
                "line 4: rejected, row_malformed: the row has 2 fields, and the header 4",
                "line 5: rejected, row_malformed", "line 6: rejected, row_malformed", "line 7: rejected, field_missing",
                "line 8: rejected, field_missing", "line 9: rejected, order_unknown: expected 7",
                "line 10: rejected, field_malformed: imported_at is 'yesterday'",
                "line 11: rejected, evidence_unrecognized", "line 12: rejected, already_claimed",
            ] {
                #expect(result.output.contains(line), "\(line) in \(result.output)")
            }
            #expect(result.output.contains("accepted                         2"), "\(result.output)")
            let json = [
                #"{"customer_id":"alice","receipt_data":"\#(evidence[0])"}"#,
                #"{"customer_id":"bob","reciept_data":"x"}"#,
                #"{"customer_id":"bob","receipt_data":7}"#, #"{"customer_id":"bob","customer_id":"c"}"#, "[]", "{",
                #"{"customer_id":4711,"receipt_data":null,"signed_transaction":"\#(evidence[1])"}"#,
                #"{"customer_id":"a\u0000b","receipt_data":"\#(evidence[1])"}"#,
            ]
            try Self.write(json.joined(separator: "\n"), "a.ndjson", folder)
            let other = try await Self.run("import --app game --consumables balance a.ndjson", folder)
            #expect(other.status == 1)
            for line in [
                "line 2: rejected, column_unknown: there is no member 'reciept_data'; did you mean 'receipt_data'?",
                "line 3: rejected, field_malformed: the member receipt_data is not a string",
                "line 4: rejected, row_malformed: a member is repeated, at byte",
                "line 5: rejected, row_malformed",
                "line 6: rejected, row_malformed", "line 8: rejected, field_malformed: customer_id",
            ] {
                #expect(other.output.contains(line), "\(line) in \(other.output)")
            }
            #expect(try await Self.run("show --app game 4711", folder).output.contains("1001"))
        }
    }

    @Test("13 Equal refusals of an import are printed ten times with their product, and then only counted")
    func folded() async throws {
        try await Self.inFolder(13) { folder, evidence in
            func rows(_ customer: String) -> String {
                "customer_id,signed_transaction\n" + evidence.map { "\(customer),\($0)\n" }.joined()
            }
            try Self.write(rows("alice"), "alice.csv", folder)
            try Self.write(rows("mallory") + "bob,forged\n", "mallory.csv", folder)
            #expect(try await Self.run("import --consumables balance alice.csv", folder).status == 0)
            let result = try await Self.run("import --consumables balance mallory.csv", folder)
            let words = "rejected, already_claimed: coins, found another_customer"
            let lines = result.output.split(separator: "\n").filter { $0.hasPrefix("line ") }
            #expect(
                lines.dropLast(2) == (2...11).map { "line \($0): \(words)" }[...]
                    && lines.dropLast().last == "line 12 and later: \(words); further rows with it are only counted"
                    && lines.last?.hasPrefix("line 15: rejected, evidence_unrecognized") == true, "\(result.output)")
            #expect(result.output.contains(/rejected, already_claimed +13/), "\(result.output)")
        }
    }

    @Test("E.5 An import shows on a terminal how many rows are done, and how fast")
    func progress() async throws {
        let parts = 5
        try await Self.inFolder(parts * 64) { folder, evidence in
            let rows = evidence.enumerated().map { "customer \($0),\($1)\n" }
            for part in 0..<parts {
                let header = part == 0 ? "customer_id,signed_transaction\n" : ""
                try Self.write(header + rows[(part * 64)..<((part + 1) * 64)].joined(), "part\(part)", folder)
            }
            // Nothing is shown in the first two seconds, so the rows come slowly.
            let script = """
                python3 -c 'import pty, sys; sys.exit(pty.spawn(sys.argv[1:]) >> 8)' \
                sh -c 'for n in 0 1 2 3 4; do cat part$n; sleep 0.9; done | \
                assay import --app game --consumables balance --jobs 1 -' < /dev/null
                """
            let result = try await Program.shell(script, in: folder)
            #expect(result.status == 0 && result.output.contains("accepted  320"), "\(result.output)")
            #expect(result.output.contains(/\r[0-9]+ rows  [0-9]+\/s/), "\(result.output)")
        }
    }

    @Test("C.5 Without --consumables, an import into an app with consumables is refused; 'delivered' credits none")
    func consumables() async throws {
        try await Self.inFolder(2) { folder, evidence in
            try Self.write("customer_id,signed_transaction\nalice,\(evidence[0])\n", "a.csv", folder)
            try Self.write("customer_id,signed_transaction\nbob,\(evidence[1])\n", "b.csv", folder)
            for option in ["", "--dry-run"] {
                let refused = try await Self.run("import --app game \(option) a.csv", folder)
                #expect(
                    refused.status == 2 && refused.output.contains("Write '--consumables delivered'"),
                    "\(refused.output)")
                #expect(try await Self.claims(folder) == 0)
            }
            let mistyped = try await Self.run("import --app game --consumables used a.csv", folder)
            #expect(mistyped.status != 0 && mistyped.output.contains("delivered"), "\(mistyped.output)")
            #expect(try await Self.run("import --app game --consumables delivered a.csv", folder).status == 0)
            #expect(try await Self.run("import --app game --consumables balance b.csv", folder).status == 0)
            let query =
                "import sqlite3; print(sqlite3.connect(\"assay.sqlite\").execute("
                + "\"SELECT sum(available), sum(taken) FROM lots\").fetchone())"
            #expect(try await Program.shell("python3 -c '\(query)'", in: folder).output.contains("(1, 1)"))
            let audit = try await Self.run("audit verify --evidence", folder)
            #expect(audit.status == 0, "\(audit.output)")
        }
    }

    @Test("A file that cannot be imported is refused with the correction, and nothing is written")
    func mistakes() async throws {
        try await Self.inFolder(1) { folder, evidence in
            let before = try await Self.claims(folder)
            let files: [(String, String)] = [
                ("", "is empty; the first line of a CSV file names its columns: customer_id, receipt_data"),
                ("customer_id,recipt_data\n", "there is no column 'recipt_data'; did you mean 'receipt_data'?"),
                ("Customer_ID,receipt_data\n", "there is no column 'Customer_ID'; did you mean 'customer_id'?"),
                ("customer_id,receipt_data,customer_id\n", "names the column 'customer_id' twice"),
                ("receipt_data\n", "the header lacks the column 'customer_id'"),
                ("customer_id,order_id\n", "lacks 'receipt_data' and 'signed_transaction'"),
                ("customer_id;receipt_data\n", "separated by semicolons; separate them by commas"),
                ("customer_id\treceipt_data\n", "separated by tabs; separate them by commas"),
                ("\"customer_id,receipt_data\n", "the header cannot be read: a quoted field is not closed"),
            ]
            for (content, message) in files {
                try Self.write(content, "a.csv", folder)
                let result = try await Self.run("import --app game --consumables balance a.csv", folder)
                #expect(result.status == 2 && result.output.contains(message), "\(message): \(result.output)")
            }
            let commands: [(String, String)] = [
                ("import --app game --consumables balance none.csv", "no such file"),
                ("import --app gane b.csv", "the ledger has no such app, but game"),
                (
                    "import --app game --consumables balance --dry-run --database sqlite:none.sqlite b.csv",
                    "there is no such database"
                ),
                ("import --app game --consumables balance --jobs 0 b.csv", "'--jobs' takes a number from 1"),
                ("import --app game --consumables balance empty", "the folder has no files"),
                ("import --app game --consumables balance utf16", "is UTF-16"),
                ("import --app game --consumables balance b.csv.gz", "is compressed"),
                ("imprt", "did you mean 'import'?"),
            ]
            try Self.write("customer_id,signed_transaction\nalice,\(evidence[0])", "b.csv", folder)
            _ = try await Program.shell("mkdir empty; gzip -k b.csv; printf '\\377\\376a' > utf16", in: folder)
            for (command, message) in commands {
                let result = try await Self.run(command, folder)
                #expect(result.status == 2 && result.output.contains(message), "\(message): \(result.output)")
            }
            #expect(try await Self.claims(folder) == before)
            // Rows that are too large are skipped without keeping them in memory.
            let large = """
                { echo customer_id,receipt_data; printf 'alice,'; head -c 60000000 /dev/zero | tr '\\0' A; echo; \
                tail -n 1 b.csv; } | sed '$!b' | assay import --app game --consumables balance -
                """
            let result = try await Program.shell(large, in: folder)
            #expect(result.status == 1 && result.output.contains("line 2: rejected, row_too_large"), "\(result.output)")
            #expect(result.output.contains("accepted                 1"), "\(result.output)")
        }
    }

    @Test("An import that is killed with SIGKILL again and again ends with each row recorded once")
    func kills() async throws {
        let count = 1500
        try await Self.inFolder(count) { folder, evidence in
            let before = try await Self.claims(folder)
            let rows = evidence.enumerated().map { "customer \($0 % 311),\($1)" }
            try Self.write("customer_id,signed_transaction\n" + rows.joined(separator: "\n"), "a.csv", folder)
            var kills = 0
            var known = 0
            // A slow machine needs longer to skip the rows that it knows.
            var longest = 0.6
            for _ in 0..<200 {
                // Each is killed shortly after it wrote something.
                let script = """
                    touch stamp; assay import --app game --consumables balance a.csv > report 2>&1 & p=$!
                    while kill -0 $p 2>/dev/null && ! test assay.sqlite-wal -nt stamp; do sleep 0.02; done
                    sleep \(Double.random(in: 0...longest)); kill -KILL $p 2>/dev/null; wait $p; echo "status $?"
                    """
                let result = try await Program.shell(script, in: folder)
                let recorded = try await Self.claims(folder) - before
                #expect(recorded >= known && recorded <= count)
                if recorded == known { longest += 0.3 }
                known = recorded
                if result.output.contains("status 0") { break }
                try #require(result.output.contains("status 137"), "\(result.output)")
                kills += 1
            }
            print("killed \(kills) imports")
            #expect(kills > 0 && known == count)
            let audit = try await Self.run("audit verify --evidence", folder)
            #expect(audit.status == 0, "\(audit.output)")
            let last = try await Self.run("import --app game --consumables balance a.csv", folder)
            #expect(last.status == 0 && last.output.contains("\(count) of them had been imported before"))
        }
    }

    /// Shells start background processes with SIGINT ignored, so the test sends SIGTERM, which has the same effect.
    @Test("A signal ends an import after the current batch, with a report, even beside a server")
    func interrupted() async throws {
        try await Self.inFolder(300) { folder, evidence in
            let rows = evidence.enumerated().map { "customer \($0),\($1)\n" }
            try Self.write("customer_id,signed_transaction\n" + rows[..<200].joined(), "first", folder)
            try Self.write(rows[200...].joined(), "rest", folder)
            try await RunningServer.run("assay serve --port 0", in: folder) { _ in
                let script = """
                    mkfifo rows; { cat first; while ! test -e go; do sleep 0.1; done; cat rest; } > rows &
                    assay import --app game --consumables balance - < rows > report 2>&1 & p=$!
                    n=0; while [ $n -lt 300 ] && [ "$(\(Self.countClaims))" = 0 ]; do sleep 0.2; n=$((n+1)); done
                    kill -TERM $p; sleep 0.5; touch go; wait $p; echo "status $?"; cat report
                    """
                let result = try await Program.shell(script, in: folder)
                #expect(result.output.contains("status 130"), "\(result.output)")
                #expect(result.output.contains("interrupted; run the same command again to go on"), "\(result.output)")
                let rest = try await Program.shell(
                    "cat first rest | assay import --app game --consumables balance -", in: folder)
                #expect(rest.status == 0 && rest.output.contains("accepted  300"), "\(rest.output)")
            }
            #expect(try await Self.claims(folder) == 300)
        }
    }

    private static let countClaims =
        "python3 -c 'import sqlite3; print(sqlite3.connect(\"assay.sqlite\").execute("
        + "\"SELECT count(*) FROM journal WHERE kind = 3\").fetchone()[0])'"
}
