import ArgumentParser
import Foundation
import PurchaseAPI
import PurchaseLedger
import PurchaseServer

/// `assay import compare`: another system's answers beside the ledger's.
struct Compare: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Compares another system's answers about customers with the ledger's.",
        discussion: """
            FILE is NDJSON, one answer a line; '-' is standard input. An answer has customer_id, product_id or entitlement, and \
            active or until, for example {"customer_id":"alice","entitlement":"pro","until":"2026-12-01T00:00:00Z"}; it can \
            have environment, as_of and transaction_id. The command reads the database and changes nothing.

            Each difference is printed with its cause, the rule that decided, the purchases on which it rests and a sentence; \
            then a summary by cause. With --json it prints what POST /v1/compare answers.

            Exit status: 0 if all answers agree, 1 if some differ or cannot be read, 2 for wrong usage or I/O.
            """)

    @OptionGroup var options: OperatorOptions

    @Flag(name: .long, help: "Print one JSON object a line: each difference, and the summary.")
    var json = false

    @Argument(help: "A file of NDJSON; '-' is standard input.")
    var file: String

    func run() async throws {
        let (handle, _) = try InputFile.open(file)
        var isDifferent = false
        try await options.withLedger(.reading) { ledger, app in
            guard let settings = ledger.settings(of: app) else { throw InputError(app, "the ledger has no such app") }
            var comparison = BulkComparison(app: settings)
            var lines = BoundedLines()
            while true {
                let data: Data
                do {
                    data = try handle.read(upToCount: Self.chunk) ?? Data()
                } catch {
                    throw InputError(file, "cannot be read")
                }
                guard !data.isEmpty else { break }
                for line in lines.append(data) {
                    if let found = try await comparison.add(line, { try await ledger.answer($0) }) { try write(found) }
                }
            }
            if let last = lines.end(), let found = try await comparison.add(last, { try await ledger.answer($0) }) {
                try write(found)
            }
            try write(try await comparison.end { try await ledger.answer($0) })
            isDifferent = comparison.counts.differed + comparison.counts.invalid > 0
        }
        if isDifferent { throw ExitCode.rejected }
    }

    private static let chunk = 1 << 16

    private func write(_ lines: [UInt8]) throws {
        guard !json else { return Terminal.write(String(decoding: lines, as: UTF8.self)) }
        for line in lines.split(separator: UInt8(ascii: "\n")) { Terminal.write(try ComparisonText(line).text) }
    }
}
