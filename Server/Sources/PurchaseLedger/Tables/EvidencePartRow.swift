/// Bytes that many pieces of evidence share: certificate sets of receipts and headers of signed payloads. Each is
/// stored once under its SHA-256. They name signers of the App Store, and no customer.
struct EvidencePartRow: TableRow {
    static let table = Table("evidence_parts", key: "part_key", columns: ["sha256", "content"])

    var key: Int64
    var sha256: [UInt8]
    /// `nil` after the erasure of the only evidence that used it.
    var content: [UInt8]?

    init(_ reader: inout RowReader) throws(LedgerStorageError) {
        key = try reader.integer()
        sha256 = try reader.blob()
        content = try reader.optionalBlob()
    }
}
