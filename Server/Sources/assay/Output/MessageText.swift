import Foundation

/// Messages for people and as lines of JSON.
enum MessageText {
    static func members(_ message: any Encodable) throws -> [String: Any] {
        try JSONSerialization.jsonObject(with: try JSONEncoder().encode(message)) as? [String: Any] ?? [:]
    }

    /// The members of a message in alphabetical order, as the HTTP API names them, one a line. Objects inside are
    /// indented.
    static func lines(_ message: any Encodable) throws -> String { lines(try members(message), indent: "") }

    private static func lines(_ members: [String: Any], indent: String) -> String {
        let width = members.keys.map(\.count).max() ?? 0
        return members.sorted { $0.key < $1.key }.map { name, value in
            if let object = value as? [String: Any] {
                return "\(indent)\(name)\n" + lines(object, indent: indent + "  ")
            }
            let padding = String(repeating: " ", count: width - name.count + 2)
            return "\(indent)\(name)\(padding)\(plain(value).printable)\n"
        }.joined()
    }

    /// - Parameter columns: headings, and the members that they show: `a.b` is a member of a member, `a|b` the first of
    ///   two that is there.
    static func table(_ columns: KeyValuePairs<String, String>, _ rows: [[String: Any]]) -> TextTable {
        var table = TextTable(columns.map(\.key))
        for row in rows { table.append(columns.map { cell(row, $0.value) }) }
        return table
    }

    static func cell(_ row: [String: Any], _ path: String) -> String {
        for path in path.split(separator: "|") {
            let value = path.split(separator: ".").reduce(row as Any?) { ($0 as? [String: Any])?[String($1)] }
            if let value { return plain(value).printable }
        }
        return "-"
    }

    /// The text of a value of JSON.
    static func plain(_ value: Any) -> String {
        if let list = value as? [Any] { return list.map { plain($0) }.joined(separator: ", ") }
        if let number = value as? NSNumber, String(cString: number.objCType) == "c" {
            return number.boolValue ? "true" : "false"
        }
        return "\(value)"
    }

    /// Prints a message as a line of JSON.
    static func write(_ message: any Encodable) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        Terminal.write(VisibleText.inJSON([UInt8](try encoder.encode(message))) + [UInt8(ascii: "\n")])
    }
}

extension Optional where Wrapped: CustomStringConvertible {
    /// The text of a cell of a table.
    var cell: String { map { "\($0)".printable } ?? "-" }
}

/// Columns of text, as wide as their widest cell. Text that is too long for people is cut.
struct TextTable {
    private var rows: [[String]]
    /// Nested signed data is long and unreadable. Without a limit, one long cell would widen every row.
    private static let cellLimit = 160
    /// No column is cut to fewer characters.
    private static let smallestWidth = 12

    init(_ header: [String]) {
        rows = [header]
    }

    mutating func append(_ row: [String]) {
        rows.append(row.map(Self.clipped))
    }

    /// Counted in scalars: a single character may be as long as the whole text, with all of its combining marks.
    private static func clipped(_ cell: String) -> String {
        let scalars = cell.unicodeScalars
        guard scalars.count > cellLimit else { return cell }
        return String(scalars.prefix(cellLimit * 3 / 4)) + "…"
    }

    /// The widths of columns. On a terminal, the widest ones but the first are cut until a row fits.
    private func widths(_ columns: [Int], indent: Int) -> [Int] {
        var widths = columns.map { column in rows.map { $0[column].count }.max() ?? 0 }
        guard let limit = Terminal.outputWidth else { return widths }
        var excess = indent + widths.reduce(0, +) + 2 * (widths.count - 1) - limit
        // The first column has the id, which people copy.
        while excess > 0, let widest = widths.dropFirst().max(), widest > Self.smallestWidth,
            let column = widths.dropFirst().firstIndex(of: widest)
        {
            widths[column] -= 1
            excess -= 1
        }
        return widths
    }

    /// The table without the columns that hold nothing but dashes.
    func text(indent: Int) -> String {
        let header = rows.first ?? []
        let used = header.indices.filter { column in rows.dropFirst().contains { $0[column] != "-" } }
        let widths = widths(used, indent: indent)
        return rows.map { row in
            var line = String(repeating: " ", count: indent)
            // Padding comes before the next cell, so that no line ends with it.
            var padding = 0
            for (column, width) in zip(used, widths) {
                let cell = row[column].count > width ? row[column].prefix(width - 1) + "…" : row[column]
                if !cell.isEmpty {
                    line += String(repeating: " ", count: padding) + cell
                    padding = 0
                }
                padding += width - cell.count + 2
            }
            return line + "\n"
        }.joined()
    }
}
