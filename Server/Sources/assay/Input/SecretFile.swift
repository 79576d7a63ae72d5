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
