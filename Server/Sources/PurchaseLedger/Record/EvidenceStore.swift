import Crypto
import PurchaseVerification

/// Evidence that is ready to be stored: hashed and compressed, which needs no database.
public struct StorableEvidence: Sendable {
    /// SHA-256 of the bytes as they were sent.
    public let sha256: [UInt8]
    let row: EvidenceRow

    /// Hashes and compresses evidence.
    public init(_ bytes: [UInt8]) {
        sha256 = Self.sha256(bytes)
        let (form, content) = Compression.compressed(bytes)
        row = EvidenceRow(sha256: sha256, size: Int64(bytes.count), form: form, content: content)
    }

    /// The hash that evidence is known by.
    static func sha256(_ bytes: [UInt8]) -> [UInt8] { Array(SHA256.hash(data: bytes)) }
}

/// Evidence as it was sent, stored once.
struct EvidenceStore {
    /// Larger evidence was never accepted; a row that says so was changed.
    private static let largest: Int64 = 1 << 30

    let connection: any LedgerConnection

    /// Stores evidence unless it is there.
    ///
    /// - Returns: its key.
    func keep(_ evidence: StorableEvidence) throws(LedgerStorageError) -> Int64 {
        try EvidenceTable(connection: connection).keep(evidence.row)
    }

    /// The evidence of a hash, as it was sent; `nil` if there is none, or if it was erased.
    func bytes(sha256: [UInt8]) throws(LedgerStorageError) -> [UInt8]? {
        guard let row = try EvidenceTable(connection: connection).row(sha256: sha256) else { return nil }
        return try Self.bytes(row)
    }

    /// The bytes of a row, compared with its size and hash; `nil` after an erasure.
    static func bytes(_ row: EvidenceRow) throws(LedgerStorageError) -> [UInt8]? {
        guard let content = row.content else { return nil }
        guard (0...largest).contains(row.size),
            let bytes = Compression.expanded(content, row.form, size: Int(row.size)),
            SHA256.hash(data: bytes) == row.sha256
        else {
            throw LedgerStorageError(.corrupt, "evidence \(row.key) is not what its hash and size say")
        }
        return bytes
    }
}
