import Crypto
import Foundation

/// The key with which servers authenticate the journal entries that they write (HMAC-SHA256). It is in a file outside of the
/// database, and all servers of one database share it, so somebody who can only write to the database cannot make an entry.
public struct EntryKey: Sendable {
    private static let prefix = Array("assay-entry-key-1 ".utf8)
    /// Nothing else is authenticated with this key, and a later version of entries will say another name.
    private static let context = Array("assay journal entry 1\n".utf8)
    private static let idContext = Array("assay entry key id 1\n".utf8)

    /// The first four bytes of SHA-256("assay entry key id 1", newline, key) in hexadecimal. It tells keys apart and gives
    /// nothing of them away.
    public let id: String
    private let key: SymmetricKey
    /// HMAC with the key and the context already in it: both are the same for every entry.
    private let begun: HMAC<SHA256>

    /// Makes a key in a new file of mode 0600.
    ///
    /// - Throws: `fileExists`, `fileFailed`.
    public static func create(at path: String) throws(LogError) -> EntryKey {
        let bytes = SymmetricKey(size: .bits256).withUnsafeBytes { Array($0) }
        try LogFile.create(path, mode: 0o600, prefix + Array((CanonicalBase64.encoded(bytes) + "\n").utf8))
        return try EntryKey(file: path)
    }

    /// Reads the key of a file, or makes it.
    ///
    /// - Throws: `fileMode`, `malformed`, `fileFailed`.
    public static func openOrCreate(at path: String) throws(LogError) -> EntryKey {
        do throws(LogError) {
            return try EntryKey(file: path)
        } catch  where error.code == .fileMissing {
            do throws(LogError) {
                return try create(at: path)
            } catch  where error.code == .fileExists {
                // Another server was faster.
                return try EntryKey(file: path)
            }
        }
    }

    /// Reads a key from its file.
    ///
    /// - Throws: `fileMissing`, `fileMode` if others may read it, `malformed`, `fileFailed`.
    public init(file path: String) throws(LogError) {
        let content = try LogFile.secret(path, limit: 256)
        guard content.starts(with: Self.prefix), content.last == 0x0A,
            let bytes = CanonicalBase64.decoded(content.dropFirst(Self.prefix.count).dropLast()), bytes.count == 32
        else { throw LogError(.malformed, "\(path) contains no key of entries (assay-entry-key-1 …)") }
        key = SymmetricKey(data: bytes)
        var begun = HMAC<SHA256>(key: key)
        begun.update(data: Self.context)
        self.begun = begun
        id = Array(SHA256.hash(data: Self.idContext + bytes).prefix(4)).hexadecimal
    }

    /// The code of an entry: of the stored bytes of its leaf, which end with the hash of its salted details.
    package func code(of leaf: [UInt8]) -> [UInt8] {
        var code = begun
        code.update(data: leaf)
        return Array(code.finalize())
    }

    /// Whether a server with the key wrote a leaf under an id. The comparison of codes takes the same time for every wrong one.
    ///
    /// - Parameter id: the id of the entry's row. Ids are unique in the journal, so a copy of an entry in a second row has another
    ///   id than its leaf says.
    func authenticates(_ leaf: [UInt8], id: [UInt8]?, code: [UInt8]?) -> Bool {
        guard let code, let id, id.count == 16, leaf.dropFirst().starts(with: id) else { return false }
        return HMAC<SHA256>.isValidAuthenticationCode(code, authenticating: Self.context + leaf, using: key)
    }
}
