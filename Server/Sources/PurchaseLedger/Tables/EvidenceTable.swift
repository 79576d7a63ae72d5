import PurchaseVerification

struct EvidenceTable {
    let connection: any LedgerConnection

    func row(sha256: [UInt8]) throws(LedgerStorageError) -> EvidenceRow? {
        try EvidenceRow.first(Self.bySHA256, [.blob(sha256)], connection)
    }

    func row(key: Int64) throws(LedgerStorageError) -> EvidenceRow? {
        try EvidenceRow.first("WHERE evidence_key = ?1", [.integer(key)], connection)
    }

    /// The rows after a key, in key order.
    func rows(after key: Int64, limit: Int64) throws(LedgerStorageError) -> [EvidenceRow] {
        try EvidenceRow.all(
            "WHERE evidence_key > ?1 ORDER BY evidence_key LIMIT ?2", [.integer(key), .integer(limit)], connection)
    }

    static let bySHA256 = ReadShape(
        EvidenceRow.table.select("WHERE sha256 = ?1"), of: ReadScope(EvidenceRow.table.name, by: "sha256"), [.value])

    /// Inserts a row.
    ///
    /// - Returns: its key.
    func insert(_ row: EvidenceRow) throws(LedgerStorageError) -> Int64 {
        try EvidenceRow.table.insert(row.values, connection)
    }

    /// The key of the row with a hash, which is inserted if there is none.
    func keyToWrite(_ row: EvidenceRow) throws(LedgerStorageError) -> Int64 {
        if let known = try self.row(sha256: row.sha256) { return known.key }
        return try insert(row)
    }

    /// The first 128 bytes of the content of the rows on one side of a key, the nearest first.
    func starts(
        from key: Int64, isForward: Bool, limit: Int64
    ) throws(LedgerStorageError) -> [(key: Int64, bytes: [UInt8]?)] {
        var starts: [(key: Int64, bytes: [UInt8]?)] = []
        for row in try connection.rows(
            """
            SELECT evidence_key, substr(content, 1, 128) FROM evidence
            WHERE evidence_key \(isForward ? ">" : "<") ?1 ORDER BY evidence_key \(isForward ? "" : "DESC") LIMIT ?2
            """, [.integer(key), .integer(limit)])
        {
            var reader = row.reader
            starts.append((try reader.integer(), try reader.optionalBlob()))
        }
        return starts
    }

    /// Restores the content of a row that was erased or has only a prefix.
    func refill(_ key: Int64, _ content: [UInt8]) throws(LedgerStorageError) {
        // The table's rule refuses to change existing content.
        try connection.send(
            to: "evidence", "UPDATE evidence SET content = NULL WHERE evidence_key = ?1", [.integer(key)])
        try connection.send(
            to: "evidence",
            "UPDATE evidence SET content = ?2 WHERE evidence_key = ?1", [.integer(key), .blob(content)])
    }

    /// Deletes the content of a row.
    func erase(_ key: Int64) throws(LedgerStorageError) {
        try connection.send(
            to: "evidence", "UPDATE evidence SET content = NULL WHERE evidence_key = ?1", [.integer(key)])
        try connection.send(to: "held_evidence", "DELETE FROM held_evidence WHERE evidence_key = ?1", [.integer(key)])
        try AppReceiptsTable(connection: connection).delete(evidence: key)
    }
}
