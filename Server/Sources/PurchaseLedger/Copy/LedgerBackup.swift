/// Copies a ledger of any engine to a new SQLite file while servers use it.
///
/// Everything is read in one transaction, so the file is one committed state. It has the schema that the migrations
/// create and is a complete ledger: a server can use it, and `LedgerCopy` can copy it to an empty database.
public struct LedgerBackup: Sendable {
    private static let pageRows = 2048

    /// The ledger to copy.
    let database: any LedgerDatabase
    /// The new file.
    let file: BackupFile

    /// A copy of a ledger to a new file.
    public init(of database: any LedgerDatabase, to path: String) {
        self.database = database
        file = BackupFile(path: path)
    }

    /// Copies the ledger, verifies the copy, and only then gives it its name: a file with that name is always complete.
    ///
    /// - Parameter progress: called after each page.
    /// - Returns: the number of rows of the copy.
    /// - Throws: `SQLiteBackup.Failure`, `LedgerStorageError`.
    public func write(progress: @escaping @Sendable (CopyProgress) -> Void = { _ in }) async throws -> Int64 {
        try await write(StoredTable.all(), reading: { _ in }, progress: progress) { _, _ in }
    }

    /// Copies some tables.
    ///
    /// - Parameters:
    ///   - tables: these tables.
    ///   - reading: reads something else of the same state.
    ///   - completing: adds to the verified copy before it gets its name.
    func write<Value: Sendable>(
        _ tables: [StoredTable], reading: @escaping @Sendable (any LedgerConnection) throws -> Value,
        progress: @escaping @Sendable (CopyProgress) -> Void = { _ in },
        completing: (Value, BackupFile) async throws -> Void
    ) async throws -> Int64 {
        try await LedgerMigrations.requireCurrent(database)
        try file.create()
        do {
            let (file, dialect) = (file, database.dialect)
            let tables = tables.map { TablePages(table: $0, limit: Self.pageRows) }
            let (state, value) = try await database.read(.lists) { source in
                for sql in dialect.unlimitedTime { try source.execute(sql, []) }
                return (try Self.copy(tables, source, dialect, to: file, progress), try reading(source))
            }
            try verify(state, tables)
            try await completing(value, file)
            try file.publish()
            return state.rows
        } catch {
            file.discard()
            throw error is SQLiteBackup.Failure ? error : LedgerStorageError(sqlite: error)
        }
    }

    /// The content that the copy must share with its source.
    private struct State: Sendable {
        var rows: Int64 = 0
        /// The sum of the rows' fingerprints.
        var sum: UInt128 = 0

        mutating func add(_ rows: [LedgerRow]) {
            self.rows += Int64(rows.count)
            for row in rows { sum &+= row.fingerprint }
        }
    }

    private static func copy(
        _ tables: [TablePages], _ source: any LedgerConnection, _ dialect: any LedgerDialect, to file: BackupFile,
        _ progress: (CopyProgress) -> Void
    ) throws -> State {
        var (progressed, state) = (CopyProgress(step: .copying, table: "", done: 0, doneBefore: 0, total: 0), State())
        let counts = try tables.map { try $0.count(source, withoutIndexes: dialect) }
        progressed.total = counts.reduce(0, +)
        try file.write { copy in
            try copy.execute("BEGIN", [])
            try LedgerMigrations.create(copy, SQLiteDialect())
            for row in try source.rows("SELECT number, title, applied_at FROM schema_migrations", []) {
                try copy.execute(
                    "INSERT INTO schema_migrations (number, title, applied_at) VALUES (?1, ?2, ?3)", row.values)
            }
            for pages in tables where pages.table.isSeeded {
                try copy.execute("DELETE FROM \(pages.table.name)", [])
            }
            for (pages, count) in zip(tables, counts) {
                progressed.table = pages.table.name
                let before = state.rows
                try pages.forEach(source) { rows in
                    try pages.insert(rows, most: 1, copy)
                    state.add(rows)
                    progressed.done = state.rows
                    progress(progressed)
                }
                guard state.rows - before == count else {
                    let found = "\(pages.table.name) has \(count) rows, and its primary key \(state.rows - before)"
                    throw BackupFile.differs("\(found); make its indexes again (REINDEX)")
                }
            }
            try copy.execute("COMMIT", [])
        }
        return state
    }

    /// Reads the whole copy.
    private func verify(_ state: State, _ tables: [TablePages]) throws {
        try file.check()
        var found = State()
        try file.write { copy in
            for pages in tables { try pages.forEach(copy) { found.add($0) } }
        }
        guard found.rows == state.rows else { throw BackupFile.differs("\(found.rows) rows instead of \(state.rows)") }
        guard found.sum == state.sum else { throw BackupFile.differs("it has other rows") }
    }
}
