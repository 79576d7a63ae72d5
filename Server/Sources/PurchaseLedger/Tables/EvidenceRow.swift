import PurchaseVerification

/// Evidence, stored once under its SHA-256 however often it is sent.
struct EvidenceRow: TableRow {
    static let table = Table("evidence", key: "evidence_key", columns: ["sha256", "size", "content"])

    var key: Int64
    /// SHA-256 of the evidence as it was sent.
    var sha256: [UInt8]
    /// Its size in bytes.
    var size: Int64
    /// A stored form of it (`StoredContent`); `nil` after an erasure.
    var content: [UInt8]?

    init(_ reader: inout RowReader) throws(LedgerStorageError) {
        key = try reader.integer()
        sha256 = try reader.blob()
        size = try reader.integer()
        content = try reader.optionalBlob()
    }

    init(sha256: [UInt8], size: Int64, content: [UInt8]?) {
        (key, self.sha256, self.size, self.content) = (0, sha256, size, content)
    }

    var values: [LedgerValue] { [.blob(sha256), .integer(size), .blob(content)] }
}
