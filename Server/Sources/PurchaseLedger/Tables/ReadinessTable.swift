import PurchaseVerification

/// The row that the readiness probe writes.
struct ReadinessTable {
    let connection: any LedgerConnection

    /// Writes new content before the old content is deleted, so that it needs space as a purchase does.
    func replace(_ content: [UInt8]) throws(LedgerStorageError) {
        let rows = try connection.changedRows(
            "INSERT INTO readiness (content) VALUES (?1) RETURNING readiness_key", [.blob(content)])
        guard var reader = rows.first?.reader else {
            throw LedgerStorageError(.constraint, "no row was inserted into readiness")
        }
        try connection.send(
            to: "readiness", "DELETE FROM readiness WHERE readiness_key <> ?1", [.integer(try reader.integer())])
    }
}
