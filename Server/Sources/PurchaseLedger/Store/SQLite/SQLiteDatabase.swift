import Foundation
import GRDB
import Synchronization

/// The embedded engine: one SQLite file with a write-ahead log.
///
/// Commits are flushed before they are answered (`synchronous=FULL`) and shared by waiting writes. Reads run
/// concurrently.
public final class SQLiteDatabase: LedgerDatabase {
    /// The number of pages at which a commit checkpoints the WAL. With SQLite's default of 1,000 pages, hot pages are
    /// written back several times as often (measured: 8,700 purchases/s instead of 14,400).
    package static let checkpointPages = 12_000
    /// When the WAL is this many times its usual length, it is truncated as soon as no reader needs it.
    private static let walFactor = 4
    private static let writerCacheKiB = 64 << 10
    private static let listReaders = 4
    private static let keyReaders = 4
    private static let statementReaders = 2

    /// Holds the connection that writes, and those that read lists.
    private let pool: DatabasePool
    private let keyReaders: DatabasePool
    private let queue: WriteQueue
    private let openReads = OpenReads()
    private let statementReaders: [SQLiteStatementReader]
    private let nextReader = Atomic(0)

    /// Opens a database, and creates the file if it does not exist.
    ///
    /// - Parameters:
    ///   - path: the file. SQLite creates two more beside it, with the suffixes `-wal` and `-shm`.
    ///   - busySeconds: how long to wait for a lock of another process.
    ///   - maximumWaiting: the maximum number of waiting writes; further writes are refused with `overloaded`.
    /// - Throws: `LedgerStorageError`.
    public convenience init(path: String, busySeconds: Double = 5, maximumWaiting: Int = 8192) throws {
        try self.init(
            path: path, busySeconds: busySeconds, maximumWaiting: maximumWaiting, checkpointPages: Self.checkpointPages)
    }

    /// Opens a database with another checkpoint size.
    package init(path: String, busySeconds: Double = 5, maximumWaiting: Int = 8192, checkpointPages: Int) throws {
        var configuration = Configuration()
        configuration.busyMode = .timeout(busySeconds)
        configuration.maximumReaderCount = Self.listReaders
        configuration.label = "assay.ledger"
        // Otherwise each savepoint could open a temporary file.
        configuration.prepareDatabase { try $0.execute(sql: "PRAGMA temp_store = MEMORY") }
        var keyConfiguration = configuration
        keyConfiguration.readonly = true
        keyConfiguration.maximumReaderCount = Self.keyReaders
        keyConfiguration.label = "assay.ledger.keys"
        Self.createForOwnerOnly(path)
        do {
            pool = try DatabasePool(path: path, configuration: configuration)
            try pool.writeWithoutTransaction { try Self.prepareWriter($0, checkpointPages: checkpointPages) }
            keyReaders = try DatabasePool(path: path, configuration: keyConfiguration)
            keyConfiguration.label = "assay.ledger.statements"
            statementReaders = try (0..<Self.statementReaders).map { [keyConfiguration] number in
                try SQLiteStatementReader(
                    path: path, configuration: keyConfiguration, label: "assay.ledger.statements.\(number)")
            }
        } catch {
            throw LedgerStorageError(sqlite: error)
        }
        // A page of the WAL has a header of 24 bytes beside its 4,096.
        let bound = WALBound(
            path: path, bytes: Self.walFactor * checkpointPages * 4120, busySeconds: busySeconds)
        queue = WriteQueue(pool: pool, maximumWaiting: maximumWaiting, walBound: bound)
    }

    public var dialect: any LedgerDialect { SQLiteDialect() }

    public func read<Value: Sendable>(
        _ access: LedgerReadAccess, _ body: @escaping @Sendable (any LedgerConnection) throws -> Value
    ) async throws -> Value {
        try openReads.begin()
        defer { openReads.end() }
        do {
            return switch access {
            case .keys: try await keyReaders.read { try body(SQLiteConnection(database: $0)) }
            case .statement:
                try await statementReaders[nextReader.wrappingAdd(1, ordering: .relaxed).oldValue & 1].read(body)
            case .lists, .confirmed: try await pool.read { try body(SQLiteConnection(database: $0)) }
            }
        } catch let error as DatabaseError {
            throw LedgerStorageError(sqlite: error)
        }
    }

    public func write<Value: Sendable>(
        plan: @escaping @Sendable () -> LedgerWritePlan,
        _ body: @escaping @Sendable (any LedgerConnection) throws -> Value
    ) async throws -> Value {
        try await queue.submit(body)
    }

    public func requireSchema(_ number: Int64) { queue.requireSchema(number) }

