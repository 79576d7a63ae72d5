import PurchaseVerification

/// One numbered step of the schema. Steps are only added; one that was released never changes.
public struct LedgerMigration: Sendable {
    /// 1, 2, 3…
    public let number: Int64
    /// What it is for.
    public let title: String
    /// Its statements, in portable SQL.
    let statements: [Statement]

    enum Statement: Sendable {
        case definition(String)
        case appendOnly(table: String)
        /// Rows of a chain come one behind the other.
        case appendOnlyInOrder(table: String, unique: String?)
        /// A key that is there keeps its row.
        case writeOnce(table: String, key: String)
        case sql(String, [LedgerValue])
        case body(@Sendable (any LedgerConnection, Timestamp) throws(LedgerStorageError) -> Void)
    }
}

/// Brings the schema up to date.
public enum LedgerMigrations {
    /// All steps, in their order.
    public static var all: [LedgerMigration] { [LedgerSchema.first, LedgerSchema.withdrawals] }

    /// Runs the steps that the database lacks.
    ///
    /// - Parameters:
    ///   - database: the database.
    ///   - now: the time that is noted beside each step.
    /// - Returns: the steps that were run.
    /// - Throws: `database_schema_too_new` if the database has steps that this version does not know.
    @discardableResult
    public static func migrate(_ database: any LedgerDatabase, now: Int64) async throws -> [LedgerMigration] {
        try await migrate(database, all, now: now)
    }

    static func migrate(
        _ database: any LedgerDatabase, _ migrations: [LedgerMigration], now: Int64
    ) async throws -> [LedgerMigration] {
        let dialect = database.dialect
        return try await database.write { connection in
            try connection.execute(
                dialect.definition(
                    """
                    CREATE TABLE IF NOT EXISTS schema_migrations (
                        number BIGINT PRIMARY KEY, title TEXT NOT NULL, applied_at BIGINT NOT NULL)
                    """), [])
            let applied = try Self.applied(connection)
            let known = migrations.last?.number ?? 0
            if let newest = applied.max(), newest > known {
                throw LedgerStorageError(
                    .schemaTooNew, "the database is at migration \(newest), this version knows \(known)")
            }
            let missing = migrations.filter { !applied.contains($0.number) }
            for migration in missing {
                for statement in migration.statements {
                    switch statement {
                    case .definition(let sql): try connection.execute(dialect.definition(sql), [])
                    case .sql(let sql, let parameters): try connection.execute(sql, parameters)
                    case .appendOnly(let table):
                        for sql in dialect.appendOnly(table: table) { try connection.execute(sql, []) }
                    case .appendOnlyInOrder(let table, let unique):
                        for sql in dialect.appendOnlyInOrder(table: table, unique: unique) {
                            try connection.execute(sql, [])
                        }
                    case .writeOnce(let table, let key):
                        for sql in dialect.writeOnce(table: table, key: key) { try connection.execute(sql, []) }
                    case .body(let body): try body(connection, Timestamp(millisecondsSince1970: now))
                    }
                }
                try connection.execute(
                    "INSERT INTO schema_migrations (number, title, applied_at) VALUES (?1, ?2, ?3)",
                    [.integer(migration.number), .text(migration.title), .integer(now)])
            }
            return missing
        }
    }

    /// Checks, without writing, that the database is at exactly this version's schema.
    public static func requireCurrent(_ database: any LedgerDatabase) async throws {
        let applied: Set<Int64>
        do {
            applied = try await database.read { try Self.applied($0) }
        } catch let error as LedgerStorageError where error.kind == .other {
            throw LedgerStorageError(.schemaTooOld, "the database has no schema of Assay")
        }
        let known = Set(all.map(\.number))
        guard applied.isSubset(of: known) else {
            throw LedgerStorageError(
                .schemaTooNew,
                "the database is at migration \(applied.max() ?? 0), this version knows \(known.max() ?? 0)")
        }
        guard applied == known else {
            throw LedgerStorageError(
                .schemaTooOld, "the database is at migration \(applied.max() ?? 0) of \(known.max() ?? 0)")
        }
    }

    private static func applied(_ connection: any LedgerConnection) throws(LedgerStorageError) -> Set<Int64> {
        var numbers: Set<Int64> = []
        for row in try connection.rows("SELECT number FROM schema_migrations", []) {
            var reader = RowReader(row)
            numbers.insert(try reader.integer())
        }
        return numbers
    }
}
