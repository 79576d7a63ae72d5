/// A query's columns in which each reference is replaced by what identifies the row that it refers to.
struct TableIdentities {
    /// A column of the result.
    struct Column: Sendable, Equatable {
        /// The path to it, such as `original_key.environment.name`.
        let name: String
        let expression: String
    }

    private(set) var columns: [Column] = []
    /// The table with the tables that it refers to. Joins are `LEFT`, so that a row with a wrong reference is read,
    /// too.
    private(set) var source: String

    init(_ table: String) { source = table }

    /// The name of the row that a column of a table refers to, in the source.
    private static func alias(_ table: String, _ column: String) -> String { "\(table)_\(column)" }

    /// Adds a column of a table, or of a row that was joined.
    mutating func add(_ column: String, of row: String, path: String? = nil) {
        let path = path.map { "\($0).\(column)" } ?? column
        if column == TableReferences.ground {
            addGround(of: row, path)
        } else if let target = TableReferences.target(namedBy: column) {
            let alias = join(target, column, of: row)
            for part in target.identity { add(part, of: alias, path: path) }
        } else {
            columns.append(Column(name: path, expression: "\(row).\(column)"))
        }
    }

    /// Adds an expression.
    mutating func add(_ expression: String, named name: String) {
        columns.append(Column(name: name, expression: expression))
    }

    private mutating func addGround(of row: String, _ path: String) {
        for (table, value) in [("originals", "\(row).ground"), ("hand_grants", "-\(row).ground")] {
            guard let target = TableReferences.target(table) else { continue }
            let alias = Self.alias(row, "\(TableReferences.ground)_\(table)")
            join(target, as: alias, on: value)
            for part in target.identity { add(part, of: alias, path: path) }
        }
        let numbers = "\(EntitlementRow.wholeGround), \(EntitlementRow.passGround)"
        add("CASE WHEN \(row).ground IN (\(numbers)) THEN \(row).ground END", named: path)
    }

    /// Joins the row that a column refers to, without adding a column.
    mutating func join(_ column: String, of row: String) {
        if let target = TableReferences.target(namedBy: column) { join(target, column, of: row) }
    }

    @discardableResult
    private mutating func join(_ target: TableReferences.Target, _ column: String, of row: String) -> String {
        let alias = Self.alias(row, column)
        join(target, as: alias, on: "\(row).\(column)")
        return alias
    }

    private mutating func join(_ target: TableReferences.Target, as alias: String, on value: String) {
        source += " LEFT JOIN \(target.table) AS \(alias) ON \(alias).\(target.number) = \(value)"
    }
}
