import Crypto

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
        try await LedgerMigrations.requireCurrent(database)
        try file.create()
        do {
            let (file, dialect) = (file, database.dialect)
            let state = try await database.read(.lists) { source in
                for sql in dialect.unlimitedTime { try source.execute(sql, []) }
                return try Self.copy(source, to: file, progress)
            }
            try verify(state)
            try file.publish()
            return state.rows
        } catch {
            file.discard()
            throw error is SQLiteBackup.Failure ? error : LedgerStorageError(sqlite: error)
        }
    }

    /// The content that the copy must share with its source.
    private struct State: Sendable {
        var rows: Int64
        var digest: [UInt8]
    }

    private static func copy(
        _ source: any LedgerConnection, to file: BackupFile, _ progress: (CopyProgress) -> Void
    ) throws -> State {
        let tables = try StoredTable.all().map { TablePages(table: $0, limit: pageRows) }
        var state = CopyProgress(step: .copying, table: "", done: 0, doneBefore: 0, total: 0)
        for pages in tables { state.total += try pages.count(source) }
        var digest = RowDigest()
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
            for pages in tables {
                state.table = pages.table.name
                try Self.read(pages, source) { rows in
                    try pages.insert(rows, most: 1, copy)
                    digest.add(rows)
                    state.done += Int64(rows.count)
                    progress(state)
                }
            }
            try copy.execute("COMMIT", [])
        }
        return State(rows: state.done, digest: digest.value)
    }

    private static func read(
        _ pages: TablePages, _ connection: any LedgerConnection, _ body: ([LedgerRow]) throws -> Void
    ) throws {
        var key: [LedgerValue]?
        while true {
            let rows = try pages.page(after: key, connection)
            guard let end = rows.last else { return }
            try body(rows)
            key = pages.key(of: end)
        }
    }

    /// Reads the whole copy.
    private func verify(_ state: State) throws {
        try file.check()
        var found = State(rows: 0, digest: [])
        var digest = RowDigest()
        try file.write { copy in
            for table in try StoredTable.all() {
                try Self.read(TablePages(table: table, limit: Self.pageRows), copy) { rows in
                    digest.add(rows)
                    found.rows += Int64(rows.count)
                }
            }
        }
        found.digest = digest.value
        guard found.rows == state.rows else { throw BackupFile.differs("\(found.rows) rows instead of \(state.rows)") }
        guard found.digest == state.digest else { throw BackupFile.differs("its rows have another SHA-256") }
    }
}

/// SHA-256 of rows in order, with the types and lengths of their values.
private struct RowDigest {
    private var hash = SHA256()

    var value: [UInt8] { Array(hash.finalize()) }

    mutating func add(_ rows: [LedgerRow]) {
        for row in rows {
            for value in row.values {
                switch value {
                case .null: add(0, [])
                case .integer(let number): add(1, withUnsafeBytes(of: number.bigEndian) { Array($0) })
                case .text(let text): add(2, Array(text.utf8))
                case .blob(let bytes): add(3, bytes)
                }
            }
        }
    }

    private mutating func add(_ type: UInt8, _ bytes: [UInt8]) {
        withUnsafeBytes(of: UInt64(bytes.count).bigEndian) { hash.update(data: Array($0) + [type]) }
        hash.update(data: bytes)
    }
}
