import Foundation
import GRDB

/// A new file that gets its name only when it is complete.
struct BackupFile {
    /// The final name.
    let path: String
    /// The temporary name.
    var partial: String { path + ".partial" }

    /// Creates the partial file, readable only by its owner.
    ///
    /// - Throws: `SQLiteBackup.Failure` (`backup_file_exists`, `backup_file_unusable`).
    func create() throws {
        try requireAbsent()
        let descriptor = open(partial, O_WRONLY | O_CREAT | O_EXCL, 0o600)
        guard descriptor >= 0 else {
            throw errno == EEXIST
                ? SQLiteBackup.Failure(
                    code: "backup_file_exists",
                    description: "\(partial) exists: another backup is running, or one was interrupted; then delete it")
                : Self.unusable(partial)
        }
        close(descriptor)
    }

    /// Checks that no file has the final name.
    ///
    /// - Throws: `SQLiteBackup.Failure` (`backup_file_exists`).
    func requireAbsent() throws {
        guard !Self.exists(path) else {
            throw SQLiteBackup.Failure(code: "backup_file_exists", description: "\(path) exists; name a new file")
        }
    }

    /// Flushes the file and gives it its name, unless that name exists by now.
    func publish() throws {
        try Self.flush(partial)
        guard link(partial, path) == 0 else {
            throw errno == EEXIST
                ? SQLiteBackup.Failure(code: "backup_file_exists", description: "\(path) exists; name a new file")
                : Self.unusable(path)
        }
        unlink(partial)
        try Self.flush(URL(fileURLWithPath: path).deletingLastPathComponent().path)
    }

    /// Removes an incomplete file.
    func discard() {
        for suffix in ["", "-journal", "-wal", "-shm"] {
            // A file with this name is never taken for a copy.
            try? FileManager.default.removeItem(atPath: partial + suffix)
        }
    }

    /// Reads every tree and row of the partial file.
    ///
    /// - Throws: `SQLiteBackup.Failure` (`backup_differs`).
    func check() throws {
        let copy = try DatabaseQueue(path: partial)
        let check = try copy.read { try String.fetchAll($0, sql: "PRAGMA quick_check(1)") }
        try copy.close()
        guard check == ["ok"] else { throw Self.differs(check.first ?? "it cannot be read") }
    }

    /// Calls the body with a connection that writes to the partial file, and opens its own transaction. A crash can
    /// damage the file, which does not have its final name yet.
    func write(_ body: (any LedgerConnection) throws -> Void) throws {
        var configuration = Configuration()
        // After an error the file is discarded, with its open transaction. Without a journal there is no way back.
        configuration.allowsUnsafeTransactions = true
        configuration.prepareDatabase { database in
            _ = try Row.fetchAll(database, sql: "PRAGMA journal_mode = OFF")
            _ = try Row.fetchAll(database, sql: "PRAGMA synchronous = OFF")
        }
        let copy = try DatabaseQueue(path: partial, configuration: configuration)
        try copy.writeWithoutTransaction { try body(SQLiteConnection(database: $0)) }
        try copy.close()
    }

    static func differs(_ reason: String) -> SQLiteBackup.Failure {
        SQLiteBackup.Failure(
            code: "backup_differs", description: "the copy differs from the database: \(reason); check the disk")
    }

    private static func flush(_ path: String) throws {
        let descriptor = open(path, O_RDONLY)
        defer { close(descriptor) }
        guard descriptor >= 0, fsync(descriptor) == 0 else { throw unusable(path) }
    }

    private static func unusable(_ path: String) -> SQLiteBackup.Failure {
        SQLiteBackup.Failure(
            code: "backup_file_unusable", description: "\(path): \(String(cString: strerror(errno)))")
    }

    private static func exists(_ path: String) -> Bool {
        var status = stat()
        return lstat(path, &status) == 0
    }
}
