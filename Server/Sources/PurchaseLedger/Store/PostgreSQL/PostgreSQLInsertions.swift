/// The insertions of a session. There are few kinds.
final class PostgreSQLInsertions {
    private var insertions: [String: PostgreSQLInsertion] = [:]
    private var numbered: [String: PostgreSQLInsertion] = [:]

    subscript(_ insertion: LedgerInsertion) -> PostgreSQLInsertion {
        if let known = insertions[insertion.sql] { return known }
        let new = PostgreSQLInsertion(insertion, key: nil)
        insertions[insertion.sql] = new
        return new
    }

    /// The insertion of rows with numbers that are known in advance.
    subscript(_ insertion: LedgerInsertion, key key: String) -> PostgreSQLInsertion {
        // A table numbers its rows in one column.
        if let known = numbered[insertion.sql] { return known }
        let new = PostgreSQLInsertion(insertion, key: key)
        numbered[insertion.sql] = new
        return new
    }
}

/// An insertion in the forms in which a session sends it. They are composed once.
final class PostgreSQLInsertion {
    let table: String
    /// Portable SQL for one row.
    let sql: String
    /// The positions of the columns of the conflict clause.
    let conflict: [Int]
    private let columns: [String]
    private let positions: [String: Int]
    private let tail: String
    private var listTexts: [[Bool]: String] = [:]

    /// - Parameter key: the column of a number that is known in advance; it is the last value.
    init(_ insertion: LedgerInsertion, key: String?) {
        let columns = insertion.columns + [key].compactMap(\.self)
        table = insertion.table
        self.columns = columns
        positions = Dictionary(columns.enumerated().map { ($1, $0) }, uniquingKeysWith: { first, _ in first })
        sql = LedgerInsertion(table, columns, onConflict: insertion.conflict, insertion.resolution).sql
        conflict = insertion.conflict.compactMap { columns.firstIndex(of: $0) }
        tail =
            insertion.conflict.isEmpty
            ? "" : "ON CONFLICT (\(insertion.conflict.joined(separator: ", "))) \(insertion.resolution)"
    }

    /// Whether a row can be among those that have some values in some columns, or replace one of them.
    func affects(_ row: [LedgerValue], _ values: [LedgerValue], in columns: [String]) -> Bool {
        for (column, value) in zip(columns, values) {
            guard let position = positions[column], conflict.isEmpty || conflict.contains(position) else { continue }
            if row[position] != value { return false }
        }
        return true
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
