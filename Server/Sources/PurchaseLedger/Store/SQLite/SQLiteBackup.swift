import Foundation
import GRDB

/// Copies a SQLite database whole while it is used.
///
/// The copy is made by SQLite's online backup within one read transaction, so it is one committed state, and no writer makes it
/// begin again or waits for it. Meanwhile the WAL grows by what is written. (`VACUUM INTO` is as consistent; it reads every index in
/// the order of its keys, which takes many times as long for a database that is larger than memory.)
public struct SQLiteBackup: Sendable {
    /// Pages that are copied at once: 16 MiB.
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
        /// Whether the pages are all copied, and are being verified.
        public var isVerifying: Bool
        public var copiedBytes: Int
        public var totalBytes: Int
    }

    /// Why there is no copy. An incomplete one is deleted.
    public struct Failure: Error, Sendable, Equatable, CustomStringConvertible {
        /// `backup_file_exists`, `backup_file_unusable` or `backup_differs`.
        public let code: String
        public let description: String
    }

    /// Copies the database, verifies the copy, and gives it its name: a file of that name is always complete.
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

    /// The content that a copy must have in common with its source.
    private struct Contents: Equatable {
        let pages: Int
        let pageBytes: Int
        let migration: Int64?
        let lastEntry: Int64?
        let logSize: Int64?
        let logRoot: Data?

        /// It reads first, so that the transaction begins here.
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

    /// Reads all of the copy: the structure of every tree and row, and that it is of the state that was copied.
    private func verify(_ place: BackupFile, against source: Contents) throws {
        let copy = try DatabaseQueue(path: place.partial)
        let contents = try copy.read { try Contents($0) }
        try copy.close()
        guard contents == source else { throw BackupFile.differs("it has another state") }
        try place.check()
    }
}
