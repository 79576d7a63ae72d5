import PurchaseVerification

/// Verified evidence that is not observed yet, because no app has its bundle id.
struct HeldEvidenceTable {
    let connection: any LedgerConnection

    func insert(_ evidence: Int64, entry: Int64, bundleID: String) throws(LedgerStorageError) {
        try connection.send(
            """
            INSERT INTO held_evidence (evidence_key, entry_key, bundle_id) VALUES (?1, ?2, ?3)
            ON CONFLICT (bundle_id, evidence_key) DO NOTHING
            """, [.integer(evidence), .integer(entry), .text(bundleID)])
    }

    /// The held evidence of a bundle id, oldest first.
    func keys(bundleID: String) throws(LedgerStorageError) -> [Int64] {
        var keys: [Int64] = []
        for row in try connection.rows(
            "SELECT evidence_key FROM held_evidence WHERE bundle_id = ?1 ORDER BY evidence_key", [.text(bundleID)])
        {
            var reader = row.reader
            keys.append(try reader.integer())
        }
        return keys
    }

    func delete(bundleID: String) throws(LedgerStorageError) {
        try connection.send("DELETE FROM held_evidence WHERE bundle_id = ?1", [.text(bundleID)])
    }
}
