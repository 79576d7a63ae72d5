/// Bytes that many pieces of evidence have in common: certificate sets of receipts and headers of signed payloads. Each is stored
/// once under its SHA-256. They name signers of the App Store, and no customer, so an erasure leaves them.
struct EvidencePartRow: TableRow {
    static let table = Table("evidence_parts", key: "part_key", columns: ["sha256", "content"])

    var key: Int64
    var sha256: [UInt8]
    var content: [UInt8]

    init(_ reader: inout RowReader) throws(LedgerStorageError) {
        key = try reader.integer()
        sha256 = try reader.blob()
        content = try reader.blob()
    }
}

struct EvidencePartsTable {
    let connection: any LedgerConnection

    func row(_ key: Int64) throws(LedgerStorageError) -> EvidencePartRow? {
        try EvidencePartRow.first("WHERE part_key = ?1", [.integer(key)], connection)
    }

    func row(sha256: [UInt8]) throws(LedgerStorageError) -> EvidencePartRow? {
        try EvidencePartRow.first("WHERE sha256 = ?1", [.blob(sha256)], connection)
    }

    /// The rows after a key, in its order.
    func rows(after key: Int64, limit: Int64) throws(LedgerStorageError) -> [EvidencePartRow] {
        try EvidencePartRow.all(
            "WHERE part_key > ?1 ORDER BY part_key LIMIT ?2", [.integer(key), .integer(limit)], connection)
    }

    func insert(sha256: [UInt8], _ content: [UInt8]) throws(LedgerStorageError) -> Int64 {
        try EvidencePartRow.table.insert([.blob(sha256), .blob(content)], connection)
    }
}
