import EvidenceMint
import Foundation
import PurchaseVerification

/// A shared secret that an operator keeps in a file.
enum SecretFile {
    /// The secret, without white space around it.
    static func secret(_ path: String) throws -> String {
        let secret = String(decoding: try InputFile.read(path), as: UTF8.self)
            .trimmingCharacters(in: .whitespacesAndNewlines)
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
