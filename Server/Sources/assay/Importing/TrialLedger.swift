import Foundation
import PurchaseLedger
import PurchaseVerification

/// A copy of a ledger in a SQLite file of TMPDIR, on which a command can try its changes.
struct TrialLedger {
    let ledger: PurchaseLedger
    private let database: any LedgerDatabase
    private let folder: URL

    /// Copies the ledger of any engine.
    ///
    /// - Throws: `SQLiteBackup.Failure`, `LedgerStorageError`, `InputError`.
    init(of options: LedgerDatabaseOptions, anchors: [TrustAnchor]) async throws {
        folder = FileManager.default.temporaryDirectory.appending(path: "assay-trial-\(UUID().uuidString)")
        try FileManager.default.createDirectory(
            at: folder, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
        do {
            let file = folder.appending(path: "ledger.sqlite").path
            let place = try options.place()
            if LedgerDatabases.isPostgreSQL(place.url) {
                try await options.withDatabase(migrating: false) { source in
                    _ = try await LedgerBackup(of: source, to: file).write()
                }
            } else {
                _ = try SQLiteBackup(of: place.existingFile(), to: file).write()
            }
            let database = try SQLiteDatabase(path: file)
            do {
                // It is not needed after a crash.
                try await database.set("synchronous", to: "OFF")
                ledger = try await PurchaseLedger.openRecorded(
                    database: database, verifier: PurchaseVerifier(anchors: anchors)
                ) { Timestamp(Date()) }
            } catch {
                try await database.close()
                throw error
            }
            self.database = database
        } catch {
            Self.remove(folder)
            throw error
        }
    }

    /// Deletes the copy.
    func close() async throws {
        defer { Self.remove(folder) }
        try await database.close()
    }

    private static func remove(_ folder: URL) {
        // A temporary folder that stays behind is readable for its owner only.
        try? FileManager.default.removeItem(at: folder)
    }
}
