import Mustache
import PurchaseAPI
import PurchaseLedger
import PurchaseVerification

/// A cell of a table: a text, perhaps a link, perhaps with a class of the style sheet, such as `state good`.
struct Cell: ExpressibleByStringInterpolation {
    var text: String
    var href: String?
    var style = ""

    init(stringLiteral text: String) { self.text = text }
    init(_ text: String?, href: String? = nil, style: String = "") {
        (self.text, self.href, self.style) = (text ?? "", href, style)
    }
    init(_ time: Timestamp?) { self.init(time.map { "\($0)" }) }

    /// A link to the page of something with an id.
    static func link(_ page: String, _ app: String, _ id: String?) -> Cell {
        Cell(id, href: id.map { Console.address(page, app: app, $0) }, style: page == "customer" ? "" : "id")
    }
}

/// A table of a page, without the columns that no row fills.
enum ConsoleTable {
    /// The value of the partial `table`; empty without rows, so that a section around it is left out.
    static func fields(_ label: String, _ columns: [String], _ rows: [[Cell]]) -> [[String: Any]] {
        guard !rows.isEmpty else { return [] }
        let used = columns.indices.filter { column in rows.contains { !$0[column].text.isEmpty } }
        let written = rows.map { row -> [String: Any] in
            [
                "cells": used.map { column -> [String: Any] in
                    let cell = row[column]
                    return [
                        "column": columns[column], "text": cell.text, "style": cell.style, "href": cell.href ?? "",
                        cell.text.isEmpty ? "isEmpty" : cell.href == nil ? "isText" : "isLink": true,
                    ]
                }
            ]
        }
        return [["label": label, "columns": used.map { columns[$0] }, "rows": written]]
    }
}

/// Texts for people: times as `4 Nov 2026, 17:59 UTC`, which has the exact time as a tooltip in a page.
struct ReadableTimes: MustacheContentType {
    private static let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]

    func escapeText(_ text: String) -> String {
        let escaped = [("&", "&amp;"), ("<", "&lt;"), (">", "&gt;"), ("\"", "&quot;"), ("'", "&#39;")]
            .reduce(text) { $0.replacing($1.0, with: $1.1) }
        return Self.replaced(escaped) { "<time datetime=\"\($0)\" title=\"\($0)\">\($1)</time>" }
    }

    /// The text without markup, for attributes and drawings.
    static func plain(_ text: String) -> String { replaced(text) { $1 } }

    /// The day of a time.
    static func day(_ time: Timestamp) -> String { String(plain("\(time)").prefix { $0 != "," }) }

    private static func replaced(_ text: String, _ written: (_ exact: Substring, _ words: String) -> String) -> String {
        let exact = /([0-9]{4})-([0-9]{2})-([0-9]{2})T([0-9]{2}:[0-9]{2}):[0-9]{2}(?:\.[0-9]{1,3})?Z/
        return text.replacing(exact) { match in
            guard let month = Int(match.2), months.indices.contains(month - 1), let day = Int(match.3) else {
                return String(match.0)
            }
            return written(match.0, "\(day) \(months[month - 1]) \(match.1), \(match.4) UTC")
        }
    }
}

extension PurchasePrice {
    /// Such as `9.99 USD`; `nil` without an amount.
    var words: String? {
        guard let milliunits else { return nil }
        let (whole, rest) = (milliunits.magnitude / 1000, milliunits.magnitude % 1000)
        let digits = rest % 10 == 0 ? "\(100 + rest / 10)" : "\(1000 + rest)"
        return "\(milliunits < 0 ? "-" : "")\(whole).\(digits.dropFirst())" + (currency.map { " \($0.string)" } ?? "")
    }
}

extension RecordedPurchase {
    var isFirst: Bool { transactionID == originalTransactionID }

    /// What became of it, in words.
    var state: Cell {
        if let withdrawal {
            let what =
                withdrawal.isFamilyRevoke ? "share ended" : withdrawal.cause == .revoked ? "refunded" : "cancelled"
            let units = withdrawal.units < quantity ? "\(withdrawal.units) of \(quantity) units " : ""
            return Cell("\(units)\(what) \(withdrawal.date)", style: "state bad")
        }
        guard upgradedAt == nil else { return Cell("upgraded", style: "state warn") }
        return Cell("kept", style: "state good")
    }
}

extension Entitlement {
    var stateStyle: String {
        state == .active ? "state good" : [.expired, .withdrawn].contains(state) ? "state bad" : "state warn"
    }
}

extension SubmissionMessage {
    var stateStyle: String {
        ["accepted": "state good", "rejected": "state bad"][verdict.rawValue] ?? "state warn"
    }
}
