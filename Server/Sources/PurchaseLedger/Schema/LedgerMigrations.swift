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
    public static var current: Int64 { LedgerRelease.this.newest }

    /// The oldest schema that this program can write: that of the release before.
    public static var oldest: Int64 { LedgerRelease.this.formerMigration }

    /// Runs the missing migrations in one transaction.
    ///
    /// Those up to the newest one of the release before end at once. The later ones of this release only add, so that
    /// servers of the release before go on writing; `PurchaseLedger.beginRelease()` ends them. In a new database, all
    /// end at once.
    ///
    /// - Parameters:
    ///   - database: the database.
    ///   - now: the time that is recorded with each migration, in milliseconds since 1970.
    ///   - newest: the last migration that is run; tests make databases of an earlier version with it.
    ///   - release: the release of this program.
    /// - Returns: the migrations that were run.
    /// - Throws: `schemaTooNew` if the database has migrations that this version does not know, `schemaUnknown` if its
    ///   migrations have other titles.
    @discardableResult
    public static func migrate(
        _ database: any LedgerDatabase, now: Int64, upTo newest: Int64? = nil, of release: LedgerRelease = .this
    ) async throws -> [LedgerMigration] {
        // Without missing migrations nothing is written, so the role of a server need not own the tables.
        guard try await !isCurrent(database, release) else { return [] }
        let dialect = database.dialect
        let newest = newest ?? release.newest
        let missing = try await database.write { connection in
            try createTable(connection, dialect)
            try requireKnown(connection, release)
            let applied = try SchemaNumber.current(connection) ?? 0
            if let refusal = CopyMark.refusal(of: applied) { throw refusal }
            guard applied <= release.newest else {
                throw LedgerStorageError(
                    .schemaTooNew, "the database is at migration \(applied), this version knows \(release.newest)")
            }
            let expansions = SchemaExpansions(connection: connection, dialect: dialect)
            let expanded = try expansions.numbers()
            let missing = release.migrations.filter { $0.number > applied && $0.number <= newest }
            for migration in missing {
                let isExpanded = expanded.contains(migration.number)
                if !isExpanded { try migration.expand(connection, dialect) }
                if applied == 0 || migration.number <= release.formerMigration {
                    try end(migration, now: now, connection, dialect)
                } else if !isExpanded {
                    try expansions.add(migration, now: now)
                }
            }
            if !missing.isEmpty {
                for sql in dialect.renumbering { try connection.execute(sql, []) }
            }
            return missing.filter { !expanded.contains($0.number) }
        }
        database.requireSchema(
            newest >= release.formerMigration ? release.range : SchemaRange(exactly: newest))
        return missing
    }

    /// Ends a migration whose additions are there: from now on, servers of the releases before refuse to write.
    static func end(
        _ migration: LedgerMigration, now: Int64, _ connection: any LedgerConnection, _ dialect: any LedgerDialect
    ) throws(LedgerStorageError) {
        try migration.contract(connection, dialect)
        try connection.execute(
            "INSERT INTO schema_migrations (number, title, applied_at) VALUES (?1, ?2, ?3)",
            [.integer(migration.number), .text(migration.title), .integer(now)])
        try SchemaExpansions(connection: connection, dialect: dialect).end(migration.number)
    }

    /// Whether a database has the schema of a release. If that cannot be read, the migration says why.
    private static func isCurrent(_ database: any LedgerDatabase, _ release: LedgerRelease) async throws -> Bool {
        do {
            try await requireCurrent(database, of: release)
            return true
        } catch is LedgerStorageError {
            return false
        }
    }

    /// Creates the newest schema without recording the migrations.
    ///
    /// - Parameter number: the newest migration that has ended; `nil` for all.
    static func create(
        _ connection: any LedgerConnection, _ dialect: any LedgerDialect, endedUpTo number: Int64? = nil
    ) throws(LedgerStorageError) {
        try createTable(connection, dialect)
        let expansions = SchemaExpansions(connection: connection, dialect: dialect)
        for migration in LedgerRelease.this.migrations {
            try migration.expand(connection, dialect)
            if migration.number <= number ?? .max {
                try migration.contract(connection, dialect)
            } else {
                try expansions.add(migration, now: 0)
            }
        }
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

    /// Checks, without writing, that the database has the schema of this version, or that of the release before and
    /// what this one adds. From then on, each transaction that writes checks it again.
    ///
    /// - Throws: `schemaTooNew`, `schemaTooOld`, `schemaUnknown` or `rulesTooNew`.
    public static func requireCurrent(_ database: any LedgerDatabase, of release: LedgerRelease = .this) async throws {
        let dialect = database.dialect
        do {
            try await database.read(.keys) { connection in
                try requireKnown(connection, release)
                // Alone, because a newer schema may lack what is read beside the number.
                if let number = try SchemaNumber.current(connection), number > release.newest,
                    CopyMark.refusal(of: number) == nil
                {
                    throw LedgerStorageError(
                        .schemaTooNew, "the database is at migration \(number), this version knows \(release.newest)")
                }
                let found = try SchemaNumber.require(release.range, connection).number
                guard found < release.newest else { return }
                let expanded = try SchemaExpansions(connection: connection, dialect: dialect).numbers()
                if let missing = release.migrations.first(where: { $0.number > found && !expanded.contains($0.number) })
                {
                    throw LedgerStorageError(
                        .schemaTooOld, "the database lacks what migration \(missing.number) adds")
                }
            }
        } catch let error as LedgerStorageError where error.kind == .other {
            throw LedgerStorageError(.schemaTooOld, "the database has no schema of Assay")
        }
        database.requireSchema(release.range)
    }

    /// Checks that the migrations of a database have the titles of this version.
    private static func requireKnown(
        _ connection: any LedgerConnection, _ release: LedgerRelease
    ) throws(LedgerStorageError) {
        for row in try connection.rows("SELECT number, title FROM schema_migrations ORDER BY number", []) {
            var reader = row.reader
            let (number, title) = (try reader.integer(), try reader.text())
            guard let migration = release.migrations.first(where: { $0.number == number }) else { continue }
            guard migration.title.isSame(as: title) else {
                throw LedgerStorageError(.schemaUnknown, "migration \(number) is '\(title)'")
            }
        }
    }
}
