import PurchaseVerification

/// An operator's request that Apple extends a subscription.
struct ExtensionRow: TableRow {
    static let table = Table(
        "extension_requests", key: nil,
        columns: [
            "entry_key", "app_key", "original_key", "request_id", "days", "reason", "requested_at", "state",
            "answer_entry", "next_at", "attempts", "leased_until",
        ])
    /// How long one server may work on a request, in milliseconds.
    static let lease: Int64 = 300_000
    /// How long Apple is asked at most, in milliseconds.
    static let lifetime: Int64 = 86_400_000

    /// The entry of the request.
    var entryKey: Int64
    var appKey: Int64
    var originalKey: Int64
    /// Identifies the request for the operator and for Apple.
    var requestID: String
    var days: Int64
    var reason: ExtensionReasonCode
    var requestedAt: Timestamp
    var state: ExtensionState
    var answerEntry: Int64?
    var nextAt: Timestamp
    var attempts: Int64
    var leasedUntil: Timestamp?

    init(_ reader: inout RowReader) throws(LedgerStorageError) {
        entryKey = try reader.integer()
        appKey = try reader.integer()
        originalKey = try reader.integer()
        requestID = try reader.text()
        days = try reader.integer()
        reason = try reader.named(ExtensionReasonCode.self)
        requestedAt = try reader.time()
        state = try reader.named(ExtensionState.self)
        answerEntry = try reader.optionalInteger()
        nextAt = try reader.time()
        attempts = try reader.integer()
        leasedUntil = try reader.optionalTime()
    }

    init(
        entryKey: Int64, appKey: Int64, originalKey: Int64, requestID: String, days: Int64,
        reason: ExtensionReasonCode, at now: Timestamp
    ) {
        self.entryKey = entryKey
        self.appKey = appKey
        self.originalKey = originalKey
        self.requestID = requestID
        self.days = days
        self.reason = reason
        (requestedAt, nextAt, state, attempts) = (now, now, .open, 0)
    }

    var values: [LedgerValue] {
        [
            .integer(entryKey), .integer(appKey), .integer(originalKey), .text(requestID), .integer(days),
            .text(reason.rawValue), .time(requestedAt), .text(state.rawValue), .integer(answerEntry), .time(nextAt),
            .integer(attempts), .time(leasedUntil),
        ]
    }
}
