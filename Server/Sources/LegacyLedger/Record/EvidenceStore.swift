import Crypto

/// Evidence as it was sent, kept once under its SHA-256 however often it comes.
struct StoredEvidence: Sendable {
    /// SHA-256 of what was sent, in hexadecimal.
    let sha256: String
    let size: Int
    private let compression: Compression
    private let content: [UInt8]

    init(_ bytes: [UInt8]) {
        sha256 = hexadecimal(SHA256.hash(data: bytes))
        size = bytes.count
        (compression, content) = Compression.compressed(bytes)
    }

    func keep(_ connection: any LedgerConnection) throws(LedgerStorageError) {
        try connection.execute(
            """
            INSERT INTO evidence (sha256, size, compression, content) VALUES (?1, ?2, ?3, ?4)
            ON CONFLICT (sha256) DO NOTHING
            """,
            [.text(sha256), .integer(Int64(size)), .text(compression.rawValue), .blob(content)])
    }

    /// The evidence of a hash, as it was sent; `nil` if there is none.
    static func bytes(
        _ sha256: String, _ connection: any LedgerConnection
    ) throws(LedgerStorageError) -> [UInt8]? {
        let rows = try connection.rows(
            "SELECT size, compression, content FROM evidence WHERE sha256 = ?1", [.text(sha256)])
        guard let row = rows.first else { return nil }
        var reader = RowReader(row)
        let size = try reader.integer()
        let compression = try reader.named(Compression.self)
        // Nothing larger was ever taken; a row that says so was changed.
        guard (0...largest).contains(size), let bytes = compression.expanded(try reader.blob(), size: Int(size)) else {
            throw LedgerStorageError(.corrupt, "the evidence \(sha256) cannot be read")
        }
        return bytes
    }

    private static let largest: Int64 = 1 << 30
}
