import ArgumentParser
import EvidenceMint
import Foundation
import PurchaseLedger

/// `assay audit`: verifies that the journal and everything derived from it are unchanged.
struct AuditCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "audit",
        abstract: "Verifies the log, the journal, its evidence and the tables; exports and proves them.",
        subcommands: [
            VerifyAudit.self, ExportJournal.self, WriteEvidence.self, ProveSubmission.self, CheckProof.self,
            ProveLogGrowth.self, CheckGrowth.self, ContinueLog.self, WritePack.self,
        ])
}

/// `assay audit export`.
struct ExportJournal: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "export", abstract: "Writes the journal as one JSON object a line, oldest entry first.",
        discussion: """
            Each line has the members of the entry's leaf (entry_id, at, kind, app, customer, order, code, evidence_sha256), \
            the hash of the leaf and its number in the log, which is the order of the record (entries that wait for the log have \
            none), and the details, which contain names of customers. 'assay audit evidence' writes the \
            evidence of a hash.
            """)

    @OptionGroup var options: LedgerDatabaseOptions

    func run() async throws {
        try await options.withLedger(.reading) { ledger in
            var last: Int64 = 0
            while true {
                let page = try await ledger.answer(JournalExport(after: last))
                guard let end = page.last else { break }
                last = end.key
                for entry in page { Terminal.write(JournalLine(entry).text) }
            }
        }
    }
}

/// `assay audit evidence`.
struct WriteEvidence: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "evidence", abstract: "Writes a piece of evidence as it was sent, such as a receipt in a dispute.",
        discussion: """
            Submissions and the export name evidence by its SHA-256, as evidence_sha256. 'assay inspect' reads the output.
            """)

    @OptionGroup var options: LedgerDatabaseOptions

    @Argument(help: "The SHA-256 of the evidence, in hexadecimal digits.")
    var sha256: String

    @Option(name: [.short, .long], help: "The file to write; without it, standard output.")
    var output: String?

    func run() async throws {
        guard let hash = Self.hash(sha256) else {
            throw ValidationError("'\(sha256)' is not a SHA-256: write 64 hexadecimal digits.")
        }
        try await options.withLedger(.reading) { ledger in
            guard let bytes = try await ledger.answer(EvidenceByHash(sha256: hash)) else {
                throw InputError(sha256, "there is no such evidence, or it was erased")
            }
            guard let output, output != "-" else { return Terminal.write(bytes) }
            do {
                try OutputFile.write(Data(bytes), to: output)
            } catch {
                throw InputError(output, "cannot be written")
            }
        }
    }

    private static func hash(_ text: String) -> [UInt8]? {
        let digits = Array(text.utf8)
        guard digits.count == 64 else { return nil }
        var bytes: [UInt8] = []
        for index in stride(from: 0, to: 64, by: 2) {
            let pair = String(decoding: digits[index..<index + 2], as: UTF8.self)
            guard pair.allSatisfy(\.isHexDigit), let byte = UInt8(pair, radix: 16) else { return nil }
            bytes.append(byte)
        }
        return bytes
    }
}
