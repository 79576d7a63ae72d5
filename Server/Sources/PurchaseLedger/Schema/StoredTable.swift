/// A table of the newest schema.
///
/// The migrations are the only definition of the tables: they are run in a database in memory, whose schema is then
/// read. So code that processes all tables needs no list of its own.
package struct StoredTable: Sendable, Equatable {
    package let name: String
    /// All columns, in order.
    package let columns: [String]
    /// The columns of the primary key, in order.
    package let key: [String]
    /// The columns with bytes, which can be long.
    package let byteColumns: [String]
    /// Whether the migrations insert rows.
    package let isSeeded: Bool

    /// All tables except that of the migrations, in the order in which the migrations create them.
    ///
    /// - Throws: `LedgerStorageError`.
    package static func all() throws(LedgerStorageError) -> [StoredTable] {
        try SQLiteDatabase.withTemporary { connection, dialect in
            try LedgerMigrations.create(connection, dialect)
            let names = try connection.rows(
                """
                SELECT name FROM sqlite_master WHERE type = 'table' AND substr(name, 1, 7) <> 'sqlite_'
                AND name <> 'schema_migrations' ORDER BY rowid
                """, [])
            return try names.map { row in
                var reader = row.reader
                return try StoredTable(try reader.text(), connection)
            }
        }
    }

    private init(_ name: String, _ connection: any LedgerConnection) throws(LedgerStorageError) {
        self.name = name
        var (columns, key, byteColumns): ([String], [(Int64, String)], [String]) = ([], [], [])
        for row in try connection.rows("SELECT name, type, pk FROM pragma_table_info(?1) ORDER BY cid", [.text(name)]) {
            var reader = row.reader
            let (column, type, place) = (try reader.text(), try reader.text(), try reader.integer())
            columns.append(column)
            if type == "BLOB" { byteColumns.append(column) }
            if place > 0 { key.append((place, column)) }
        }
        guard !key.isEmpty else { throw LedgerStorageError(.other, "the table \(name) has no primary key") }
        (self.columns, self.byteColumns) = (columns, byteColumns)
        self.key = key.sorted { $0.0 < $1.0 }.map(\.1)
        isSeeded = try !connection.rows("SELECT 1 FROM \(name) LIMIT 1", []).isEmpty
    }
}
