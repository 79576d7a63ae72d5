// The formats in which verdicts are written.

import Foundation
import PurchaseAPI
import PurchaseVerification
import TextFormats

/// The output formats of verdicts.
protocol VerdictFormat: Sendable {
    /// Writes one verdict, with its line ends, in UTF-8.
    func write(_ verdict: EvidenceVerdict, to output: inout [UInt8])
    /// The text at the end.
    func conclusion(_ summary: VerdictSummary, unchecked: [String]) -> String
}

/// One JSON object a line: `source`, `line` (of streams), `evidence`, `verdict`, `code`, `expected`, `found`,
/// `message`, `apple` (if Apple was asked), `content`.
struct JSONVerdictFormat: VerdictFormat {
    func write(_ verdict: EvidenceVerdict, to output: inout [UInt8]) {
        var json = JSONWriter(capacity: 4096)
        json.object { json in
            json.key("source")
            json.string(verdict.source)
            if let line = verdict.line {
                json.key("line")
                json.number(line)
            }
            json.key("evidence")
            json.optional(verdict.evidence?.rawValue)
            json.key("verdict")
            json.string(verdict.outcome.rawValue)
            let error = verdict.error
            let apple = verdict.outcome == .verified ? nil : verdict.apple
            json.key("code")
            json.optional(error?.code.rawValue ?? apple?.code)
            json.key("expected")
            json.optional(error?.expected ?? apple?.expected)
            json.key("found")
            json.optional(error?.found ?? apple?.found)
            json.key("message")
            json.optional(error?.message ?? apple?.message)
            if let apple = verdict.apple {
                json.key("apple")
                json.object { json in
                    json.key("verdict")
                    json.string(apple.verdict.rawValue)
                    json.key("environment")
                    json.string(apple.environment)
                    json.key("status")
                    if let status = apple.status { json.number(status) } else { json.null() }
                }
            }
            json.key("content")
            if let evidence = verdict.verified {
                EvidenceContent.write(evidence, to: &json)
            } else {
                json.null()
            }
        }
        output += VisibleText.inJSON(json.bytes)
        output.append(UInt8(ascii: "\n"))
    }

    func conclusion(_ summary: VerdictSummary, unchecked: [String]) -> String { "" }
}

/// A line for each verdict, the reason below it, and for a single receipt a table of its purchases.
struct TextVerdictFormat: VerdictFormat {
    let showsPurchases: Bool
    /// Whether the word of the verdict is green, red, or yellow for an undetermined one.
    var isColored = Terminal.isOutputColored

    func write(_ verdict: EvidenceVerdict, to output: inout [UInt8]) {
        let text = VisibleText.forPeople(text(verdict), keepsLines: true)
        guard isColored else {
            output += text.utf8
            return
        }
        let word = text.prefix { $0 != " " }
        output +=
            "\u{1B}[\(verdict.outcome == .verified ? "32" : verdict.outcome == .rejected ? "31" : "33")m\(word)\u{1B}[0m"
            .utf8
        output += text.dropFirst(word.count).utf8
    }

    private func text(_ verdict: EvidenceVerdict) -> String {
        switch verdict.result {
        case .success(.appReceipt(let receipt)): accepted(verdict, receipt)
        case .success(let evidence): Self.heading(verdict) + EvidenceContent.text(evidence)
        case .failure(let error): rejected(verdict, error)
        }
    }

    private func accepted(_ verdict: EvidenceVerdict, _ receipt: AppReceipt) -> String {
        let purchases = receipt.inAppPurchases
        let count = counted(purchases.count, "purchase")
        var text = Self.heading(verdict)
        text += "          \(receipt.bundleID.plain) \(receipt.applicationVersion.plain)"
        text += ", \(receipt.receiptType.plain), made \(receipt.creationDate?.description ?? "-"), \(count)\n"
        guard showsPurchases, !purchases.isEmpty else { return text }
        var table = TextTable(["transaction", "product", "quantity", "purchased", "expires", "cancelled"])
        for purchase in purchases {
            table.append([
                purchase.transactionID.printable, purchase.productID.printable,
                purchase.quantity.map(String.init) ?? "-", purchase.purchaseDate?.description ?? "-",
                purchase.expiresDate?.description ?? "-", purchase.cancellationDate?.description ?? "-",
            ])
        }
        return text + table.text(indent: 10)
    }

    /// The verdict, and Apple's answer.
    private static func heading(_ verdict: EvidenceVerdict) -> String {
        guard let apple = verdict.apple else { return "verified  \(verdict.place)\n" }
        let word =
            switch apple.verdict {
            case .verified: "verified"
            case .rejected: "REJECTED"
            case .undetermined: "UNDECIDED"
            }
        var text = word.padding(toLength: 10, withPad: " ", startingAt: 0) + "\(verdict.place)\n"
        text += "          \(apple.environment) of Apple: "
        text += apple.code.map { "\($0): \(apple.message)" } ?? apple.message
        text += "\n"
        if let expected = apple.expected { text += "          expected: \(expected.printable)\n" }
        if let found = apple.found { text += "          found:    \(found.printable)\n" }
        return text
    }

    private func rejected(_ verdict: EvidenceVerdict, _ error: VerificationError) -> String {
        var text = "REJECTED  \(verdict.place)\n          \(error.code.rawValue): \(error.code.sentence)\n"
        if let expected = error.expected { text += "          expected: \(expected.printable)\n" }
        if let found = error.found { text += "          found:    \(found.printable)\n" }
        if let advice = verdict.advice { text += "          of Xcode: \(advice)\n" }
        return text
    }

    func conclusion(_ summary: VerdictSummary, unchecked: [String]) -> String {
        guard summary.count > 0 else { return "" }
        var text = "\n\(summary.verified) verified, \(summary.rejected) rejected"
        if summary.undetermined > 0 { text += ", \(summary.undetermined) undetermined" }
        text += ".\n"
        if !unchecked.isEmpty, summary.verified > 0 {
            text += "Not checked: \(unchecked.joined(separator: ", ")).\n"
        }
        return text
    }
}

extension EvidenceVerdict {
    fileprivate var verified: VerifiedEvidence? {
        if case .success(let evidence) = result { evidence } else { nil }
    }

    fileprivate var error: VerificationError? {
        if case .failure(let error) = result { error } else { nil }
    }
}

extension JSONWriter {
    /// A string, or `null`.
    mutating func optional(_ text: String?) {
        if let text { string(text) } else { null() }
    }
}

extension Optional where Wrapped == String {
    /// The text, or a dash.
    var plain: String { self?.printable ?? "-" }
}
