import Foundation
import PurchaseLedger
import PurchaseVerification
import TextFormats

/// An import: rows are read one after the other, verified on every core, and recorded in their order.
struct ImportRun {
    /// Rows in one transaction of the database: a commit waits for the disk once for all of them.
    private static let batchRows = 64
    /// A batch ends early when its rows have this many bytes.
    private static let batchBytes = 1 << 20

    let ledger: PurchaseLedger
    let app: String
    let isAnnounced: Bool
    /// What became of consumables in the existing system.
    let consumables: ImportedConsumables?
    /// How many batches are verified at the same time.
    let jobs: Int
    /// Fetches rows that have only the number of a purchase; `nil` if there are none.
    let numbers: ImportedNumbers?
    /// Whether another process writes to the same SQLite file. If so, the import leaves half of the time to it.
    let isShared: Bool

    /// The result of an import.
    struct Outcome {
        var report = ImportReport()
        var seconds = 0.0
        /// Whether a signal ended it before the end of the input.
        var isInterrupted = false
        /// The reason why it ended before the end of the input: the input cannot be read, or the database fails.
        var error: (any Error)?
    }

    /// A row that was verified, or cannot be read.
    private struct Examined: Sendable {
        let place: String
        let row: Row
        /// Whether the App Store was asked.
        let isAsked: Bool
        /// What is said of a row that has the number of a restored copy.
        let remark: String?

        enum Row: Sendable {
            case examined(ExaminedImport)
            /// An earlier import fetched and recorded its number.
            case known
            case flaw(ImportFlaw)
            /// It cannot be fetched now.
            case failure(any Error)

            var isKnown: Bool { if case .known = self { true } else { false } }
        }
    }

    /// Imports all rows. Rejected ones are printed.
    func run(_ source: ImportReader) async -> Outcome {
        var (reader, outcome, bar) = (source, Outcome(), ImportBar())
        let start = ContinuousClock.now
        var pace = numbers.map { NumbersPace(count: $0.count, expected: $0.seconds) }
        let interruption = Interruption()
        await interruption.watch()
        let batchRows = numbers == nil ? Self.batchRows : ImportedNumbers.batchRows
        let atOnce = numbers == nil ? jobs : max(jobs, ServerAPIAccess.atOnce)
        do {
            try await ParallelBatches(jobs: atOnce).run {
                interruption.isRequested ? nil : Self.nextBatch(&reader, batchRows)
            } work: { (rows: [ImportRow]) -> [Examined] in
                var examined: [Examined] = []
                for row in rows { examined.append(await self.examined(row)) }
                return examined
            } output: { (rows: [Examined]) throws(LedgerFailure) in
                let lines = try await record(rows, in: &outcome.report)
                if !lines.isEmpty {
                    bar.clear()
                    Terminal.write(lines)
                }
                bar.show(done: outcome.report.count, share: reader.share)
                let said = pace?.note(
                    asked: rows.count { $0.isAsked }, known: rows.count { $0.row.isKnown },
                    after: (ContinuousClock.now - start) / .seconds(1))
                if let said {
                    bar.clear()
                    Terminal.remark(said)
                }
            }
        } catch {
            outcome.error = error.cause
        }
        bar.clear()
        outcome.seconds = (ContinuousClock.now - start) / .seconds(1)
        outcome.isInterrupted = interruption.isRequested
        outcome.error = outcome.error ?? reader.error
        return outcome
    }

    /// Verifies a row. The evidence of one that has only a number is fetched first.
    private func examined(_ row: ImportRow) async -> Examined {
        var (isAsked, remark) = (false, String?.none)
        func examined(_ result: Examined.Row) -> Examined {
            Examined(place: row.place, row: result, isAsked: isAsked, remark: remark)
        }
        do {
            var submission = try row.submission()
            if submission.evidence.isEmpty, let number = try row.number() {
                guard let numbers else {
                    throw ImportFlaw(
                        .fieldMissing, "the row has only a number, which can be fetched from a file but not from a pipe"
                    )
                }
                let answer = try await numbers.evidence(of: number, for: submission.customerID)
                if case .known = answer { return examined(.known) }
                isAsked = true
                switch answer {
                case .known: break
                case .flaw(let flaw): return examined(.flaw(flaw))
                case .evidence(let evidence, let original):
                    submission.evidence = evidence
                    remark = original.map { "\(number) is a restored copy, imported under its original \($0)" }
                }
            }
            return examined(.examined(ledger.examine(submission, app: app)))
        } catch let flaw as ImportFlaw {
            return examined(.flaw(flaw))
        } catch {
            return examined(.failure(error))
        }
    }

