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
}
