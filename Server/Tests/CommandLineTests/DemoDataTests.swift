import Foundation
import TestSupport
import Testing

@Suite("32 assay demo-data")
struct DemoDataTests {
    @Test(
        "32 A folder has a year of purchases that an audit confirms, the same for the same seed, and assay dev opens it"
    )
    func year() async throws {
        try await Program.inTemporaryFolder { folder in
            let made = try await Program.shell("assay demo-data --customers 12 --seed 7 --folder a", in: folder)
            #expect(made.status == 0 && made.output.contains("12 customers, "), "\(made.output)")
            let again = try await Program.shell(
                "assay demo-data --customers 12 --seed 7 --folder b --quiet", in: folder)
            let story = { (text: String) in text.split(separator: "\n").first { $0.contains("12 customers, ") } }
            #expect(story(again.output) == story(made.output), "\(again.output)")
            let refused = try await Program.shell("assay demo-data --customers 12 --folder a", in: folder)
            #expect(refused.status != 0 && refused.output.contains("exists already"), "\(refused.output)")
            let stopped = try await Program.shell(
                "timeout -s TERM 4 assay demo-data --customers 5000 --folder c; echo status $?; true", in: folder)
            #expect(!stopped.output.contains("made c") && !stopped.output.contains("status 0"), "\(stopped.output)")
            let options = "--database sqlite:a/assay.sqlite --entry-key a/entries.key --trust a/authority/trust.pem"
            let audit = try await Program.shell("assay audit verify --evidence \(options)", in: folder)
            #expect(audit.output.contains(" 0 findings"), "\(audit.output)")
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
}
