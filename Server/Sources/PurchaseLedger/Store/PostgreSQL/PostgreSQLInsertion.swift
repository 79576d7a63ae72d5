/// An insertion of values: `INSERT INTO table (columns) VALUES (?1, ?2…)`, and what happens on a conflict.
final class PostgreSQLInsertion {
    let table: String
    let columns: [String]
    /// What follows the values, without parameters.
    let tail: String
    /// The columns of a conflict that has an answer, by their places.
    let conflict: [Int]

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

    /// The same with a key that is known already.
    func withKey(_ key: String) -> String {
        let places = (1...columns.count + 1).map { "?\($0)" }.joined(separator: ", ")
        return "INSERT INTO \(table) (\((columns + [key]).joined(separator: ", "))) VALUES (\(places))"
    }

    /// The same for several rows.
    ///
    /// - Parameters:
    ///   - rows: at least one.
    ///   - isCounted: whether the statement fails on the server if it leaves out a row.
    func statement(_ rows: [[LedgerValue]], isCounted: Bool) -> PostgreSQLStatement {
        var lists: [PostgreSQLStatement.Parameter] = []
        var names: [String] = []
        var columns: [String] = []
        for place in self.columns.indices {
            let list = rows.map { $0[place] }
            guard list.contains(where: { $0 != .null }) else {
                // Nothing tells the type of a list of nulls.
                columns.append("NULL")
                continue
            }
            lists.append(.list(list))
            names.append("v\(lists.count)")
            columns.append("v\(lists.count)")
        }
        let places = lists.indices.map { "?\($0 + 1)" }.joined(separator: ", ")
        let insertion = """
            INSERT INTO \(table) (\(self.columns.joined(separator: ", "))) SELECT \(columns.joined(separator: ", "))
            FROM unnest(\(places)) AS p (\(names.joined(separator: ", "))) \(tail)
            """
        guard isCounted else { return PostgreSQLStatement(insertion, lists) }
        return PostgreSQLStatement(
            Self.counted(insertion, rows: "?\(lists.count + 1)"), lists + [.value(.integer(Int64(rows.count)))])
    }

    /// A statement that fails on the server, by a division by zero, unless it changes a number of rows. So a later `COMMIT` of the
    /// same round trip is not executed.
    static func counted(_ statement: String, rows: String) -> String {
        """
        WITH changed AS (\(statement) RETURNING 1)
        SELECT 1 / (CASE WHEN count(*) = \(rows) THEN 1 ELSE 0 END) FROM changed
        """
    }
}

extension Substring {
    fileprivate var trimmingSpaces: String {
        String(drop(while: \.isWhitespace).reversed().drop(while: \.isWhitespace).reversed())
    }
}
