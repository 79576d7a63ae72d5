import PurchaseVerification

/// The renewal facts of subscriptions: a row for each slot of a statement.
struct RenewalsTable {
    static let byNumber = ReadShape(
        "SELECT beside, facts FROM renewals WHERE environment = ?1 AND original_id = ?2", of: ["renewals"],
        [.value, .value])

    let connection: any LedgerConnection

    func facts(_ key: RenewalKey, environment: Int64) throws(LedgerStorageError) -> ObservedRenewal? {
        var statements: [RenewalStatement] = []
        for row in try connection.rows(
            Self.byNumber, [.integer(environment), .text(key.originalTransactionID.string)])
        {
            var reader = row.reader
            let (beside, bytes) = (try reader.text(), try reader.blob())
            do throws(FactsDecodingError) {
                statements.append(
                    try RenewalStatement(key: key, beside: beside.isEmpty ? nil : ExactText(beside), encoded: bytes))
            } catch {
                throw LedgerStorageError(error, of: "renewal \(key.originalTransactionID)")
            }
        }
        return ObservedRenewal(statements)
    }

    func delete(_ originalID: String, environment: Int64) throws(LedgerStorageError) {
        try connection.send(
            to: "renewals",
            "DELETE FROM renewals WHERE environment = ?1 AND original_id = ?2",
            [.integer(environment), .text(originalID)])
    }

    func write(_ statement: RenewalStatement, environment: Int64, evidence: Int64) throws(LedgerStorageError) {
        try connection.send(
            to: "renewals",
            """
            INSERT INTO renewals (environment, original_id, beside, concern, facts, evidence_key)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6)
            ON CONFLICT (environment, original_id, beside, concern) DO UPDATE SET facts = ?5, evidence_key = ?6
            """,
            [
                .integer(environment), .text(statement.key.originalTransactionID.string),
                .text(statement.beside?.string ?? ""), .integer(statement.concern.number), .blob(statement.encoded),
                .integer(evidence),
            ])
    }
}

extension RenewalStatement.Concern {
    /// The column: the end of the grace period, 1 for a retry without one, 0 for neither.
    fileprivate var number: Int64 {
        switch self {
        case .none: 0
        case .retry: 1
        case .grace(let end): end.millisecondsSince1970
        }
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