    public func close() async throws {
        await queue.close()
        // GRDB checkpoints a closed connection without a look at it, which ends the process.
        guard await openReads.close() else { return }
        do {
            try await pool.writeWithoutTransaction { [queue] database in
                queue.forgetStatements()
                // Checkpoint the WAL; otherwise a copy of the main file misses the latest commits.
                _ = try database.checkpoint(.truncate)
            }
        } catch {
            // Another process is reading, or the disk is full. The WAL stays beside the file, and SQLite reads it at
            // the next start.
        }
        do {
            for reader in statementReaders { try reader.close() }
            try keyReaders.close()
            try pool.close()
        } catch {
            throw LedgerStorageError(sqlite: error)
        }
    }

    /// Calls the body with a database in memory that exists only during the call.
    static func withTemporary<Value>(
        _ body: (any LedgerConnection, any LedgerDialect) throws -> Value
    ) throws(LedgerStorageError) -> Value {
        do {
            return try DatabaseQueue().inDatabase { try body(SQLiteConnection(database: $0), SQLiteDialect()) }
        } catch {
            throw LedgerStorageError(sqlite: error)
        }
    }

    /// Whether another process has a database open. A connection that requests an exclusive lock gets it only if there
    /// is no other connection.
    ///
    /// - Throws: `LedgerStorageError`.
    public static func isOpenElsewhere(_ path: String) throws -> Bool {
        var configuration = Configuration()
        configuration.busyMode = .immediateError
        do {
            let connection = try DatabaseQueue(path: path, configuration: configuration)
            defer {
                // A connection that cannot be closed now is closed when the process ends.
                try? connection.close()
            }
            try connection.writeWithoutTransaction { database in
                _ = try String.fetchOne(database, sql: "PRAGMA locking_mode = EXCLUSIVE")
                try database.execute(sql: "BEGIN EXCLUSIVE")
                _ = try Row.fetchOne(database, sql: "SELECT 1 FROM sqlite_master")
                try database.execute(sql: "ROLLBACK")
            }
            return false
        } catch {
            let error = LedgerStorageError(sqlite: error)
            guard error.kind == .busy else { throw error }
            return true
        }
    }

    /// The number of transactions committed since the database was opened, and of the writes in them.
    public var commits: (transactions: Int, writes: Int) { (writerFigures.transactions, writerFigures.writes) }

    /// Counters of the connection that writes, since the database was opened.
    public var writerFigures: WriterFigures { queue.figures }

    public var load: DatabaseLoad { queue.load }

    /// A setting of the connection that writes.
    package func setting(_ name: String) async throws -> String? {
        try await pool.writeWithoutTransaction { try String.fetchOne($0, sql: "PRAGMA \(name)") }
    }

    /// Changes a setting of the connection that writes.
    package func set(_ name: String, to value: String) async throws {
        try await pool.writeWithoutTransaction { _ = try Row.fetchAll($0, sql: "PRAGMA \(name) = \(value)") }
    }

    /// Rewrites the file without free pages.
    package func vacuum() async throws {
        try await pool.writeWithoutTransaction { try $0.execute(sql: "VACUUM") }
    }

    /// The ledger records who bought what, so only the owner may read a new file. SQLite gives its companion files the
    /// same mode. If creation fails, opening reports why.
    private static func createForOwnerOnly(_ path: String) {
        guard !FileManager.default.fileExists(atPath: path) else { return }
        _ = FileManager.default.createFile(atPath: path, contents: nil, attributes: [.posixPermissions: 0o600])
    }

    /// GRDB's pool sets `synchronous = NORMAL` on its writer after `prepareDatabase`, which can lose a commit when the
    /// machine loses power. So the setting is made here, and read back from the connection that writes.
    private static func prepareWriter(_ database: Database, checkpointPages: Int) throws {
        try database.execute(sql: "PRAGMA synchronous = FULL")
        // For erasures, deleted content is overwritten with zeros. Other operations delete almost nothing.
        _ = try Row.fetchAll(database, sql: "PRAGMA secure_delete = ON")
        _ = try Row.fetchAll(database, sql: "PRAGMA wal_autocheckpoint = \(checkpointPages)")
        // In KiB. SQLite's default of 2 MB cannot hold the inner pages of the indexes of a few million purchases.
        try database.execute(sql: "PRAGMA cache_size = -\(writerCacheKiB)")
        let synchronous = try Int.fetchOne(database, sql: "PRAGMA synchronous")
        guard synchronous == 2 else {
            throw LedgerStorageError(
                .unavailable, "synchronous is \(synchronous.map(String.init) ?? "unknown"), and must be 2 (FULL)")
        }
    }
}
