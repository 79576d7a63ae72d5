import PurchaseVerification

/// Verified evidence that is not observed yet, because no app has its bundle id.
struct HeldEvidenceTable {
    private static let insertion = LedgerInsertion(
        "held_evidence", ["evidence_key", "entry_key", "bundle_id"], onConflict: ["bundle_id", "evidence_key"],
        "DO NOTHING")

    let connection: any LedgerConnection

    func insert(_ evidence: Int64, entry: Int64, bundleID: String) throws(LedgerStorageError) {
        try connection.insert(Self.insertion, [.integer(evidence), .integer(entry), .text(bundleID)])
    }

    /// The held evidence of a bundle id, oldest first.
    func keys(bundleID: String) throws(LedgerStorageError) -> [Int64] {
        var keys: [Int64] = []
        for row in try connection.rows(
            "SELECT evidence_key FROM held_evidence WHERE bundle_id = ?1 ORDER BY evidence_key", [.text(bundleID)],
            of: ["held_evidence"])
        {
            var reader = row.reader
            keys.append(try reader.integer())
        }
        return keys
    }

    func delete(bundleID: String) throws(LedgerStorageError) {
        try connection.send(to: "held_evidence", "DELETE FROM held_evidence WHERE bundle_id = ?1", [.text(bundleID)])
    }
}
