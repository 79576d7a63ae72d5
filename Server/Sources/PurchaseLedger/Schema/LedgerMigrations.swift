import PurchaseVerification

/// The tables of the ledger, by subject.
///
/// Times are milliseconds since 1970. Keys inside the database are integers; ids that leave it have 16 bytes, hashes 32
/// bytes.
enum LedgerTables {
    static let all =
        journal + refusedClaims + events + evidence + log + registry + customers + access + console + facts
        + entitlements
        + orders + seats + claims + work + notifications + refunds + extensions + external + offers + appReceipts
        + webhooks
}

/// A numbered step of the schema. Once it is released, it never changes and never calls today's code.
public struct LedgerMigration: Sendable {
    /// The number: 1, 2, 3…
    public let number: Int64
    /// What it adds.
    public let title: String
    let statements: [Statement]

    package init(number: Int64, title: String, statements: [Statement]) {
        (self.number, self.title, self.statements) = (number, title, statements)
    }

    package enum Statement: Sendable, ExpressibleByStringLiteral {
        /// A table or an index, in portable types.
        case definition(String)
        /// A table whose rows never change.
        case appendOnly(AppendOnlyRule)
        /// Portable SQL.
        case sql(String)

        package init(stringLiteral sql: String) { self = .definition(sql) }
    }

    func run(_ connection: any LedgerConnection, _ dialect: any LedgerDialect) throws(LedgerStorageError) {
        for statement in statements {
            switch statement {
            case .definition(let sql): try connection.execute(dialect.definition(sql), [])
            case .sql(let sql): try connection.execute(sql, [])
            case .appendOnly(let rule):
                for sql in dialect.appendOnly(rule) { try connection.execute(sql, []) }
            }
        }
    }
}

/// Creates the schema of a database, and brings it up to date.
public enum LedgerMigrations {
    /// All migrations, in order: the tables, and what later releases change in them.
    public static let all = [
        LedgerMigration(number: 1, title: "The tables of 30 November 2026", statements: LedgerTables.all)
    ]

    /// The number of the newest migration.
    public static var current: Int64 { newest(all) }

    private static func newest(_ migrations: [LedgerMigration]) -> Int64 { migrations.last?.number ?? 0 }

    /// Runs the missing migrations in one transaction.
    ///
    /// - Parameters:
    ///   - database: the database.
    ///   - now: the time that is recorded with each migration, in milliseconds since 1970.
    ///   - migrations: the migrations of the program.
    /// - Returns: the migrations that were run.
    /// - Throws: `schemaTooNew` if the database has migrations that this version does not know, `schemaUnknown` if its
    ///   migrations have other titles.
    @discardableResult
    public static func migrate(
        _ database: any LedgerDatabase, now: Int64, to migrations: [LedgerMigration] = all
    ) async throws -> [LedgerMigration] {
        // Without missing migrations nothing is written, so the role of a server need not own the tables.
        guard try await !isCurrent(database, migrations) else { return [] }
        let dialect = database.dialect
        let missing = try await database.write { connection in
            try createTable(connection, dialect)
            let applied = try requireKnown(connection, migrations)
            let missing = migrations.filter { $0.number > applied }
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
        database.requireSchema(newest(migrations))
        return missing
    }

    /// Whether a database has the newest schema. If that cannot be read, the migration says why.
    private static func isCurrent(
        _ database: any LedgerDatabase, _ migrations: [LedgerMigration]
    ) async throws -> Bool {
        do {
            try await requireCurrent(database, to: migrations)
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

    /// Checks, without writing, that the database has the schema of this version. From then on, each transaction that
    /// writes checks it again.
    ///
    /// - Throws: `schemaTooNew`, `schemaTooOld`, `schemaUnknown` or `rulesTooNew`.
    public static func requireCurrent(
        _ database: any LedgerDatabase, to migrations: [LedgerMigration] = all
    ) async throws {
        let newest = newest(migrations)
        do {
            try await database.read(.keys) { connection in
                let found = try requireKnown(connection, migrations)
                guard found == newest else {
                    throw LedgerStorageError(
                        .schemaTooOld, "the database is at migration \(found), this version needs \(newest)")
                }
                try SchemaNumber.require(newest, connection)
            }
        } catch let error as LedgerStorageError where error.kind == .other {
            throw LedgerStorageError(.schemaTooOld, "the database has no schema of Assay")
        }
        database.requireSchema(newest)
    }

    /// Checks that this version knows the migrations of a database, by their numbers and titles.
    ///
    /// - Returns: the number of the newest one; 0 if there is none.
    private static func requireKnown(
        _ connection: any LedgerConnection, _ migrations: [LedgerMigration]
    ) throws(LedgerStorageError) -> Int64 {
        var applied: Int64 = 0
        for row in try connection.rows("SELECT number, title FROM schema_migrations ORDER BY number", []) {
            var reader = row.reader
            let title: String
            (applied, title) = (try reader.integer(), try reader.text())
            guard let migration = migrations.first(where: { $0.number == applied }) else { continue }
            guard migration.title.isSame(as: title) else {
                throw LedgerStorageError(.schemaUnknown, "migration \(applied) is '\(title)'")
            }
        }
        if let refusal = CopyMark.refusal(of: applied) { throw refusal }
        guard applied <= newest(migrations) else {
            throw LedgerStorageError(
                .schemaTooNew, "the database is at migration \(applied), this version knows \(newest(migrations))")
        }
        return applied
    }
}
