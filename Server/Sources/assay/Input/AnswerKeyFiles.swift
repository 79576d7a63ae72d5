import Foundation
import PurchaseServer

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
