import PurchaseVerification

/// The renewal facts of subscriptions.
struct RenewalsTable {
    static let byNumber = ReadShape(
        "SELECT facts FROM renewals WHERE environment = ?1 AND original_id = ?2", of: ["renewals"],
        [.value, .value])

    let connection: any LedgerConnection

    func facts(_ key: RenewalKey, environment: Int64) throws(LedgerStorageError) -> ObservedRenewal? {
        let rows = try connection.rows(
            Self.byNumber, [.integer(environment), .text(key.originalTransactionID.string)])
        guard var reader = rows.first?.reader else { return nil }
        let bytes = try reader.blob()
        do throws(FactsDecodingError) {
            return try ObservedRenewal(key: key, encoded: bytes)
        } catch {
            throw LedgerStorageError(error, of: "renewal \(key.originalTransactionID)")
        }
    }

    func delete(_ originalID: String, environment: Int64) throws(LedgerStorageError) {
        try connection.send(
            to: "renewals",
            "DELETE FROM renewals WHERE environment = ?1 AND original_id = ?2",
            [.integer(environment), .text(originalID)])
    }

    func write(_ facts: ObservedRenewal, environment: Int64, evidence: Int64) throws(LedgerStorageError) {
        try connection.send(
            to: "renewals",
            """
            INSERT INTO renewals (environment, original_id, facts, evidence_key) VALUES (?1, ?2, ?3, ?4)
            ON CONFLICT (environment, original_id) DO UPDATE SET facts = ?3, evidence_key = ?4
            """,
            [
                .integer(environment), .text(facts.key.originalTransactionID.string), .blob(facts.encoded),
                .integer(evidence),
            ])
    }
}

extension LedgerStorageError {
    /// The error for facts in a row that cannot be read.
    init(_ error: FactsDecodingError, of row: String) {
        switch error {
        case .unknownVersion(let version):
            self.init(.schemaTooNew, "the facts of \(row) are of version \(version)")
        case .malformed(let offset):
            self.init(.corrupt, "the facts of \(row) are malformed at byte \(offset); run assay rebuild")
        }
    }
}
