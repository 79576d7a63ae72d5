import CryptoExtras
public import Foundation

extension SimulatorAuthority {
    /// An authority that is made once and kept in a folder: `root.der`, `root.pem`, `intermediate.der`, `leaf.der`,
    /// and the keys `root.key.pem`, `intermediate.key.pem`, `leaf.key.pem`, which only their owner may read.
    ///
    /// Where several processes start at once, one of them makes the authority and all of them use it.
    /// - Parameter folder: where it is, or will be. It may be missing or empty, but no mount point: it is put in
    ///   place as a whole, by renaming another.
    /// - Throws: `SimulatorError` when the folder cannot be read or written, or holds something else.
    public init(folder: URL) throws {
        let store = IdentityFolder(folder)
        if !store.isInhabited {
            let made = try SimulatorAuthority()
            try store.publish([("root", made.root), ("intermediate", made.intermediate), ("leaf", made.leaf)])
        }
        // Read back in any case: where two made one at once, only what lies in the folder counts.
        self.init(
            root: try store.identity("root"),
            intermediate: try store.identity("intermediate"),
            leaf: try store.identity("leaf")
        )
    }
}

/// A folder of certificates and keys that appears whole or not at all.
struct IdentityFolder {
    private let folder: URL
    private let files = FileManager.default

    init(_ folder: URL) {
        self.folder = folder.standardizedFileURL
    }

    /// Whether anything lies in the folder already.
    var isInhabited: Bool {
        let entries = try? files.contentsOfDirectory(atPath: folder.path)
        return entries?.isEmpty == false
    }

    /// Writes the identities beside the folder, then moves them there in one step. Where another process was
    /// first, its folder stays and ours is dropped.
    /// - Parameter identities: with their names; the first is the trust anchor, which is written as PEM, too.
    func publish(_ identities: [(name: String, identity: SimulatorIdentity)]) throws {
        let draft = folder.deletingLastPathComponent()
            .appendingPathComponent(".\(folder.lastPathComponent).\(UUID().uuidString)")
        defer { try? files.removeItem(at: draft) }
        do {
            try files.createDirectory(at: draft.deletingLastPathComponent(), withIntermediateDirectories: true)
            // Nobody else may enter while files are being written, or a key could be seen before its mode is set.
            try files.createDirectory(
                at: draft, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700]
            )
            for (index, entry) in identities.enumerated() {
                try write(entry.identity.certificate, to: draft, "\(entry.name).der", mode: 0o644)
                if index == 0 {
                    try write(Array(entry.identity.pem.utf8), to: draft, "\(entry.name).pem", mode: 0o644)
                }
                let key = entry.identity.privateKey.pkcs8PEMRepresentation + "\n"
                try write(Array(key.utf8), to: draft, "\(entry.name).key.pem", mode: 0o600)
            }
            try files.setAttributes([.posixPermissions: 0o755], ofItemAtPath: draft.path)
        } catch {
            throw SimulatorError.unwritableFolder(folder.path, reason: "\(error)")
        }
        // rename(2) replaces an empty folder and refuses one with content: of two makers, one wins.
        if rename(draft.path, folder.path) != 0 {
            let reason = String(cString: strerror(errno))
            guard isInhabited else { throw SimulatorError.unwritableFolder(folder.path, reason: reason) }
        }
    }

    /// Reads one identity.
    /// - Throws: `SimulatorError` when a file is missing, or key and certificate do not belong together.
    func identity(_ name: String) throws -> SimulatorIdentity {
        let certificate = try read("\(name).der")
        let keyFile = "\(name).key.pem"
        let pem = String(decoding: try read(keyFile), as: UTF8.self)
        guard let key = try? _RSA.Signing.PrivateKey(pemRepresentation: pem) else {
            throw SimulatorError.unreadableFile(path(keyFile))
        }
        guard try CertificateFields(certificate).publicKeyInfo == [UInt8](key.publicKey.derRepresentation) else {
            throw SimulatorError.keyMismatch(keyFile)
        }
        return try SimulatorIdentity(certificate: certificate, privateKey: key)
    }

    private func read(_ name: String) throws -> [UInt8] {
        guard let data = files.contents(atPath: path(name)) else {
            throw SimulatorError.unreadableFile(path(name))
        }
        return [UInt8](data)
    }

    private func write(_ bytes: [UInt8], to draft: URL, _ name: String, mode: Int) throws {
        let path = draft.appendingPathComponent(name).path
        guard files.createFile(atPath: path, contents: Data(bytes), attributes: [.posixPermissions: mode]) else {
            throw SimulatorError.unwritableFolder(draft.path, reason: name)
        }
    }

    private func path(_ name: String) -> String {
        folder.appendingPathComponent(name).path
    }
}
