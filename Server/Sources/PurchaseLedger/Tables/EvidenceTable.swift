import PurchaseVerification

/// Evidence as it was sent, once under its SHA-256 however often it comes.
struct EvidenceRow: TableRow {
    static let table = Table("evidence", key: "evidence_key", columns: ["sha256", "size", "form", "content"])

    var key: Int64
    var sha256: [UInt8]
    var size: Int64
    var form: CompressionForm
    /// `nil` after an erasure.
    var content: [UInt8]?

    init(_ reader: inout RowReader) throws(LedgerStorageError) {
        key = try reader.integer()
        sha256 = try reader.blob()
        size = try reader.integer()
        form = try reader.named(CompressionForm.self)
        content = try reader.optionalBlob()
    }

    init(sha256: [UInt8], size: Int64, form: CompressionForm, content: [UInt8]) {
        (key, self.sha256, self.size, self.form, self.content) = (0, sha256, size, form, content)
    }

    var values: [LedgerValue] { [.blob(sha256), .integer(size), .text(form.rawValue), .blob(content)] }
}

/// How evidence is stored.
enum CompressionForm: String, Sendable {
    case none
    /// RFC 1950
    case zlib
}

struct EvidenceTable {
    let connection: any LedgerConnection

    func row(sha256: [UInt8]) throws(LedgerStorageError) -> EvidenceRow? {
        try EvidenceRow.first("WHERE sha256 = ?1", [.blob(sha256)], connection)
    }

    func row(key: Int64) throws(LedgerStorageError) -> EvidenceRow? {
        try EvidenceRow.first("WHERE evidence_key = ?1", [.integer(key)], connection)
    }

    /// The rows after a key, in its order.
    func rows(after key: Int64, limit: Int64) throws(LedgerStorageError) -> [EvidenceRow] {
        try EvidenceRow.all(
            "WHERE evidence_key > ?1 ORDER BY evidence_key LIMIT ?2", [.integer(key), .integer(limit)], connection)
    }

    func key(sha256: [UInt8]) throws(LedgerStorageError) -> Int64? {
        let rows = try connection.rows("SELECT evidence_key FROM evidence WHERE sha256 = ?1", [.blob(sha256)])
        guard var reader = rows.first?.reader else { return nil }
        return try reader.integer()
    }

    /// Inserts a row of evidence that was erased, unless it is there.
    func keepErased(sha256: [UInt8]) throws(LedgerStorageError) {
        try connection.execute(
            "INSERT INTO evidence (sha256, size, form, content) VALUES (?1, 0, ?2, NULL)",
            [.blob(sha256), .text(CompressionForm.none.rawValue)])
    }

    /// Deletes the content of a row.
    func erase(_ key: Int64) throws(LedgerStorageError) {
        try connection.execute("UPDATE evidence SET content = NULL WHERE evidence_key = ?1", [.integer(key)])
        try connection.execute("DELETE FROM held_evidence WHERE evidence_key = ?1", [.integer(key)])
    }

    /// Inserts a row unless its hash exists. The table's rule leaves out a duplicate, so no look is needed before.
    ///
    /// - Returns: the key of the new or the existing row.
    func keep(_ row: EvidenceRow) throws(LedgerStorageError) -> Int64 {
        if var reader = try connection.rows(EvidenceRow.table.insertion, row.values).first?.reader {
            return try reader.integer()
        }
        guard let key = try key(sha256: row.sha256) else {
            throw LedgerStorageError(.constraint, "evidence did not take a row")
        }
        return key
    }
}
