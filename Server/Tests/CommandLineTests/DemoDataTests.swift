import Foundation
import TestSupport
import Testing

@Suite("32 assay simulate demo-data")
struct DemoDataTests {
    @Test(
        "32 A folder has a year of purchases that an audit confirms, the same for the same seed, and assay dev opens it"
    )
    func year() async throws {
        try await Program.inTemporaryFolder { folder in
            let made = try await Program.shell(
                "assay simulate demo-data --customers 12 --seed 7 --folder a", in: folder)
            #expect(made.status == 0 && made.output.contains("12 customers, "), "\(made.output)")
            let again = try await Program.shell(
                "assay simulate demo-data --customers 12 --seed 7 --folder b --quiet", in: folder)
            let story = { (text: String) in text.split(separator: "\n").first { $0.contains("12 customers, ") } }
            #expect(story(again.output) == story(made.output), "\(again.output)")
            let refused = try await Program.shell("assay simulate demo-data --customers 12 --folder a", in: folder)
            #expect(refused.status != 0 && refused.output.contains("exists already"), "\(refused.output)")
            let stopped = try await Program.shell(
                "timeout -s TERM 4 assay simulate demo-data --customers 5000 --folder c; echo status $?; true",
                in: folder)
            #expect(!stopped.output.contains("made c") && !stopped.output.contains("status 0"), "\(stopped.output)")
            let options = "--database sqlite:a/assay.sqlite --entry-key a/entries.key --trust a/authority/trust.pem"
            let audit = try await Program.shell("assay audit verify --evidence \(options)", in: folder)
            #expect(audit.output.contains(" 0 findings"), "\(audit.output)")
            try await reportAndExport(folder)
            let serve = "assay dev --folder a --port 0 --store-port 0 --no-open"
            let status = try await RunningServer.run(serve, in: folder) { running in
                let events = try await Program.shell(
                    "curl -sSf -H \"Authorization: Bearer $(cat a/admin.key)\" '\(running.address)/v1/events?limit=500'",
                    in: folder)
                for type in ["\"granted\"", "\"renewed\""] { #expect(events.output.contains(type), "\(type)") }
            }
            #expect(status == 0)
        }
    }

    /// The year counted and exported: every row of every kind, in both formats.
    private func reportAndExport(_ folder: URL) async throws {
        func assay(_ words: String) async throws -> String {
            let result = try await Program.shell("assay \(words) 2>/dev/null", in: folder)
            #expect(result.status == 0, "\(words): \(result.output)")
            return result.output
        }
        let months = try await assay("report --folder a --by month --json")
        #expect(months.matches(of: /"active_subscriptions":[1-9]/).count > 5, "\(months)")
        #expect(
            months.contains(#""amount":""#) && months.split(separator: "\n").count == 12)
        let days = try await assay("report --folder a")
        #expect(days.contains("FROM") && days.split(separator: "\n").count == 31, "\(days)")
        let unknown = try await Program.shell("assay report --folder a --product coin", in: folder)
        #expect(unknown.status == 2 && unknown.output.contains("did you mean 'coins'?"), "\(unknown.output)")
        let none = try await Program.shell("assay report --folder a --environment Xcode", in: folder)
        #expect(none.status == 0 && none.output.contains("nothing that counts was bought in Xcode"), "\(none.output)")
        _ = try await assay("customers grant --folder a 'a;\u{FF1D}1;\u{AD}-b' coins --reason test")
        // A mark that combines with the quotation mark before it must not hide it.
        _ = try await assay("customers grant --folder a '=1+\"x\"\u{301},y' coins --reason test")
        for kind in ["purchases", "entitlements", "events"] {
            _ = try await assay("export \(kind) --folder a --format csv -o \(kind).csv")
            let lines = try await assay("export \(kind) --folder a --format ndjson").split(separator: "\n")
            let rows = try String(contentsOf: folder.appending(path: "\(kind).csv"), encoding: .utf8)
                .components(separatedBy: "\r\n")
            // The names of the columns, and nothing after the last line feed.
            #expect(rows.count == lines.count + 2 && lines.count > 12, "\(kind)")
            for line in lines.prefix(20) {
                let object = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
                #expect(Set(rows[0].split(separator: ",").map(String.init)) == Set((object ?? [:]).keys), "\(line)")
            }
            guard kind == "entitlements" else { continue }
            #expect(
                rows.contains { $0.hasPrefix("\"'=1+\"\"x\"\"\u{301},y\",coins,") },
                "a formula is guarded, a field is quoted")
            #expect(rows.contains { $0.hasPrefix("a;'\u{FF1D}1;\u{AD}'-b,coins,") }, "a cell begins behind a semicolon")
            #expect(
                lines.contains { $0.hasPrefix("{\"customer_id\":\"=1+\\\"x\\\"\u{301},y\",\"product_id\":\"coins\"") })
        }
        // The signal comes when the file was just begun, and what was written is removed.
        let interrupted = try await Program.shell(
            """
            python3 -c 'import os, subprocess
            for _ in range(200):
                export = subprocess.Popen("assay export purchases --folder a --format csv -o i".split())
                while export.poll() is None and not any(name.startswith("i.") for name in os.listdir(".")): pass
                export.terminate()
                if export.wait() == 130: break
                os.path.exists("i") and os.remove("i")
            print("ended with", export.returncode)'
            """, in: folder)
        #expect(interrupted.output.contains("ended with 130"), "\(interrupted.output)")
        let files = try FileManager.default.contentsOfDirectory(atPath: folder.path)
        #expect(!files.contains { $0.hasSuffix(".part") })
        let piped = try await Program.shell(
            "assay export events --folder a --format csv 2>/dev/null | head -1", in: folder)
        #expect(
            piped.status == 0 && piped.output.hasPrefix("id,at,type,") && piped.output.count < 200, "\(piped.output)")
        let unwritable = try await Program.shell(
            "assay export events --folder a --format csv -o none/x; echo $?; assay report --folder a --from 2026-02-02 --to 2026-02-01",
            in: folder)
        #expect(unwritable.status == 2 && unwritable.output.contains("none/x"), "\(unwritable.output)")
        #expect(unwritable.output.contains("2\n"), "\(unwritable.output)")
    }
}
