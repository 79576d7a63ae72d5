import PurchaseVerification

struct AppStoreClaimsTable {
    let connection: any LedgerConnection

    func insert(_ row: AppStoreClaimRow) throws(LedgerStorageError) {
        try connection.insert(AppStoreClaimRow.table.insertion, row.values)
    }

    func row(_ entry: Int64) throws(LedgerStorageError) -> AppStoreClaimRow? {
        try AppStoreClaimRow.first("WHERE entry_key = ?1", [.integer(entry)], connection)
    }

    /// The waiting claims with a piece of evidence, oldest first.
    func waiting(evidence: Int64, customer: Int64) throws(LedgerStorageError) -> [AppStoreClaimRow] {
        try AppStoreClaimRow.all(
            "WHERE evidence_key = ?1 AND customer_key = ?2 AND answer_entry IS NULL AND waits = 1 ORDER BY entry_key",
            [.integer(evidence), .integer(customer)], connection)
    }

    /// The newest decisions about claims with a piece of evidence.
    func decisions(evidence: Int64, customer: Int64, limit: Int64) throws(LedgerStorageError) -> [Int64] {
        let rows = try AppStoreClaimRow.all(
            """
            WHERE evidence_key = ?1 AND customer_key = ?2 AND decision_entry IS NOT NULL
            ORDER BY entry_key DESC LIMIT ?3
            """, [.integer(evidence), .integer(customer), .integer(limit)], connection)
        return rows.compactMap(\.decisionEntry)
    }

    /// Records the App Store's answer, and the decision that followed from it.
    func finish(_ row: AppStoreClaimRow, answer: Int64, decision: Int64?) throws(LedgerStorageError) {
        try connection.send(
            to: "app_store_claims",
            "UPDATE app_store_claims SET answer_entry = ?2, decision_entry = ?3 WHERE entry_key = ?1",
            [.integer(row.entryKey), .integer(answer), .integer(decision)])
        try WorkTable(connection: connection).delete(row.work)
    }

    func deleteAll(of customer: Int64) throws(LedgerStorageError) {
        for row in try AppStoreClaimRow.all("WHERE customer_key = ?1", [.integer(customer)], connection) {
            try WorkTable(connection: connection).delete(row.work)
        }
        try connection.send(
            to: "app_store_claims", "DELETE FROM app_store_claims WHERE customer_key = ?1", [.integer(customer)])
    }
}

/// A claim that is or was checked with the App Store. Until the App Store has answered, it has work (`WorkKind.claim`).
struct AppStoreClaimRow: TableRow {
    static let table = Table(
        "app_store_claims", key: nil,
        columns: [
            "entry_key", "app_key", "customer_key", "evidence_key", "waits", "received_at", "answer_entry",
            "decision_entry",
        ])

    /// The claim's journal entry.
    let entryKey: Int64
    let appKey: Int64
    let customerKey: Int64
    let evidenceKey: Int64
    /// Whether the claim is decided after the App Store's answer. Otherwise it was granted before.
    let waits: Bool
    let receivedAt: Timestamp
    var answerEntry: Int64?
    var decisionEntry: Int64?

    init(_ reader: inout RowReader) throws(LedgerStorageError) {
        entryKey = try reader.integer()
        appKey = try reader.integer()
        customerKey = try reader.integer()
        evidenceKey = try reader.integer()
        waits = try reader.flag()
        receivedAt = try reader.time()
        answerEntry = try reader.optionalInteger()
        decisionEntry = try reader.optionalInteger()
    }

    /// The row of a new claim.
    init(_ entry: Int64, appKey: Int64, customer: Int64, evidence: Int64, waits: Bool, at now: Timestamp) {
        (entryKey, self.appKey, customerKey, evidenceKey) = (entry, appKey, customer, evidence)
        (self.waits, receivedAt) = (waits, now)
    }

    var values: [LedgerValue] {
        [
            .integer(entryKey), .integer(appKey), .integer(customerKey), .integer(evidenceKey),
            .integer(waits ? 1 : 0), .time(receivedAt), .integer(answerEntry), .integer(decisionEntry),
        ]
    }

    /// The question to the App Store.
    var work: WorkKey { WorkKey(.claim, appKey: appKey, entry: entryKey) }
}
