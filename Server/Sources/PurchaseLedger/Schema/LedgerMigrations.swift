import PurchaseVerification

/// Brings the schema of a database up to date.
public enum LedgerMigrations {
    /// All migrations, in order.
    public static let all: [LedgerMigration] = [
        SchemaVersion1.migration, SchemaVersion2.migration, SchemaVersion3.migration, SchemaVersion4.migration,
        SchemaVersion5.migration, SchemaVersion6.migration, SchemaVersion7.migration, SchemaVersion8.migration,
        SchemaVersion9.migration, SchemaVersion10.migration,
    ]

    /// The number of the newest migration.
    public static var current: Int64 { all.last?.number ?? 0 }

    /// Runs the missing migrations in one transaction.
    ///
    /// - Parameters:
    ///   - database: the database.
    ///   - now: the time that is recorded with each migration, in milliseconds since 1970.
    ///   - newest: the last migration that is run; tests make databases of an earlier version with it.
    /// - Returns: the migrations that were run.
    /// - Throws: `schemaTooNew` if the database has migrations that this version does not know, `schemaUnknown` if its
    ///   migrations have other titles.
    @discardableResult
    public static func migrate(
        _ database: any LedgerDatabase, now: Int64, upTo newest: Int64 = current
    ) async throws -> [LedgerMigration] {
        // Without missing migrations nothing is written, so the role of a server need not own the tables.
        guard try await !isCurrent(database) else { return [] }
        let dialect = database.dialect
        let missing = try await database.write { connection in
            try createTable(connection, dialect)
            try requireKnown(connection)
            let applied = try SchemaNumber.current(connection) ?? 0
            if let refusal = CopyMark.refusal(of: applied) { throw refusal }
            guard applied <= current else {
                throw LedgerStorageError(
                    .schemaTooNew, "the database is at migration \(applied), this version knows \(current)")
            }
            let missing = all.filter { $0.number > applied && $0.number <= newest }
            for migration in missing {
                try migration.run(connection, dialect)
                try connection.execute(
                    "INSERT INTO schema_migrations (number, title, applied_at) VALUES (?1, ?2, ?3)",
                    [.integer(migration.number), .text(migration.title), .integer(now)])
            }
            if !missing.isEmpty {
                for sql in dialect.renumbering { try connection.execute(sql, []) }
            }
            return missing
        }
        database.requireSchema(newest)
        return missing
    }

    /// Whether a database has exactly this version's schema. If that cannot be read, the migration says why.
    private static func isCurrent(_ database: any LedgerDatabase) async throws -> Bool {
        do {
            try await requireCurrent(database)
            return true
        } catch is LedgerStorageError {
            return false
        }
    }

    /// Creates the newest schema without recording the migrations.
    static func create(
        _ connection: any LedgerConnection, _ dialect: any LedgerDialect
    ) throws(LedgerStorageError) {
        try createTable(connection, dialect)
        for migration in all { try migration.run(connection, dialect) }
    }

    /// The table of the migrations that were run.
    private static func createTable(
        _ connection: any LedgerConnection, _ dialect: any LedgerDialect
    ) throws(LedgerStorageError) {
        try connection.execute(
            dialect.definition(
                """
                CREATE TABLE IF NOT EXISTS schema_migrations (
                    number INTEGER PRIMARY KEY, title TEXT NOT NULL, applied_at INTEGER NOT NULL)
                """), [])
    }

    /// Checks, without writing, that the database has exactly this version's schema. From then on, each transaction
    /// that writes checks it again.
    ///
    /// - Throws: `schemaTooNew`, `schemaTooOld` or `schemaUnknown`.
    public static func requireCurrent(_ database: any LedgerDatabase) async throws {
        do {
            try await database.read(.keys) { connection in
                try requireKnown(connection)
                try SchemaNumber.require(current, connection)
            }
        } catch let error as LedgerStorageError where error.kind == .other {
            throw LedgerStorageError(.schemaTooOld, "the database has no schema of Assay")
        }
        database.requireSchema(current)
    }

    /// Checks that the migrations of a database have the titles of this version.
    private static func requireKnown(_ connection: any LedgerConnection) throws(LedgerStorageError) {
        for row in try connection.rows("SELECT number, title FROM schema_migrations ORDER BY number", []) {
            var reader = row.reader
            let (number, title) = (try reader.integer(), try reader.text())
            guard let migration = all.first(where: { $0.number == number }) else { continue }
            guard migration.title.isSame(as: title) else {
                throw LedgerStorageError(.schemaUnknown, "migration \(number) is '\(title)'")
            }
        }
    }
}
