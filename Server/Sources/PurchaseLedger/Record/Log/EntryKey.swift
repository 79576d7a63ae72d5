import Crypto
import Foundation

/// The key with which servers authenticate the journal entries that they write (HMAC-SHA256). It is in a file outside
/// the database and shared by all servers of the database, so write access to the database alone is not enough to
/// create an entry.
public struct EntryKey: Sendable {
    private static let prefix = Array("assay-entry-key-1 ".utf8)
    /// Separates entries from other uses of the key; a later version of entries will use another text.
    private static let context = Array("assay journal entry 1\n".utf8)
    private static let idContext = Array("assay entry key id 1\n".utf8)

    /// The first four bytes of SHA-256("assay entry key id 1", newline, key) in hexadecimal. It identifies the key
    /// without revealing it.
    public let id: String
    private let key: SymmetricKey
    /// HMAC that has already absorbed the key and the context, which are the same for every entry.
    private let begun: HMAC<SHA256>

    /// Creates a key in a new file of mode 0600.
    ///
    /// - Throws: `fileExists`, `fileFailed`.
    public static func create(at path: String) throws(LogError) -> EntryKey {
        let bytes = SymmetricKey(size: .bits256).withUnsafeBytes { Array($0) }
        try LogFile.create(path, mode: 0o600, prefix + Array((Base64Form.canonical(bytes) + "\n").utf8))
        return try EntryKey(file: path)
    }

    /// Reads the key from a file, or creates it.
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
            let bytes = Base64Form.canonicalBytes(content.dropFirst(Self.prefix.count).dropLast()), bytes.count == 32
        else { throw LogError(.malformed, "\(path) contains no key of entries (assay-entry-key-1 …)") }
        key = SymmetricKey(data: bytes)
        var begun = HMAC<SHA256>(key: key)
        begun.update(data: Self.context)
        self.begun = begun
        id = Array(SHA256.hash(data: Self.idContext + bytes).prefix(4)).hexadecimal
    }

    /// The code of an entry, computed over the stored bytes of its leaf, which end with the hash of its salted details.
    package func code(of leaf: [UInt8]) -> [UInt8] {
        var code = begun
        code.update(data: leaf)
        return Array(code.finalize())
    }

    /// Whether a server with the key wrote a leaf under an id. The comparison of codes takes constant time.
    ///
    /// - Parameter id: the id of the entry's row. Ids are unique in the journal, so a copy of an entry in a second row
    ///   has an id that differs from its leaf.
    func authenticates(_ leaf: [UInt8], id: [UInt8]?, code: [UInt8]?) -> Bool {
        guard let code, let id, id.count == 16, leaf.dropFirst().starts(with: id) else { return false }
        return HMAC<SHA256>.isValidAuthenticationCode(code, authenticating: Self.context + leaf, using: key)
    }
}
