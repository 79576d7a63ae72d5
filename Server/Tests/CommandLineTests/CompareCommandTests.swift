import Foundation
import TestSupport
import Testing

@Suite("assay import compare")
struct CompareCommandTests {
    @Test("28.3 assay import compare prints each difference with its cause, and ends with 1 if there is one")
    func compared() async throws {
        try await Program.inTemporaryFolder { folder in
            try """
            apps:
              game:
                bundle_ids: com.example.app
                products:
                  pro: { kind: non_consumable, entitlements: [premium] }
            """.write(to: folder.appending(path: "assay.yaml"), atomically: true, encoding: .utf8)
            // The server records the app.
            try await RunningServer.run("assay serve --port 0 2>log", in: folder) { _ in }
            let granted = try await Program.shell(
                "assay customers grant --app game alice pro --reason 'moved'", in: folder)
            try #require(granted.status == 0, "\(granted.output)")
            func compare(_ lines: String, _ options: String = "") async throws -> (status: Int32, output: String) {
                let result = try await Program.shell(
                    "printf '\(lines)' | assay import compare --app game \(options) -", in: folder)
                return (result.status, result.output)
            }
            let right = #"{"customer_id":"alice","entitlement":"premium","active":true,"until":"unlimited"}\n"#
            let wrong = #"{"customer_id":"bob","product_id":"pro","active":true}\n"#
            let agreed = try await compare(right)
            #expect(
                agreed.status == 0 && agreed.output.hasSuffix("\n1 answer compared: 1 agrees, 0 differ\n"), "\(agreed)")
            let differed = try await compare(right + wrong + "nonsense")
            #expect(differed.status == 1, "\(differed)")
            #expect(differed.output.contains("line 2: bob, pro: customer_unknown (nothing_recorded)\n"))
            #expect(differed.output.contains("  theirs: active; here: not active\n"))
            #expect(differed.output.contains("line 3: body_malformed"))
            #expect(differed.output.contains("2 answers compared: 1 agrees, 1 differs\n1 line could not be read\n"))
            let json = try await compare(right + wrong, "--json")
            #expect(
                json.output.hasSuffix(
                    #"{"summary":{"agreed":1,"causes":{"customer_unknown":1},"compared":2,"differed":1,"invalid":0}}"#
                        + "\n"), "\(json)")
            let missing = try await Program.shell("assay import compare --app game nowhere", in: folder)
            #expect(missing.status == 2 && missing.output.contains("no such file"), "\(missing.output)")
        }
    }
}
