import Foundation
import GRDB

/// Copies a whole SQLite database while it is in use.
///
/// SQLite's online backup makes the copy within one read transaction, so it is one committed state, and writers neither
/// restart it nor wait for it. In the meantime the WAL grows by all that is written. (`VACUUM INTO` is as consistent,
/// but it reads every index in key order, which takes many times as long for a database larger than memory.)
public struct SQLiteBackup: Sendable {
    /// The number of pages that are copied at once: 16 MiB.
    private static let pagesPerStep: CInt = 4096
    private static let pageBytes = 4096

    /// The database to copy.
    public var database: String
    /// The new file.
    public var file: String

    /// A copy of a database to a new file.
    public init(of database: String, to file: String) {
        self.database = database
        self.file = file
    }

    /// The progress of a copy.
    public struct Progress: Sendable, Equatable {
        /// Whether all pages are copied and are being verified.
        public var isVerifying: Bool
        public var copiedBytes: Int
        public var totalBytes: Int
    }

    /// The reason why there is no copy. An incomplete copy is deleted.
    public struct Failure: Error, Sendable, Equatable, CustomStringConvertible {
        /// `backup_file_exists`, `backup_file_unusable` or `backup_differs`.
        public let code: String
        public let description: String
    }

    /// Copies the database, verifies the copy, and only then gives it its name: a file with that name is always
    /// complete.
    ///
    /// - Returns: the size of the copy in bytes.
    /// - Throws: `Failure`, `LedgerStorageError`.
    public func write(progress: @escaping (Progress) -> Void = { _ in }) throws -> Int {
        let place = BackupFile(path: file)
        let partial = place.partial
        try place.create()
        do {
            let source = try copy(to: partial, progress: progress)
            progress(
                Progress(
                    isVerifying: true, copiedBytes: source.pages * Self.pageBytes,
                    totalBytes: source.pages * Self.pageBytes))
            try verify(place, against: source)
            try place.publish()
            return source.pages * source.pageBytes
        } catch {
            place.discard()
            throw error is Failure ? error : LedgerStorageError(sqlite: error)
        }
    }

    /// The content that the copy must share with its source.
    private struct Contents: Equatable {
        let pages: Int
        let pageBytes: Int
        let migration: Int64?
        let lastEntry: Int64?
        let logSize: Int64?
        let logRoot: Data?

        /// The first read begins the transaction.
        init(_ database: Database) throws {
            guard try database.tableExists("schema_migrations"), try database.tableExists("journal") else {
                throw LedgerStorageError(.schemaTooOld, "the database has no schema of Assay")
            }
            migration = try Int64.fetchOne(database, sql: "SELECT max(number) FROM schema_migrations")
            lastEntry = try Int64.fetchOne(database, sql: "SELECT max(entry_key) FROM journal")
            let log = try Row.fetchOne(database, sql: "SELECT size, root FROM log_state")
            (logSize, logRoot) = (log?["size"], log?["root"])
            pages = try Int.fetchOne(database, sql: "PRAGMA page_count") ?? 0
            pageBytes = try Int.fetchOne(database, sql: "PRAGMA page_size") ?? 0
        }
    }

    private func copy(to partial: String, progress: @escaping (Progress) -> Void) throws -> Contents {
        var configuration = Configuration()
        configuration.readonly = true
        configuration.busyMode = .timeout(5)
        let source = try DatabaseQueue(path: database, configuration: configuration)
        let copy = try DatabaseQueue(path: partial)
        let contents = try source.read { from in
            let contents = try Contents(from)
            try copy.writeWithoutTransaction { target in
                try from.backup(to: target, pagesPerStep: Self.pagesPerStep) { step in
                    progress(
                        Progress(
                            isVerifying: false, copiedBytes: step.completedPageCount * contents.pageBytes,
                            totalBytes: step.totalPageCount * contents.pageBytes))
                }
            }
            return contents
        }
        try copy.close()
        try source.close()
        return contents
    }

    /// Reads the whole copy: checks the structure of every tree and row, and that it has the copied state.
    private func verify(_ place: BackupFile, against source: Contents) throws {
        let copy = try DatabaseQueue(path: place.partial)
        let contents = try copy.read { try Contents($0) }
        try copy.close()
        guard contents == source else { throw BackupFile.differs("it has a different state") }
        try place.check()
    }
}
