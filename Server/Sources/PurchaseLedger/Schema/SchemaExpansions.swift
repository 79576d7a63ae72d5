import PurchaseVerification

/// The migrations that have added what they add, and have not ended: servers of the release before still write.
///
/// Their table is not `schema_migrations`, whose greatest number each server checks before it writes. It exists only
/// while there are some, so the schema of a database without any is that of its migrations.
struct SchemaExpansions {
    static let table = "schema_expansions"

    let connection: any LedgerConnection
    let dialect: any LedgerDialect

    /// The numbers, ascending.
    func numbers() throws(LedgerStorageError) -> [Int64] {
        guard try dialect.has(table: Self.table, connection) else { return [] }
        var numbers: [Int64] = []
        for row in try connection.rows("SELECT number FROM \(Self.table) ORDER BY number", []) {
            var reader = row.reader
            numbers.append(try reader.integer())
        }
        return numbers
    }

    /// Notes a migration.
    func add(_ migration: LedgerMigration, now: Int64) throws(LedgerStorageError) {
        if try !dialect.has(table: Self.table, connection) {
            try connection.execute(
                dialect.definition(
                    """
                    CREATE TABLE \(Self.table) (
                        number INTEGER PRIMARY KEY, title TEXT NOT NULL, applied_at INTEGER NOT NULL)
                    """), [])
        }
        try connection.execute(
            "INSERT INTO \(Self.table) (number, title, applied_at) VALUES (?1, ?2, ?3)",
            [.integer(migration.number), .text(migration.title), .integer(now)])
    }

    /// Removes the note of a migration that has ended, and the table with the last one.
    func end(_ number: Int64) throws(LedgerStorageError) {
        guard try dialect.has(table: Self.table, connection) else { return }
        try connection.execute("DELETE FROM \(Self.table) WHERE number = ?1", [.integer(number)])
        if try numbers().isEmpty { try connection.execute("DROP TABLE \(Self.table)", []) }
    }
}
