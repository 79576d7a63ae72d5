/// An insertion of values: `INSERT INTO table (columns) VALUES (?1, ?2…)`, and its conflict clause.
final class PostgreSQLInsertion {
    let table: String
    let columns: [String]
    /// The text after the values, without parameters.
    let tail: String
    /// The positions of the columns of a conflict clause.
    let conflict: [Int]

    private var textsWithKey: [String: String] = [:]
    private var listTexts: [[Bool]: String] = [:]

    /// - Returns: `nil` for any other statement.
    init?(_ sql: String) {
        let start = "INSERT INTO "
        guard sql.hasPrefix(start), let open = sql.firstIndex(of: "("), let close = sql.firstIndex(of: ")"),
            open < close
        else { return nil }
        let columns = sql[sql.index(after: open)..<close].split(separator: ",").map(\.trimmingSpaces)
        let places = columns.indices.map { "?\($0 + 1)" }.joined(separator: ", ")
        let values = "VALUES (\(places))"
        let rest = sql[sql.index(after: close)...].trimmingSpaces
        guard rest.hasPrefix(values) else { return nil }
        let tail = rest.dropFirst(values.count).trimmingSpaces
        guard !tail.contains("?"), !tail.contains("RETURNING") else { return nil }
        var names: [String] = []
        if !tail.isEmpty {
            guard tail.hasPrefix("ON CONFLICT ("), let end = tail.firstIndex(of: ")") else { return nil }
            names = tail[..<end].dropFirst("ON CONFLICT (".count).split(separator: ",").map(\.trimmingSpaces)
        }
        let conflict = names.compactMap { columns.firstIndex(of: $0) }
        guard conflict.count == names.count else { return nil }
        table = sql[..<open].dropFirst(start.count).trimmingSpaces
        (self.columns, self.tail, self.conflict) = (columns, tail, conflict)
    }

    /// The insertion with a key that is already known.
    func withKey(_ key: String) -> String {
        if let known = textsWithKey[key] { return known }
        let places = (1...columns.count + 1).map { "?\($0)" }.joined(separator: ", ")
        let text = "INSERT INTO \(table) (\((columns + [key]).joined(separator: ", "))) VALUES (\(places))"
        textsWithKey[key] = text
        return text
    }

    /// The insertion of several rows; at least one.
    func statement(_ rows: [[LedgerValue]]) -> PostgreSQLStatement {
        var lists: [PostgreSQLStatement.Parameter] = []
        // The type of a list of nulls is not known, so the values are not passed as a list.
        var isList: [Bool] = []
        for place in columns.indices {
            let list = rows.map { $0[place] }
            isList.append(list.contains { $0 != .null })
            if isList[place] { lists.append(.list(list)) }
        }
        if let text = listTexts[isList] { return PostgreSQLStatement(text, lists) }
        var names: [String] = []
        var values: [String] = []
        for isList in isList {
            if isList { names.append("v\(names.count + 1)") }
            values.append(isList ? names[names.count - 1] : "NULL")
        }
        let places = lists.indices.map { "?\($0 + 1)" }.joined(separator: ", ")
        let text = """
            INSERT INTO \(table) (\(columns.joined(separator: ", "))) SELECT \(values.joined(separator: ", "))
            FROM unnest(\(places)) AS p (\(names.joined(separator: ", "))) \(tail)
            """
        listTexts[isList] = text
        return PostgreSQLStatement(text, lists)
    }
}

extension Substring {
    fileprivate var trimmingSpaces: String {
        String(drop(while: \.isWhitespace).reversed().drop(while: \.isWhitespace).reversed())
    }
}
