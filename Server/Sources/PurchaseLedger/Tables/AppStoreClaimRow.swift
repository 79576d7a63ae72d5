import PurchaseVerification

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
