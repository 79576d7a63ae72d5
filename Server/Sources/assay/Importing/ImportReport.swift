import PurchaseLedger
import PurchaseVerification
import TextFormats

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
