import PurchaseVerification

/// A table: the only place with the names of its columns. Statements are built from the list once.
struct Table: Sendable {
    let name: String
    /// The column that the database numbers, if there is one.
    let key: String?
    /// The key, if there is one, and all other columns.
    let columns: String
    /// Inserts a row without its key.
    let insertion: LedgerInsertion

    init(_ name: String, key: String?, columns: [String]) {
        self.name = name
        self.key = key
        self.columns = ((key.map { [$0] } ?? []) + columns).joined(separator: ", ")
        insertion = LedgerInsertion(name, columns)
    }

    /// The table and its key, in the form that `LedgerWritePlan` uses.
    var numbering: String { key.map { "\(name).\($0)" } ?? name }

    /// A query of whole rows.
    func select(_ condition: String) -> String { "SELECT \(columns) FROM \(name) \(condition)" }

    /// Inserts a row.
    ///
    /// - Returns: its key.
    func insert(_ values: [LedgerValue], _ connection: any LedgerConnection) throws(LedgerStorageError) -> Int64 {
        guard let key else { throw LedgerStorageError(.other, "\(name) does not number its rows") }
        guard let number = try connection.insert(insertion, key: key, values) else {
            throw LedgerStorageError(.constraint, "no row was inserted into \(name)")
        }
        return number
    }
}

/// A row of a table, read in the order of the table's columns.
protocol TableRow: ListedRow {
    static var table: Table { get }
}

extension TableRow {
    static var selection: String { "SELECT \(table.columns) FROM \(table.name)" }
    static var scope: ReadScope? { [table.name] }

    /// The rows that a condition selects.
    static func all(
        _ condition: String, _ parameters: [LedgerValue], _ connection: any LedgerConnection
    ) throws(LedgerStorageError) -> [Self] {
        try query(table.select(condition), of: [table.name], parameters, connection)
    }

    /// The first row that a condition selects.
    static func first(
        _ condition: String, _ parameters: [LedgerValue], _ connection: any LedgerConnection
    ) throws(LedgerStorageError) -> Self? {
        guard let row = try connection.rows(table.select(condition), parameters, of: [table.name]).first else {
            return nil
        }
        var reader = row.reader
        return try Self(&reader)
    }

    /// The first row of a query that selects the table's columns first.
    static func first(
        _ shape: ReadShape, _ parameters: [LedgerValue], _ connection: any LedgerConnection
    ) throws(LedgerStorageError) -> Self? {
        guard let row = try connection.rows(shape, parameters).first else { return nil }
        var reader = row.reader
        return try Self(&reader)
    }

    /// The rows of a query that selects the table's columns first.
    static func query(
        _ shape: ReadShape, _ parameters: [LedgerValue], _ connection: any LedgerConnection
    ) throws(LedgerStorageError) -> [Self] {
        try query(shape.sql, of: shape.scope, parameters, connection)
    }

    /// The rows of a query that selects the table's columns first.
    ///
    /// - Parameter scope: the rows whose changes by the same write matter; `nil` for all.
    static func query(
        _ sql: String, of scope: ReadScope? = nil, _ parameters: [LedgerValue], _ connection: any LedgerConnection
    ) throws(LedgerStorageError) -> [Self] {
        var rows: [Self] = []
        for row in try connection.rows(sql, parameters, of: scope) {
            var reader = row.reader
            rows.append(try Self(&reader))
        }
        return rows
    }
}
