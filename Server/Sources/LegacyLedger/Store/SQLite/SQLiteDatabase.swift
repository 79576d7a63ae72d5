import Foundation
import GRDB

/// The embedded engine: SQLite in one file, with a write-ahead log.
///
/// A commit is on the disk before it is answered (`synchronous=FULL`), commits are shared by the writes that wait, and reads
/// go on beside them.
public final class SQLiteDatabase: LedgerDatabase {
    private let pool: DatabasePool
    private let queue: WriteQueue

    /// Opens a database, and makes the file where there is none.
    ///
    /// - Parameters:
    ///   - path: the file; SQLite keeps two more beside it, with `-wal` and `-shm` behind the name.
    ///   - busySeconds: how long to wait for a lock that another process holds.
    ///   - maximumWaiting: how many writes may wait; more are refused at once.
    /// - Throws: `LedgerStorageError`.
    public init(path: String, busySeconds: Double = 5, maximumWaiting: Int = 8192) throws {
        var configuration = Configuration()
        configuration.busyMode = .timeout(busySeconds)
        configuration.maximumReaderCount = 8
        configuration.label = "assay.ledger"
        // Else each savepoint opens a file of its own for what it may have to undo.
        configuration.prepareDatabase { try $0.execute(sql: "PRAGMA temp_store = MEMORY") }
        Self.makeForOwnerOnly(path)
        do {
            pool = try DatabasePool(path: path, configuration: configuration)
            // The pool sets NORMAL on its writer after it was prepared, with which a commit may be lost when the machine loses
            // power. So it is set here, and read back from the connection that writes.
            let synchronous = try pool.writeWithoutTransaction { database in
                try database.execute(sql: "PRAGMA synchronous = FULL")
                return try Int.fetchOne(database, sql: "PRAGMA synchronous")
            }
            guard synchronous == 2 else {
                throw LedgerStorageError(
                    .unavailable, "synchronous is \(synchronous.map(String.init) ?? "unknown"), and must be 2 (FULL)")
            }
        } catch {
            throw LedgerStorageError(sqlite: error)
        }
        queue = WriteQueue(pool: pool, maximumWaiting: maximumWaiting)
    }

    /// The books tell who bought what, so only their owner may read a new file; SQLite gives those beside it the same rights.
    /// Where this fails, opening tells why.
    private static func makeForOwnerOnly(_ path: String) {
        guard !FileManager.default.fileExists(atPath: path) else { return }
        _ = FileManager.default.createFile(atPath: path, contents: nil, attributes: [.posixPermissions: 0o600])
    }

    public var dialect: any LedgerDialect { SQLiteDialect() }

    public func read<Value: Sendable>(
        _ body: @escaping @Sendable (any LedgerConnection) throws -> Value
    ) async throws -> Value {
        do {
            return try await pool.read { try body(SQLiteConnection(database: $0)) }
        } catch let error as DatabaseError {
            throw LedgerStorageError(sqlite: error)
        }
    }

    public func write<Value: Sendable>(
        _ body: @escaping @Sendable (any LedgerConnection) throws -> Value
    ) async throws -> Value {
        try await queue.submit(body)
    }

    public func close() async throws {
        await queue.close()
        do {
            // Else what is in the log alone stays there, and whoever copies only the one file copies less than all.
            try await pool.writeWithoutTransaction { _ = try $0.checkpoint(.truncate) }
        } catch {
            // Somebody else reads, or the disk is full: the log stays beside the file, and SQLite reads it at the next start.
        }
        do {
            try pool.close()
        } catch {
            throw LedgerStorageError(sqlite: error)
        }
    }

    /// A setting of the connection that writes.
    package func setting(_ name: String) async throws -> String? {
        try await pool.writeWithoutTransaction { try String.fetchOne($0, sql: "PRAGMA \(name)") }
    }

    /// Changes a setting of the connection that writes.
    package func set(_ name: String, to value: String) async throws {
        try await pool.writeWithoutTransaction { _ = try Row.fetchAll($0, sql: "PRAGMA \(name) = \(value)") }
    }

    /// How many transactions were committed since the database was opened, and how many writes they held.
    public var commits: (transactions: Int, writes: Int) { queue.commits }
}

/// A connection of SQLite within a transaction.
struct SQLiteConnection: LedgerConnection {
    let database: Database

    @discardableResult
    func execute(_ sql: String, _ parameters: [LedgerValue]) throws(LedgerStorageError) -> Int {
        do {
            try database.cachedStatement(sql: sql).execute(arguments: Self.arguments(parameters))
            return database.changesCount
        } catch {
            throw LedgerStorageError(sqlite: error)
        }
    }

