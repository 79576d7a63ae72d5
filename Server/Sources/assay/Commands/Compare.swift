import ArgumentParser
import Foundation
import PurchaseAPI
import PurchaseLedger
import PurchaseServer
import TextFormats

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

/// A line of a bulk comparison as text for people.
struct ComparisonText {
    let text: String

    init(_ line: some Collection<UInt8>) throws {
        let data = Data(line)
        let decoder = JSONDecoder()
        if let summary = Self.decoded(ComparisonSummary.self, data, decoder) {
            text = Self.text(summary.summary)
        } else if let problem = Self.decoded(ComparisonProblem.self, data, decoder) {
            let expected = problem.problem.expected.map { "; expected \($0)" } ?? ""
            text = "line \(problem.line): \(problem.problem.code): \(problem.problem.text)\(expected)".printable + "\n"
        } else {
            text = Self.text(try decoder.decode(ComparisonMessage.self, from: data))
        }
    }

    /// - Returns: `nil` for a line of another type.
    private static func decoded<Message: Decodable>(
        _ type: Message.Type, _ data: Data, _ decoder: JSONDecoder
    ) -> Message? {
        do {
            return try decoder.decode(type, from: data)
        } catch {
            return nil
        }
    }

    private static func text(_ message: ComparisonMessage) -> String {
        let subject = message.entitlement ?? message.productID ?? ""
        var lines = [
            "line \(message.line ?? 0): \(message.customerID), \(subject): \(message.code ?? "") (\(message.rule ?? ""))",
            "  theirs: \(access(message.theirs)); here: \(access(message.ours))",
        ]
        if let text = message.text { lines.append("  \(text)") }
        for purchase in message.evidence ?? [] {
            let entries = purchase.entryIDs.isEmpty ? "" : ", entries \(purchase.entryIDs.joined(separator: " "))"
            lines.append(
                "  transaction \(purchase.transactionID) of \(purchase.originalTransactionID), \(purchase.productID), \(purchase.environment)\(entries)"
            )
        }
        return lines.map { $0.printable + "\n" }.joined()
    }

    private static func access(_ access: ComparisonMessage.Access) -> String {
        let state = access.active ? "active" : access.reason ?? access.state ?? "not active"
        return state + (access.until.map { ", until \($0)" } ?? "")
    }

    private static func text(_ counts: ComparisonSummary.Counts) -> String {
        var text =
            "\(counted(counts.compared, "answer")) compared: \(counted(counts.agreed, "agrees", "agree")), "
            + "\(counted(counts.differed, "differs", "differ"))\n"
        if counts.invalid > 0 { text += "\(counted(counts.invalid, "line")) could not be read\n" }
        guard !counts.causes.isEmpty else { return text }
        var table = TextTable(["CAUSE", "ANSWERS"])
        for (cause, count) in counts.causes.sorted(by: { ($1.value, $0.key) < ($0.value, $1.key) }) {
            table.append([cause, "\(count)"])
        }
        return text + table.text(indent: 2)
    }
}
