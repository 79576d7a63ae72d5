import PurchaseVerification

/// What is signed about a subscription beside its transactions: a row for each slot of renewal info, and for each
/// holder the newest status.
struct RenewalsTable {
    static let byNumber = ReadShape(
        "SELECT beside, concern, facts FROM renewals WHERE environment = ?1 AND original_id = ?2",
        of: ReadScope("renewals", by: "environment", "original_id"), [.value, .value])
    private static let replacement = LedgerInsertion(
        "renewals", ["environment", "original_id", "beside", "concern", "facts", "evidence_key"],
        onConflict: ["environment", "original_id", "beside", "concern"],
        "DO UPDATE SET facts = excluded.facts, evidence_key = excluded.evidence_key")

    let connection: any LedgerConnection

    /// The column `concern` of a row with a status.
    private static let status: Int64 = -1
    /// The version of stored statuses.
    private static let statusVersion: UInt8 = 1

    /// What is signed about a subscription.
    struct News {
        var renewal: ObservedRenewal?
        /// The newest status, by the name of the holder.
        var statuses: [String: SignedStatus] = [:]
    }

    func facts(_ key: RenewalKey, environment: Int64) throws(LedgerStorageError) -> ObservedRenewal? {
        try news(key, environment: environment).renewal
    }

    /// What is signed about some subscriptions of an environment, by their original ids.
    func news(of keys: [ExactText: RenewalKey], environment: Int64) throws(LedgerStorageError) -> [ExactText: News] {
        guard !keys.isEmpty else { return [:] }
        var rows: [ExactText: [Row]] = [:]
        for row in try connection.rows(
            """
            SELECT original_id, beside, concern, facts FROM renewals
            WHERE original_id IN (\(LedgerValue.places(keys.count))) AND environment = ?\(keys.count + 1)
            """, keys.keys.map { .text($0.string) } + [.integer(environment)])
        {
            var reader = row.reader
            rows[ExactText(try reader.text()), default: []]
                .append((try reader.text(), try reader.integer(), try reader.blob()))
        }
        var news: [ExactText: News] = [:]
        for (id, rows) in rows {
            if let key = keys[id] { news[id] = try Self.news(key, rows) }
        }
        return news
    }

    func news(_ key: RenewalKey, environment: Int64) throws(LedgerStorageError) -> News {
        var rows: [Row] = []
        for row in try connection.rows(
            Self.byNumber, [.integer(environment), .text(key.originalTransactionID.string)])
        {
            var reader = row.reader
            rows.append((try reader.text(), try reader.integer(), try reader.blob()))
        }
        return try Self.news(key, rows)
    }

    /// The columns of a row besides its subscription.
    typealias Row = (beside: String, concern: Int64, facts: [UInt8])

    /// What the rows of a subscription say.
    static func news(_ key: RenewalKey, _ rows: [Row]) throws(LedgerStorageError) -> News {
        var (news, statements): (News, [RenewalStatement]) = (News(), [])
        for (beside, concern, bytes) in rows {
            do throws(FactsDecodingError) {
                guard concern != status else {
                    news.statuses[beside] = try status(bytes)
                    continue
                }
                statements.append(
                    try RenewalStatement(key: key, beside: beside.isEmpty ? nil : ExactText(beside), encoded: bytes))
            } catch {
                throw LedgerStorageError(error, of: "renewal \(key.originalTransactionID)")
            }
        }
        news.renewal = ObservedRenewal(statements)
        return news
    }

    private static func status(_ bytes: [UInt8]) throws(FactsDecodingError) -> SignedStatus {
        var reader = CanonicalReader(bytes)
        let version = try reader.byte()
        guard version == statusVersion else { throw .unknownVersion(version) }
        let status = try reader.value(SignedStatus.self)
        guard encoded(status) == bytes else { throw .malformed(offset: bytes.count) }
        return status
    }

    private static func encoded(_ status: SignedStatus) -> [UInt8] {
        var writer = CanonicalWriter()
        writer.write(byte: statusVersion)
        writer.write(status)
        return writer.bytes
    }

    func delete(_ originalID: String, environment: Int64) throws(LedgerStorageError) {
        try connection.send(
            to: "renewals",
            "DELETE FROM renewals WHERE environment = ?1 AND original_id = ?2",
            [.integer(environment), .text(originalID)])
    }

    func write(_ statement: RenewalStatement, environment: Int64, evidence: Int64) throws(LedgerStorageError) {
        try write(
            statement.key, statement.beside?.string ?? "", statement.concern.number, statement.encoded,
            environment: environment, evidence: evidence)
    }

    func write(_ statement: StatusStatement, environment: Int64, evidence: Int64) throws(LedgerStorageError) {
        try write(
            statement.key, statement.holder.name, Self.status, Self.encoded(statement.status),
            environment: environment, evidence: evidence)
    }

    private func write(
        _ key: RenewalKey, _ beside: String, _ concern: Int64, _ facts: [UInt8], environment: Int64, evidence: Int64
    ) throws(LedgerStorageError) {
        try connection.insert(
            Self.replacement,
            [
                .integer(environment), .text(key.originalTransactionID.string), .text(beside), .integer(concern),
                .blob(facts), .integer(evidence),
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
            self.init(.corrupt, "the facts of \(row) are malformed at byte \(offset); run assay database rebuild")
        }
    }
}
