import Foundation
import PurchaseLedger
import PurchaseServer

/// The files of the record's keys. Their names do not depend on the database's name, so that a copied database does not include
/// its keys. Without a setting, they are in the folder of the settings file, or in the current folder.
struct RecordKeys {
    let entryKeyFile: String
    let signingKeyFile: String
    let origin: String?
    let checkpoints: [CheckpointPlace]

    init(_ settings: ServerConfiguration.Record, folder: String) {
        func file(_ name: String?, _ setting: ServerSetting) -> String {
            LedgerDatabaseOptions.absolute(name ?? "\(folder)/\(setting.defaultText)")
        }
        entryKeyFile = file(settings.entryKey, .entryKey)
        signingKeyFile = file(settings.signingKey, .signingKey)
        origin = settings.origin
        checkpoints = settings.checkpoints
    }

    /// The key of a database's entries. The first command that writes creates it and the signing key.
    func entryKey(of database: any LedgerDatabase) async throws -> EntryKey {
        let (key, isNew) = try await EntryKey.openOrCreate(at: entryKeyFile, of: database)
        if isNew { Terminal.remark("made the key of entries \(entryKeyFile); keep a copy apart from the database's") }
        try createSigningKeyIfMissing()
        return key
    }

    /// Creates the signing key of a server that has none. The origin in the settings must be that of an existing key.
    func createSigningKeyIfMissing() throws(LogError) {
        guard try CheckpointSigner.createKeyIfMissing(at: signingKeyFile, origin: origin) else {
            if let origin { try CheckpointSigner.requireOrigin(origin, ofKeyAt: signingKeyFile) }
            return
        }
        Terminal.remark(
            "made the signing key \(signingKeyFile); 'assay keys signing --for log' prints its public key")
    }

    /// The key of entries, for an audit; `nil` if there is none, which the audit reports.
    func entryKeyIfAny() throws(LogError) -> EntryKey? {
        do throws(LogError) {
            return try EntryKey(file: entryKeyFile)
        } catch  where error.code == .fileMissing {
            return nil
        }
    }

    /// The checkpoint that this server signed last, and its public key; `nil` if it has no signing key.
    func lastSigned() throws(LogError) -> (verifier: LogVerifierKey, checkpoint: SignedCheckpoint?)? {
        do throws(LogError) {
            return try CheckpointSigner.lastSigned(keyFile: signingKeyFile)
        } catch  where error.code == .fileMissing {
            return nil
        }
    }
}
