import PurchaseVerification

struct ExtensionsTable {
    let connection: any LedgerConnection

    func row(_ entry: Int64) throws(LedgerStorageError) -> ExtensionRow? {
        try ExtensionRow.first("WHERE entry_key = ?1", [.integer(entry)], connection)
    }

    func row(request: String, appKey: Int64) throws(LedgerStorageError) -> ExtensionRow? {
        try ExtensionRow.first(
            "WHERE app_key = ?1 AND request_id = ?2", [.integer(appKey), .text(request)], connection)
    }

    /// Adds a request, for which Apple is asked at once.
    func insert(_ row: ExtensionRow) throws(LedgerStorageError) {
        try connection.insert(ExtensionRow.table.insertion, row.values)
        try WorkTable(connection: connection).schedule(row.work, at: row.requestedAt, since: row.requestedAt)
    }

    /// The requests for a subscription, the newest first.
    func rows(original: Int64, limit: Int64) throws(LedgerStorageError) -> [ExtensionRow] {
        try ExtensionRow.all(
            "WHERE original_key = ?1 ORDER BY entry_key DESC LIMIT ?2", [.integer(original), .integer(limit)],
            connection)
    }

    func finish(_ row: ExtensionRow, _ state: ExtensionState, answer: Int64) throws(LedgerStorageError) {
        try connection.send(
            to: "extension_requests",
            "UPDATE extension_requests SET state = ?2, answer_entry = ?3 WHERE entry_key = ?1",
            [.integer(row.entryKey), .text(state.rawValue), .integer(answer)])
        try WorkTable(connection: connection).delete(row.work)
    }
}

/// An operator's request that Apple extends a subscription.
struct ExtensionRow: TableRow {
    static let table = Table(
        "extension_requests", key: nil,
        columns: [
            "entry_key", "app_key", "original_key", "request_id", "days", "reason", "requested_at", "state",
            "answer_entry",
        ])
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
        (requestedAt, state) = (now, .open)
    }

    var values: [LedgerValue] {
        [
            .integer(entryKey), .integer(appKey), .integer(originalKey), .text(requestID), .integer(days),
            .text(reason.rawValue), .time(requestedAt), .text(state.rawValue), .integer(answerEntry),
        ]
    }

    /// The question to Apple.
    var work: WorkKey { WorkKey(.extension, appKey: appKey, entry: entryKey) }
}
