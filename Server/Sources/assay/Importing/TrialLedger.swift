import Foundation
import PurchaseLedger
import PurchaseVerification

/// A copy of a ledger on the same engine, on which a command can try its changes.
struct TrialLedger {
    let ledger: PurchaseLedger
    private let database: any LedgerDatabase
    /// The folder of a SQLite file.
    private let folder: URL?

    /// Copies the ledger: a SQLite file to TMPDIR, a database of PostgreSQL to temporary tables.
    ///
    /// - Throws: `SQLiteBackup.Failure`, `LedgerStorageError`, `InputError`.
    init(of options: LedgerDatabaseOptions, anchors: [TrustAnchor]) async throws {
        let place = try options.place()
        let url = try place.url()
        let database: any LedgerDatabase
        let folder: URL?
        if LedgerDatabases.isPostgreSQL(url) {
            try await options.withDatabase(migrating: false) { try await LedgerMigrations.requireCurrent($0) }
            database = try PostgreSQLTrialDatabase(of: url)
            folder = nil
        } else {
            (database, folder) = try await Self.copy(place.existingFile())
        }
        do {
            ledger = try await PurchaseLedger.openRecorded(
                database: database, verifier: PurchaseVerifier(anchors: anchors)
            ) { Timestamp(Date()) }
        } catch {
            try await Self.close(database, folder)
            throw error
        }
        (self.database, self.folder) = (database, folder)
    }

    /// Deletes the copy.
    func close() async throws { try await Self.close(database, folder) }

    private static func close(_ database: any LedgerDatabase, _ folder: URL?) async throws {
        defer { if let folder { remove(folder) } }
        try await database.close()
    }

    private static func copy(_ source: String) async throws -> (any LedgerDatabase, URL?) {
        let folder = FileManager.default.temporaryDirectory.appending(path: "assay-trial-\(UUID().uuidString)")
        try FileManager.default.createDirectory(
            at: folder, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
        do {
            let file = folder.appending(path: "ledger.sqlite").path
            _ = try SQLiteBackup(of: source, to: file).write()
            let database = try SQLiteDatabase(path: file)
            // It is not needed after a crash.
            try await database.set("synchronous", to: "OFF")
            return (database, folder)
        } catch {
            remove(folder)
            throw error
        }
    }

    private static func remove(_ folder: URL) {
        // A temporary folder that stays behind is readable for its owner only.
        try? FileManager.default.removeItem(at: folder)
    }
}
