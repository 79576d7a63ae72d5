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
