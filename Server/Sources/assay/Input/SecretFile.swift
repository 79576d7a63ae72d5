import EvidenceMint
import Foundation
import PurchaseServer
import PurchaseVerification

/// A shared secret that an operator keeps in a file.
enum SecretFile {
    /// The text of a file, without white space around it.
    static func text(_ path: String) throws -> String {
        String(decoding: try InputFile.read(path), as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
    }

    /// The secret, without white space around it.
    static func secret(_ path: String) throws -> String {
        let secret = try text(path)
        guard !secret.isEmpty else { throw InputError(path, "holds no secret") }
        return secret
    }

    /// A private key, which nobody but the owner of the file may read.
    static func privateKey(_ path: String) throws -> String {
        let attributes = try? FileManager.default.attributesOfItem(atPath: path)
        if attributes?[.type] as? FileAttributeType == .typeDirectory { throw InputError(path, "is a folder") }
        if let mode = (attributes?[.posixPermissions] as? NSNumber)?.intValue, mode & 0o077 != 0 {
            throw InputError(path, "has mode 0\(String(mode & 0o777, radix: 8)) and must have 0600; run chmod 600")
        }
        return try secret(path)
    }
}

/// A new file for a secret, which only its owner may read from the moment it exists.
struct SecretOutputFile {
    let path: String
    private let handle: FileHandle

    /// Creates the file with mode 0600, and only if nothing has its name, not even a link.
    init(creating path: String) throws {
        self.path = path
        let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else {
            let reason = errno == EEXIST ? "exists already; choose another name" : String(cString: strerror(errno))
            throw InputError(path, reason)
        }
        handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
    }

    /// Writes the secret and flushes it to the disk.
    func write(_ text: String) throws {
        do {
            try handle.write(contentsOf: Data(text.utf8))
            try handle.synchronize()
        } catch {
            throw InputError(path, "cannot be written")
        }
    }

    /// Removes the file again if there is no secret to store in it.
    func remove() {
        unlink(path)
    }
}

/// The files of the keys that sign answers: the current one, and the next one beside it.
struct AnswerKeyFiles {
    let current: String
    /// The file of the next key.
    var next: String { current + ".next" }

    /// Creates both keys if there is no current one.
    func createIfMissing() throws {
        guard !FileManager.default.fileExists(atPath: current) else { return }
        try create(next)
        try create(current)
    }

    /// Replaces the current key with the next key, and creates another next key.
    func rotate() throws {
        guard FileManager.default.fileExists(atPath: next) else {
            throw InputError(next, "is not there; put the next key back, or no app knows the key that follows")
        }
        // A rename replaces the file as a whole, so a server that reads it now reads one of the two.
        guard rename(next, current) == 0 else {
            throw InputError(next, "cannot be renamed to \(current): \(String(cString: strerror(errno)))")
        }
        try create(next)
    }

    /// The public key of a file.
    func publicKey(_ path: String) throws -> String {
        guard let signer = AnswerSigner(text: try SecretFile.secret(path)) else {
            throw InputError(path, "holds no key of answers")
        }
        return signer.publicKey
    }

    /// The public key that follows; `nil` if its file was removed.
    func nextPublicKey() throws -> String? {
        FileManager.default.fileExists(atPath: next) ? try publicKey(next) : nil
    }

    private func create(_ path: String) throws {
        let file = try SecretOutputFile(creating: path)
        try file.write(AnswerSigner().secretText + "\n")
        Terminal.complain("made the key \(path)")
    }
}
