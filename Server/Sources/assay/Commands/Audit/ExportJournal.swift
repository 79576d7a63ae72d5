import ArgumentParser
import PurchaseLedger

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
