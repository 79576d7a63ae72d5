import PurchaseVerification

/// Brings the schema of a database up to date.
public enum LedgerMigrations {
    /// All migrations, in their order.
    public static let all: [LedgerMigration] = [SchemaVersion1.migration]

    /// The number of the newest migration.
    public static var current: Int64 { all.last?.number ?? 0 }

    /// Runs the missing migrations in one transaction.
    ///
    /// - Parameters:
    ///   - database: the database.
    ///   - now: the time that is recorded with each migration, in milliseconds since 1970.
    /// - Returns: the migrations that were run.
    /// - Throws: `schemaTooNew` if the database has migrations that this version does not know.
    @discardableResult
    public static func migrate(_ database: any LedgerDatabase, now: Int64) async throws -> [LedgerMigration] {
        let dialect = database.dialect
        let missing = try await database.write { connection in
            try connection.execute(
                dialect.definition(
                    """
                    CREATE TABLE IF NOT EXISTS schema_migrations (
                        number INTEGER PRIMARY KEY, title TEXT NOT NULL, applied_at INTEGER NOT NULL)
                    """), [])
            let applied = try SchemaNumber.current(connection) ?? 0
            guard applied <= current else {
                throw LedgerStorageError(
                    .schemaTooNew, "the database is at migration \(applied), this version knows \(current)")
            }
            let missing = all.filter { $0.number > applied }
            for migration in missing {
                try migration.run(connection, dialect)
                try connection.execute(
                    "INSERT INTO schema_migrations (number, title, applied_at) VALUES (?1, ?2, ?3)",
                    [.integer(migration.number), .text(migration.title), .integer(now)])
            }
            return missing
        }
        database.requireSchema(current)
        return missing
    }

    /// Checks, without writing, that the database has exactly this version's schema. From then on each transaction that writes
    /// checks it again.
    ///
    /// - Throws: `schemaTooNew` or `schemaTooOld`.
    public static func requireCurrent(_ database: any LedgerDatabase) async throws {
        do {
            try await database.read(.keys) { try SchemaNumber.require(current, $0) }
        } catch let error as LedgerStorageError where error.kind == .other {
            throw LedgerStorageError(.schemaTooOld, "the database has no schema of Assay")
        }
        database.requireSchema(current)
    }
}
