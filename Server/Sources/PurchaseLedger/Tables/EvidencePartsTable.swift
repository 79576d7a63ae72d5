struct EvidencePartsTable {
    let connection: any LedgerConnection

    static let stateBySHA256 = ReadShape(
        "SELECT part_key, content IS NOT NULL FROM evidence_parts WHERE sha256 = ?1",
        of: ReadScope(EvidencePartRow.table.name, by: "sha256"), [.value])

    func row(_ key: Int64) throws(LedgerStorageError) -> EvidencePartRow? {
        try EvidencePartRow.first("WHERE part_key = ?1", [.integer(key)], connection)
    }

    /// The key of a part, and whether its content is stored.
    func state(sha256: [UInt8]) throws(LedgerStorageError) -> (key: Int64, hasContent: Bool)? {
        let rows = try connection.rows(Self.stateBySHA256, [.blob(sha256)])
        guard var reader = rows.first?.reader else { return nil }
        return (try reader.integer(), try reader.flag())
    }

    /// The rows after a key, in key order.
    func rows(after key: Int64, limit: Int64) throws(LedgerStorageError) -> [EvidencePartRow] {
        try EvidencePartRow.all(
            "WHERE part_key > ?1 ORDER BY part_key LIMIT ?2", [.integer(key), .integer(limit)], connection)
    }

    func insert(sha256: [UInt8], _ content: [UInt8]) throws(LedgerStorageError) -> Int64 {
        try EvidencePartRow.table.insert([.blob(sha256), .blob(content)], connection)
    }

    /// Restores the content of a part.
    func refill(_ key: Int64, _ content: [UInt8]) throws(LedgerStorageError) {
        try connection.send(
            to: "evidence_parts",
            "UPDATE evidence_parts SET content = ?2 WHERE part_key = ?1", [.integer(key), .blob(content)])
    }

    /// Deletes the content of a part that no evidence uses any more.
    func erase(_ key: Int64) throws(LedgerStorageError) {
        try connection.execute("UPDATE evidence_parts SET content = NULL WHERE part_key = ?1", [.integer(key)])
    }
}
