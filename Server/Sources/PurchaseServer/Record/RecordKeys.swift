import Foundation
import Logging
package import PurchaseLedger

/// The files of the record's keys. Their names do not depend on the database's name, so that a copied database does not
/// include its keys. Without a setting, they are in the folder of the settings file, or in the current folder.
package struct RecordKeys {
    package let entryKeyFile: String
    package let signingKeyFile: String
    private let origin: String?
    private let remark: (String) -> Void

    /// - Parameter remark: called with a sentence about each key that is made.
    package init(_ settings: ServerConfiguration.Record, remark: @escaping (String) -> Void) {
        func file(_ name: String?, _ setting: ServerSetting.Setting) -> String {
            URL(fileURLWithPath: name ?? "\(settings.folder)/\(setting.defaultText)").standardizedFileURL.path
        }
        entryKeyFile = file(settings.entryKey, ServerSetting.entryKey)
        signingKeyFile = file(settings.signingKey, ServerSetting.signingKey)
        origin = settings.origin
        self.remark = remark
    }

    /// The key of a database's entries. The first command that writes creates it and the signing key.
    package func entryKey(of database: any LedgerDatabase) async throws -> EntryKey {
        try requireUsable()
        let (key, isNew) = try await EntryKey.openOrCreate(at: entryKeyFile, of: database)
        if isNew { remark("made the key of entries \(entryKeyFile); keep a copy apart from the database's") }
        try createSigningKeyIfMissing()
        return key
    }

    /// Checks that the key of entries can be read and that missing keys can be created, so that nothing is made before
    /// a wrong setting is found.
    ///
    /// - Throws: `LogError` that names the setting.
    package func requireUsable() throws(LogError) {
        try Self.naming(ServerSetting.entryKey) { () throws(LogError) in
            if FileManager.default.fileExists(atPath: entryKeyFile) {
                _ = try EntryKey(file: entryKeyFile)
            } else {
                try RecordFile.requireFolder(of: entryKeyFile)
            }
        }
        try Self.naming(ServerSetting.signingKey) { () throws(LogError) in
            if !FileManager.default.fileExists(atPath: signingKeyFile) {
                try RecordFile.requireFolder(of: signingKeyFile)
            }
        }
    }

    /// The errors of files that a setting names, with the name of the setting.
    private static func naming<Value>(
        _ setting: ServerSetting.Setting, _ body: () throws(LogError) -> Value
    ) throws(LogError) -> Value {
        do throws(LogError) {
            return try body()
        } catch  where [.fileMissing, .fileMode, .fileFailed, .malformed].contains(error.code) {
            throw LogError(error.code, "\(setting.name): \(error.detail)")
        }
    }

    /// Creates the signing key of a server that has none. The origin in the settings must be that of an existing key.
    package func createSigningKeyIfMissing() throws(LogError) {
        guard try CheckpointSigner.createKeyIfMissing(at: signingKeyFile, origin: origin) else {
            if let origin { try CheckpointSigner.requireOrigin(origin, ofKeyAt: signingKeyFile) }
            return
        }
        remark(
            "made the signing key \(signingKeyFile); 'assay keys signing --for log' prints its public key")
    }

    /// The signer of the log; `nil` if another server signs with the key.
    func signer(_ logger: Logger) throws(LogError) -> CheckpointSigner? {
        do throws(LogError) {
            return try Self.naming(ServerSetting.signingKey) { () throws(LogError) in
                try CheckpointSigner(keyFile: signingKeyFile)
            }
        } catch  where error.code == .signerBusy {
            logger.notice(
                "this server seals the record and does not sign it, because another process has the key",
                metadata: ["code": "\(error.code.rawValue)", "key": "\(signingKeyFile)"])
            return nil
        }
    }

    /// The key of entries, for an audit; `nil` if there is none, which the audit reports.
    package func entryKeyIfAny() throws(LogError) -> EntryKey? {
        do throws(LogError) {
            return try EntryKey(file: entryKeyFile)
        } catch  where error.code == .fileMissing {
            return nil
        }
    }

    /// The public key of this server; `nil` if it has no signing key.
    package func verifier() throws(LogError) -> LogVerifierKey? {
        do throws(LogError) {
            return try CheckpointSigner.verifier(keyFile: signingKeyFile)
        } catch  where error.code == .fileMissing {
            return nil
        }
    }

    /// The checkpoint that this server signed last, and its public key; `nil` if it has no signing key.
    ///
    /// - Throws: `headsMissing` if there is a signing key without the file of its heads.
    package func lastSigned() throws(LogError) -> (verifier: LogVerifierKey, checkpoint: SignedCheckpoint?)? {
        try Self.lastSigned(keyFile: signingKeyFile)
    }

    /// The checkpoint that was signed last with a key, and the public key; `nil` if there is no such file.
    static func lastSigned(
        keyFile: String
    ) throws(LogError) -> (verifier: LogVerifierKey, checkpoint: SignedCheckpoint?)? {
        do throws(LogError) {
            return try CheckpointSigner.lastSigned(keyFile: keyFile)
        } catch  where error.code == .fileMissing {
            return nil
        }
    }
}

/// A file of the record that a server creates: a key, or a checkpoint.
enum RecordFile {
    /// Checks that a file can be created or replaced.
    ///
    /// - Throws: `LogError` with the obstacle and the action to take.
    static func requireFolder(of path: String) throws(LogError) {
        let manager = FileManager.default
        let folder = URL(fileURLWithPath: path).standardizedFileURL.deletingLastPathComponent().path
        var isFolder: ObjCBool = false
        guard manager.fileExists(atPath: folder, isDirectory: &isFolder) else {
            throw LogError(
                .fileMissing,
                "'\(path)' cannot be created, because the folder '\(folder)' does not exist; create it, "
                    + "or name another file")
        }
        guard isFolder.boolValue else {
            throw LogError(
                .fileFailed, "'\(path)' cannot be created, because '\(folder)' is not a folder; name another file")
        }
        guard manager.isWritableFile(atPath: folder) else {
            throw LogError(
                .fileFailed,
                "'\(path)' cannot be created, because this user may not create files in '\(folder)'; "
                    + "change its owner or mode, or name another file")
        }
        guard !manager.fileExists(atPath: path, isDirectory: &isFolder) || !isFolder.boolValue else {
            throw LogError(.fileFailed, "'\(path)' is a folder; name a file in it")
        }
    }
}
