import Foundation
import PurchaseVerification

extension EntryKey {
    /// Reads the key of a database's entries, before anything is written. The first command that writes creates the
    /// key.
    ///
    /// The database stores the id of its key. So a key of another database is not used with it, and a lost key is not
    /// replaced silently: earlier entries could never be authenticated again.
    ///
    /// - Parameters:
    ///   - path: the file of the key.
    ///   - database: a database with the current schema.
    /// - Returns: the key, and whether it was created.
    /// - Throws: `LogError` (`entryKeyMissing`, `entryKeyDiffers`, `fileMode`, `malformed`, `fileFailed`),
    ///   `LedgerStorageError`.
    public static func openOrCreate(
        at path: String, of database: any LedgerDatabase
    ) async throws -> (key: EntryKey, isNew: Bool) {
        try await LedgerMigrations.requireCurrent(database)
        let known = try await database.read(.keys) { try KeyState($0) }
        let (key, isNew) = try openOrCreate(at: path, known)
        if known.id == nil {
            let id = key.id
            try await database.write { try LogStateTable(connection: $0).setEntryKeyID(id) }
        }
        try key.require(try await database.read(.keys) { try KeyState($0) }.id, path)
        return (key, isNew)
    }

    /// The state of a database's key.
    private struct KeyState: Sendable {
        let id: String?
        let isEmpty: Bool

        init(_ connection: any LedgerConnection) throws(LedgerStorageError) {
            id = try LogStateTable(connection: connection).entryKeyID()
            isEmpty = try JournalTable(connection: connection).isEmpty()
        }
    }

    private static func openOrCreate(
        at path: String, _ known: KeyState
    ) throws(LogError) -> (key: EntryKey, isNew: Bool) {
        if known.id == nil, known.isEmpty, access(path, F_OK) != 0 {
            return (try openOrCreate(at: path), true)
        }
        do throws(LogError) {
            return (try EntryKey(file: path), false)
        } catch  where error.code == .fileMissing {
            throw missing(path, known.id)
        }
    }

    private func require(_ found: String?, _ path: String) throws(LogError) {
        guard let found, found.isSame(as: id) else {
            throw LogError(
                .entryKeyDiffers,
                """
                \(path) is key \(id), and the entries of the database are of key \(found ?? "none"); name the file of that \
                key with --entry-key or record.entry_key
                """)
        }
    }

    private static func missing(_ path: String, _ id: String?) -> LogError {
        LogError(
            .entryKeyMissing,
            """
            there is no \(path), and the database has entries of key \(id ?? "unknown"); name the file of that key with \
            --entry-key or record.entry_key, or restore it from a backup
            """)
    }
}