    private static func nextBatch(_ reader: inout ImportReader, _ batchRows: Int) -> [ImportRow]? {
        var batch: [ImportRow] = []
        var bytes = 0
        while batch.count < batchRows, bytes < batchBytes, let row = reader.next() {
            bytes += row.size
            batch.append(row)
        }
        return batch.isEmpty ? nil : batch
    }

    /// The reason why rows could not be recorded.
    private struct LedgerFailure: Error {
        let cause: any Error
    }

    /// Records rows in one transaction.
    ///
    /// - Returns: a line for each rejected row, and for each number of a copy.
    private func record(_ rows: [Examined], in report: inout ImportReport) async throws(LedgerFailure) -> String {
        var readable: [ExaminedImport] = []
        for case .examined(let row) in rows.map(\.row) { readable.append(row) }
        let start = ContinuousClock.now
        var outcomes: ArraySlice<ImportOutcome> = []
        do {
            if !readable.isEmpty {
                let operation = ImportPurchases(
                    app: app, isAnnounced: isAnnounced, consumables: consumables, readable)
                outcomes = try await ledger.perform(operation)[...]
            }
            if isShared { try await Task.sleep(for: ContinuousClock.now - start) }
        } catch {
            throw LedgerFailure(cause: error)
        }
        var lines = ""
        for row in rows {
            switch row.row {
            case .failure(let error): throw LedgerFailure(cause: error)
            case .known: report.addKnown()
            case .flaw(let flaw):
                report.add(flaw)
                lines += report.line(
                    row.place.printable, "rejected, \(flaw.code.rawValue): \(flaw.detail.printable)")
            case .examined:
                guard let outcome = outcomes.popFirst() else { continue }
                report.add(outcome)
                guard let rejection = outcome.rejection else {
                    if let remark = row.remark { lines += "\(row.place.printable): \(remark.printable)\n" }
                    continue
                }
                let product = outcome.product.flatMap { $0 == rejection.found ? nil : $0 }
                let facts = [
                    product, rejection.expected.map { "expected \($0)" }, rejection.found.map { "found \($0)" },
                ].compactMap(\.self).joined(separator: ", ")
                lines += report.line(
                    row.place.printable, "rejected, \(outcome.code)" + (facts.isEmpty ? "" : ": \(facts.printable)"))
            }
        }
        return lines
    }
}

/// The progress of an import: the share, the rate and the remaining time. On a terminal it is a bar; in a log, a line
/// every half minute.
struct ImportBar {
    private var bar = ProgressBar(unit: "rows")
    private let start = ContinuousClock.now
    private var shown = ContinuousClock.now
    private static let interval = Terminal.isErrorsTerminal ? Duration.milliseconds(200) : .seconds(30)

    /// - Parameters:
    ///   - done: the rows that were decided.
    ///   - share: the share of the input that was read; `nil` if its size is not known.
    mutating func show(done: Int, share: Double?) {
        let now = ContinuousClock.now
        guard now - shown >= Self.interval else { return }
        shown = now
        let note = Self.note(done, share: share, seconds: (now - start) / .seconds(1))
        guard Terminal.isErrorsTerminal else {
            Terminal.remark(counted(done, "row") + note.trimmingCharacters(in: .whitespaces))
            return
        }
        bar.show(done: done, share: share ?? 0, note: note)
    }

    mutating func clear() { bar.clear() }