    func rows(_ sql: String, _ parameters: [LedgerValue]) throws(LedgerStorageError) -> [LedgerRow] {
        do {
            let statement = try database.cachedStatement(sql: sql)
            let cursor = try Row.fetchCursor(statement, arguments: Self.arguments(parameters))
            var rows: [LedgerRow] = []
            while let row = try cursor.next() {
                rows.append(LedgerRow(values: try (0..<row.count).map { try Self.value(row, $0) }))
            }
            return rows
        } catch {
            throw LedgerStorageError(sqlite: error)
        }
    }

    private static func arguments(_ parameters: [LedgerValue]) -> StatementArguments {
        StatementArguments(
            parameters.map { parameter -> (any DatabaseValueConvertible)? in
                switch parameter {
                case .null: nil
                case .integer(let number): number
                case .text(let text): text
                case .blob(let bytes): bytes.withUnsafeBytes { Data($0) }
                }
            })
    }

    private static func value(_ row: Row, _ index: Int) throws -> LedgerValue {
        let value: DatabaseValue = row[index]
        switch value.storage {
        case .null: return .null
        case .int64(let number): return .integer(number)
        case .string(let text):
            // The library reads up to the first zero byte. Whatever stands behind it must not hide from the audit.
            return try row.withUnsafeData(atIndex: index) { bytes in
                guard let bytes, bytes.count != text.utf8.count else { return .text(text) }
                return .text(String(decoding: bytes, as: UTF8.self))
            }
        case .blob(let data): return .blob([UInt8](data))
        // The ledger writes no fractions. Nothing that reads a column takes bytes for a number, so this is told where it is read.
        case .double(let number): return .blob(Array("\(number)".utf8))
        }
    }
}

/// How SQLite writes what is not portable.
struct SQLiteDialect: LedgerDialect {
    /// SQLite takes the portable types as they are.
    func definition(_ sql: String) -> String { sql }

    func appendOnly(table: String) -> [String] {
        ["UPDATE", "DELETE"].map { action in
            """
            CREATE TRIGGER \(table)_no_\(action.lowercased()) BEFORE \(action) ON \(table)
            BEGIN SELECT RAISE(ABORT, '\(table) is append-only'); END
            """
        }
    }

    /// `INSERT OR REPLACE` removes a row without a word to the trigger for removals.
    func appendOnlyInOrder(table: String, unique: String?) -> [String] {
        let isThere = unique.map { " OR EXISTS (SELECT 1 FROM \(table) WHERE \($0) = NEW.\($0))" } ?? ""
        return [
            """
            CREATE TRIGGER \(table)_in_order BEFORE INSERT ON \(table)
            WHEN NEW.sequence IS NOT (SELECT count + 1 FROM chain_heads WHERE name = '\(table)')\(isThere)
            BEGIN SELECT RAISE(ABORT, '\(table) is append-only'); END
            """
        ]
    }

    func writeOnce(table: String, key: String) -> [String] {
        [
            """
            CREATE TRIGGER \(table)_once BEFORE INSERT ON \(table)
            WHEN EXISTS (SELECT 1 FROM \(table) WHERE \(key) = NEW.\(key))
            BEGIN SELECT RAISE(IGNORE); END
            """
        ]
    }
}

extension LedgerStorageError {
    /// What SQLite's result code means to an operator (SQLite, "Result and Error Codes").
    init(sqlite error: any Error) {
        if let error = error as? LedgerStorageError {
            self = error
            return
        }
        guard let error = error as? DatabaseError else {
            self.init(.other, "\(error)")
            return
        }
        let kind: Kind =
            switch error.resultCode {
            case .SQLITE_CONSTRAINT: .constraint
            case .SQLITE_BUSY, .SQLITE_LOCKED, .SQLITE_PROTOCOL: .busy
            case .SQLITE_FULL: .full
            case .SQLITE_READONLY, .SQLITE_PERM: .readOnly
            case .SQLITE_CORRUPT, .SQLITE_NOTADB, .SQLITE_FORMAT: .corrupt
            case .SQLITE_CANTOPEN, .SQLITE_IOERR, .SQLITE_AUTH, .SQLITE_NOMEM: .unavailable
            case .SQLITE_MISUSE where error.message?.contains("closed") == true: .closed
            default: .other
            }
        self.init(kind, "\(error.extendedResultCode.rawValue): \(error.message ?? "no message")")
    }
}
