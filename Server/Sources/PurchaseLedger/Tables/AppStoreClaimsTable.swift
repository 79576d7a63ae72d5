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
            "WHERE evidence_key = ?1 AND customer_key = ?2 AND next_at IS NOT NULL AND waits = 1 ORDER BY entry_key",
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

    /// The claims of apps that are due and that no server works on, the longest overdue first.
    func due(_ apps: [Int64], at now: Timestamp, limit: Int64) throws(LedgerStorageError) -> [AppStoreClaimRow] {
        guard !apps.isEmpty else { return [] }
        return try AppStoreClaimRow.all(
            """
            WHERE next_at IS NOT NULL AND next_at <= ?1 AND \(Self.isFree) AND \(Self.among(apps))
            ORDER BY next_at, entry_key LIMIT ?3
            """, [.time(now), .time(now.appStoreLeaseEnd), .integer(limit)], connection)
    }

    /// The claims of apps that were submitted before a time, whenever they are due. It reads all waiting claims.
    func overdue(
        _ apps: [Int64], before end: Timestamp, at now: Timestamp, limit: Int64
    ) throws(LedgerStorageError) -> [AppStoreClaimRow] {
        guard !apps.isEmpty else { return [] }
        return try AppStoreClaimRow.all(
            """
            WHERE next_at IS NOT NULL AND received_at <= ?4 AND \(Self.isFree) AND \(Self.among(apps))
            ORDER BY next_at, entry_key LIMIT ?3
            """, [.time(now), .time(now.appStoreLeaseEnd), .integer(limit), .time(end)], connection)
    }

    /// Whether no server works on a claim. A lease that ends later than possible was taken by a clock that has been set
    /// back since.
    private static let isFree = "(leased_until IS NULL OR leased_until <= ?1 OR leased_until > ?2)"

    private static func among(_ apps: [Int64]) -> String {
        "app_key IN (\(apps.sorted().map { "\($0)" }.joined(separator: ", ")))"
    }

    func lease(_ entry: Int64, until end: Timestamp) throws(LedgerStorageError) {
        try connection.send(
            to: "app_store_claims",
            "UPDATE app_store_claims SET leased_until = ?2 WHERE entry_key = ?1 AND next_at IS NOT NULL",
            [.integer(entry), .time(end)])
    }

    /// Records a request without an answer, and when to ask again.
    func postpone(_ entry: Int64, attempts: Int64, to next: Timestamp) throws(LedgerStorageError) {
        try connection.send(
            to: "app_store_claims",
            """
            UPDATE app_store_claims SET attempts = ?2, next_at = ?3, leased_until = NULL
            WHERE entry_key = ?1 AND next_at IS NOT NULL
            """, [.integer(entry), .integer(attempts), .time(next)])
    }

    /// Makes every claim due that waits for a later attempt.
    func makeDue(at now: Timestamp) throws(LedgerStorageError) {
        try connection.send(
            to: "app_store_claims",
            "UPDATE app_store_claims SET next_at = ?1 WHERE next_at IS NOT NULL AND next_at > ?1", [.time(now)])
    }

    /// Records the App Store's answer, and the decision that followed from it.
    func finish(_ entry: Int64, answer: Int64, decision: Int64?) throws(LedgerStorageError) {
        try connection.send(
            to: "app_store_claims",
            """
            UPDATE app_store_claims SET next_at = NULL, leased_until = NULL, answer_entry = ?2, decision_entry = ?3
            WHERE entry_key = ?1
            """, [.integer(entry), .integer(answer), .integer(decision)])
    }

    /// The number of waiting claims, counted up to a limit.
    func count(limit: Int64) throws(LedgerStorageError) -> Int {
        Int(
            try connection.integers(
                """
                SELECT count(*) FROM
                (SELECT entry_key FROM app_store_claims WHERE next_at IS NOT NULL LIMIT ?1) AS waiting
                """, [.integer(limit)]
            ).first ?? 0)
    }

    func deleteAll(of customer: Int64) throws(LedgerStorageError) {
        try connection.send(
            to: "app_store_claims", "DELETE FROM app_store_claims WHERE customer_key = ?1", [.integer(customer)])
    }
}

extension Timestamp {
    /// The end of the lease of one server, which is longer than a server waits for the App Store.
    var appStoreLeaseEnd: Timestamp {
        Timestamp(millisecondsSince1970: millisecondsSince1970 + AppStoreClaimRow.lease)
    }
}

/// A claim that is or was checked with the App Store.
struct AppStoreClaimRow: TableRow {
    static let table = Table(
        "app_store_claims", key: nil,
        columns: [
            "entry_key", "app_key", "customer_key", "evidence_key", "waits", "received_at", "attempts", "next_at",
            "leased_until", "answer_entry", "decision_entry",
        ])

    /// How long one server may work on a claim, in milliseconds. If the server dies, the claim is free again after this
    /// time.
    static let lease: Int64 = 120_000

    /// The claim's journal entry.
    let entryKey: Int64
    let appKey: Int64
    let customerKey: Int64
    let evidenceKey: Int64
    /// Whether the claim is decided after the App Store's answer. Otherwise it was granted before.
    let waits: Bool
    let receivedAt: Timestamp
    /// The number of requests that were not answered.
    var attempts: Int64 = 0
    /// When the App Store is asked; `nil` once it answered, or after the claim was given up.
    var nextAt: Timestamp?
    /// The end of the lease of a server that works on it.
    var leasedUntil: Timestamp?
    var answerEntry: Int64?
    var decisionEntry: Int64?

    init(_ reader: inout RowReader) throws(LedgerStorageError) {
        entryKey = try reader.integer()
        appKey = try reader.integer()
        customerKey = try reader.integer()
        evidenceKey = try reader.integer()
        waits = try reader.flag()
        receivedAt = try reader.time()
        attempts = try reader.integer()
        nextAt = try reader.optionalTime()
        leasedUntil = try reader.optionalTime()
        answerEntry = try reader.optionalInteger()
        decisionEntry = try reader.optionalInteger()
    }

    /// The row of a new claim, which is due at once.
    init(_ entry: Int64, appKey: Int64, customer: Int64, evidence: Int64, waits: Bool, at now: Timestamp) {
        (entryKey, self.appKey, customerKey, evidenceKey) = (entry, appKey, customer, evidence)
        (self.waits, receivedAt, nextAt) = (waits, now, now)
    }

    var values: [LedgerValue] {
        [
            .integer(entryKey), .integer(appKey), .integer(customerKey), .integer(evidenceKey),
            .integer(waits ? 1 : 0), .time(receivedAt), .integer(attempts), .time(nextAt), .time(leasedUntil),
            .integer(answerEntry), .integer(decisionEntry),
        ]
    }
}