    /// The rate and the remaining time.
    static func note(_ done: Int, share: Double?, seconds: Double) -> String {
        var note = ", \(Int(Double(done) / max(seconds, 0.001))) rows/s"
        if let share {
            note = ", \(Int(100 * share)) %" + note
            if share > 0 { note += ", \(ImportReport.duration(seconds * (1 - share) / share)) left" }
        }
        return note + "    "
    }
}

/// The results of an import's rows, by verdict and reason.
struct ImportReport: Sendable {
    private(set) var accepted = 0
    /// The rows that an earlier import had recorded.
    private(set) var known = 0
    /// Rejected rows by their code.
    private(set) var rejected: [String: Int] = [:]
    /// Rejected rows by what is printed of them, without their place.
    private var printed: [String: Int] = [:]
    /// How many rows with the same words are printed one by one.
    private static let printedRows = 10
    /// Purchases by their code.
    private(set) var purchases: [String: Int] = [:]

    var rejectedCount: Int { rejected.values.reduce(0, +) }
    var count: Int { accepted + rejectedCount }

    mutating func add(_ flaw: ImportFlaw) { rejected[flaw.code.rawValue, default: 0] += 1 }

    /// The line of a rejected row; empty after ten with the same words, which are counted.
    mutating func line(_ place: String, _ words: String) -> String {
        // Memory does not grow with the file.
        let count = printed[words] ?? (printed.count < 10_000 ? 0 : nil)
        if let count { printed[words] = count + 1 }
        switch count ?? 0 {
        case ..<Self.printedRows: return "\(place): \(words)\n"
        case Self.printedRows: return "\(place) and later: \(words); further rows with it are only counted\n"
        default: return ""
        }
    }

    /// Adds a row that an earlier import fetched and recorded.
    mutating func addKnown() {
        known += 1
        accepted += 1
    }

    mutating func add(_ outcome: ImportOutcome) {
        if outcome.isKnown { known += 1 }
        if outcome.rejection == nil { accepted += 1 } else { rejected[outcome.code, default: 0] += 1 }
        for code in outcome.purchases { purchases[code, default: 0] += 1 }
    }

    /// The table at the end.
    ///
    /// - Parameters:
    ///   - seconds: how long it took.
    ///   - isDry: whether nothing was written.
    func text(seconds: Double, isDry: Bool) -> String {
        let rate = Int(Double(count) / max(seconds, 0.001))
        var text = "assay: \(counted(count, "row")) in \(Self.duration(seconds)), \(rate) rows/s"
        text += isDry ? "; nothing was written\n" : "\n"
        var lines: [(String, Int, String)] = [("accepted", accepted, "")]
        for (code, number) in Self.ordered(rejected) {
            lines.append(("rejected, \(code)", number, Self.sentence(code)))
        }
        text += "\nRows\n" + Self.table(lines)
        if known > 0 { text += "  \(known) of them had been imported before, and changed nothing\n" }
        if !purchases.isEmpty {
            text += "\nPurchases\n" + Self.table(Self.ordered(purchases).map { ($0, $1, Self.sentence($0)) })
        }
        return text
    }

    /// The most frequent first.
    private static func ordered(_ counts: [String: Int]) -> [(String, Int)] {
        counts.sorted { ($1.value, $0.key) < ($0.value, $1.key) }.map { ($0.key, $0.value) }
    }

    private static func table(_ lines: [(String, Int, String)]) -> String {
        let width = lines.map(\.0.count).max() ?? 0
        let digits = lines.map { String($0.1).count }.max() ?? 0
        return lines.map { name, number, sentence in
            let number = String(number)
            let line =
                "  " + name + String(repeating: " ", count: width - name.count + 2)
                + String(repeating: " ", count: digits - number.count) + number
            return (sentence.isEmpty ? line : line + "  " + sentence) + "\n"
        }.joined()
    }

    private static func sentence(_ code: String) -> String {
        DecisionCode(rawValue: code)?.sentence ?? ReasonCode(rawValue: code)?.sentence ?? ""
    }

    static func duration(_ seconds: Double) -> String {
        seconds < 60
            ? "\(Int(seconds * 10) / 10).\(Int(seconds * 10) % 10) s"
            : "\(Int(seconds) / 60) min \(Int(seconds) % 60) s"
    }
}
