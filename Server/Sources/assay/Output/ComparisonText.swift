import Foundation
import PurchaseAPI
import TextFormats

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
