import Foundation

/// A folder of certificates and keys that appears whole or not at all.
struct IdentityFolder {
    private let folder: URL
    private let files = FileManager.default

    /// The content to write into a folder.
    struct Content {
        /// Trust anchors by their names; they are also written as PEM.
        var anchors: [(name: String, identity: SigningIdentity)]
        /// All others.
        var identities: [(name: String, identity: SigningIdentity)]
        /// PEM texts that everybody may read, by the names of their files.
        var texts: [(name: String, text: String)] = []
        /// Folders within, by their names.
        var folders: [String: Content] = [:]
    }

    init(_ folder: URL) { self.folder = folder.standardizedFileURL }

    var isInhabited: Bool {
        // A missing folder has no content; a folder that cannot be read is reported when it is written or loaded.
        let entries = try? files.contentsOfDirectory(atPath: folder.path)
        return entries?.isEmpty == false
    }

    func subfolder(_ name: String) -> IdentityFolder {
        IdentityFolder(folder.appendingPathComponent(name, isDirectory: true))
    }

    /// Writes the content beside the folder, then renames it into place in one step. If another process was first, its
    /// folder stays and ours is discarded.
    func publish(_ content: Content) throws {
        let draft = folder.deletingLastPathComponent()
            .appendingPathComponent(".\(folder.lastPathComponent).\(UUID().uuidString)")
        // Already gone if it was renamed.
        defer { try? files.removeItem(at: draft) }
        do {
            try files.createDirectory(at: draft.deletingLastPathComponent(), withIntermediateDirectories: true)
            try write(content, to: draft)
        } catch {
            throw MintError.unwritableFolder(folder.path, reason: "\(error)")
        }
        // rename(2) replaces an empty folder and refuses one with content, so only one of two processes succeeds.
        if rename(draft.path, folder.path) != 0 {
            let reason = String(cString: strerror(errno))
            guard isInhabited else { throw MintError.unwritableFolder(folder.path, reason: reason) }
        }
    }

    /// Adds a text that everybody may read, in one step, unless it exists.
    func complete(_ name: String, _ text: String) throws {
        guard !files.fileExists(atPath: path(name)) else { return }
        do {
            try Data(text.utf8).write(to: folder.appendingPathComponent(name), options: .atomic)
        } catch {
            throw MintError.unwritableFolder(folder.path, reason: "\(error)")
        }
    }

    /// Reads one identity.
    /// - Throws: `MintError` when a file is missing, or key and certificate do not belong together.
    func identity(_ name: String) throws -> SigningIdentity {
        let certificate = try read("\(name).der")
        let keyFile = "\(name).key.pem"
        guard let key = SigningKey(pem: String(decoding: try read(keyFile), as: UTF8.self)) else {
            throw MintError.unreadableFile(path(keyFile))
        }
        guard try CertificateFields(certificate).publicKeyInfo == key.publicKeyInfo else {
            throw MintError.keyMismatch(keyFile)
        }
        return try SigningIdentity(certificate: certificate, privateKey: key)
    }

    private func write(_ content: Content, to draft: URL) throws {
        // The folder is closed to others while files are written; otherwise a key could be read before its mode is set.
        try files.createDirectory(at: draft, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
        for (name, identity) in content.anchors {
            try write(Array(identity.pem.utf8), to: draft, "\(name).pem", mode: 0o644)
        }
        for (name, identity) in content.anchors + content.identities {
            try write(identity.certificate, to: draft, "\(name).der", mode: 0o644)
            try write(Array((identity.privateKey.pem + "\n").utf8), to: draft, "\(name).key.pem", mode: 0o600)
        }
        for (name, text) in content.texts { try write(Array(text.utf8), to: draft, name, mode: 0o644) }
        for (name, content) in content.folders { try write(content, to: draft.appendingPathComponent(name)) }
        try files.setAttributes([.posixPermissions: 0o755], ofItemAtPath: draft.path)
    }

    private func read(_ name: String) throws -> [UInt8] {
        guard let data = files.contents(atPath: path(name)) else { throw MintError.unreadableFile(path(name)) }
        return [UInt8](data)
    }

    private func write(_ bytes: [UInt8], to draft: URL, _ name: String, mode: Int) throws {
        let path = draft.appendingPathComponent(name).path
        guard files.createFile(atPath: path, contents: Data(bytes), attributes: [.posixPermissions: mode]) else {
            throw MintError.unwritableFolder(draft.path, reason: name)
        }
    }

    private func path(_ name: String) -> String { folder.appendingPathComponent(name).path }
}
