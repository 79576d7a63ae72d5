import ArgumentParser
import EvidenceMint
import Foundation
import LegacyLedger

/// `assay audit`: proves that nothing in the record was removed or altered.
struct AuditCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "audit", abstract: "Verifies the record of all submissions, and exports it.",
        subcommands: [Verify.self, Export.self, Evidence.self])

    struct Verify: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Finds rows of the record that were changed, removed or moved.",
            discussion: """
                Each row holds a hash over itself and the row before. Somebody who can write to the database can compute \
                a whole new chain, so keep the head hashes that are printed somewhere else, and give them back with \
                --expect: TABLE:COUNT:HASH. The exit status is 1 if anything is wrong.
                """)

        @OptionGroup var options: LedgerDatabaseOptions

        @Option(name: .long, help: "A head that was printed before, as TABLE:COUNT:HASH. Repeat for several.")
        var expect: [String] = []

        func run() async throws {
            let expected = try expect.map { text in
                let parts = text.split(separator: ":").map(String.init)
                guard parts.count == 3, let count = Int64(parts[1]) else {
                    throw ValidationError("'\(text)' is no head: write TABLE:COUNT:HASH, as it was printed.")
                }
                return (text: text, table: parts[0], count: count, hash: parts[2])
            }
            try await options.withDatabase(migrating: false) { database in
                try await LedgerMigrations.requireCurrent(database)
                let audit = Audit(database)
                let report = try await audit.verify()
                for finding in report.findings {
                    Terminal.write("\(finding.table) \(finding.row): \(finding.kind.rawValue)\n")
                }
                var isExpected = true
                for head in expected where try await audit.hash(head.table, at: head.count) != head.hash {
                    isExpected = false
                    Terminal.write("\(head.table) \(head.count): not the row that was kept as \(head.text)\n")
                }
                for (table, head) in report.heads.sorted(by: { $0.key < $1.key }) {
                    Terminal.write("head \(table):\(head.count):\(head.hash)\n")
                }
                guard report.findings.isEmpty, isExpected else { throw ExitCode.rejected }
                Terminal.write("assay: the record is as it was written; \(report.evidenceCount) pieces of evidence\n")
            }
        }
    }

    struct Export: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Writes every row of the record as one JSON object a line: submissions, then events.")

        @OptionGroup var options: LedgerDatabaseOptions

        func run() async throws {
            try await options.withDatabase(migrating: false) { database in
                try await LedgerMigrations.requireCurrent(database)
                try await Audit(database).export {
                    Terminal.write(VisibleText.inJSON(Array($0.utf8)) + [UInt8(ascii: "\n")])
                }
            }
        }
    }

    struct Evidence: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Writes a piece of evidence as it was sent, such as a receipt in a dispute.",
            discussion: "Submissions name it by its SHA-256, as evidence_sha256. 'assay inspect' reads what it writes.")

        @OptionGroup var options: LedgerDatabaseOptions

        @Argument(help: "The SHA-256 of the evidence, in hexadecimal digits.")
        var sha256: String

        @Option(name: [.short, .long], help: "Where to write; standard output, if not given.")
        var output: String?

        func run() async throws {
            try await options.withDatabase(migrating: false) { database in
                try await LedgerMigrations.requireCurrent(database)
                let name = sha256.lowercased()
                guard let bytes = try await Audit(database).evidence(name) else {
                    throw InputError(sha256, "no such evidence is kept")
                }
                guard let output, output != "-" else { return Terminal.write(bytes) }
                do {
                    try OutputFile.write(Data(bytes), to: output)
                } catch {
                    throw InputError(output, "cannot be written")
                }
            }
        }
    }
}
