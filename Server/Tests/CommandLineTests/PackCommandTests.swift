import Foundation
import TestSupport
import Testing

@Suite("32 assay audit pack")
struct PackCommandTests {
    private static func key(_ folder: URL) async throws -> String {
        try await Program.shell("assay keys signing --for log", in: folder).output
            .trimmingCharacters(in: .whitespacesAndNewlines)
    }

    /// A stopped server's folder with one purchase of `alice`, claimed in vain by `måns <b>`.
    private static func withPurchase(_ body: @escaping (URL) async throws -> Void) async throws {
        try await RecordCommandTests.inFolder { folder in
            let status = try await RunningServer.run(RecordCommandTests.serve, in: folder) { server in
                try await RecordCommandTests.claim(0, server, folder)
                let again = """
                    sed 's/alice/måns <b>/' claim.json > again.json
                    curl -sS -H "Authorization: Bearer $(cat key)" --data @again.json \(server.address)/v1/purchases
                    """
                #expect(try await Program.shell(again, in: folder).output.contains("already_claimed"))
                let entries = try await RecordCommandTests.leaves(folder)
                try await RecordCommandTests.wait { RecordCommandTests.published(folder) == entries }
            }
            #expect(status == 0)
            try await body(folder)
        }
    }

    @Test("32 A pack has the story on one page, and each proof and piece of evidence in it verifies in an empty folder")
    func pack() async throws {
        try await Self.withPurchase { folder in
            for (command, name) in [("p0", "of-transaction"), ("--customer alice", "of-customer")] {
                let written = try await RecordCommandTests.output("audit pack \(command) -o \(name)", folder)
                #expect(written.status == 0, "\(written.output)")
                let page = try String(
                    contentsOf: folder.appending(path: "\(name)/index.html"), encoding: .utf8)
                #expect(page.contains("<h2>What happened</h2>") && page.contains(">alice<"))
                #expect(!page.contains("<script") && !page.contains("<b>"))
                // Every link leads to a file of the folder.
                let links = page.matches(of: /href="((?:proofs|evidence)\/[^"]+)"/).map { String($0.output.1) }
                #expect(links.count >= 2)
                for link in links {
                    let path = folder.appending(path: "\(name)/\(link)").path
                    #expect(FileManager.default.fileExists(atPath: path), "\(link)")
                }
                let key = try await Self.key(folder)
                for proof in links where Self.isProof(proof) {
                    let checked = try await RecordCommandTests.output(
                        "audit check \(name)/\(proof) --key '\(key)'", folder)
                    #expect(checked.status == 0, "\(checked.output)")
                }
                let evidence = try #require(links.first { $0.hasPrefix("evidence/") })
                let verified = try await RecordCommandTests.output(
                    "verify --trust assay-authority/trust.pem --bundle-id com.example.app \(name)/\(evidence)", folder)
                #expect(verified.status == 0, "\(verified.output)")
            }
            let again = try await RecordCommandTests.output("audit pack p0 -o of-transaction", folder)
            #expect(again.status != 0 && again.output.contains("exists already"))
            let unknown = try await RecordCommandTests.output("audit pack nothing -o none", folder)
            #expect(unknown.status != 0 && unknown.output.contains("nothing is recorded"), "\(unknown.output)")
            #expect(!FileManager.default.fileExists(atPath: folder.appending(path: "none").path))
        }
    }

    private static func isProof(_ link: String) -> Bool { link.hasPrefix("proofs/") }

    @Test("32 A redacted pack names no customer in any file, and its proofs still verify")
    func redacted() async throws {
        try await Self.withPurchase { folder in
            let written = try await RecordCommandTests.output("audit pack p0 --redact -o pack", folder)
            #expect(written.status == 0, "\(written.output)")
            let pack = folder.appending(path: "pack")
            let files = try FileManager.default.subpathsOfDirectory(atPath: pack.path).filter { $0.contains(".") }
            #expect(files.contains("index.html") && files.contains { $0.hasPrefix("proofs/") })
            #expect(!files.contains { $0.hasPrefix("evidence") })
            let key = try await Self.key(folder)
            for file in files {
                let text = try String(contentsOf: pack.appending(path: file), encoding: .utf8)
                #expect(!text.contains("alice") && !text.contains("måns"), "\(file)")
                guard Self.isProof(file) else { continue }
                let proof = try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any]
                #expect(proof?["details"] is NSNull && proof?["evidence"] is NSNull, "\(text)")
                let checked = try await RecordCommandTests.output("audit check pack/\(file) --key '\(key)'", folder)
                #expect(checked.status == 0, "\(checked.output)")
            }
        }
    }
}
