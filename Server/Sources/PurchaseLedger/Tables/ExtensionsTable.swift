import PurchaseVerification

struct ExtensionsTable {
    private static let name = "extension_requests"

    let connection: any LedgerConnection

    func row(_ entry: Int64) throws(LedgerStorageError) -> ExtensionRow? {
        try ExtensionRow.first("WHERE entry_key = ?1", [.integer(entry)], connection)
    }

    func row(request: String, appKey: Int64) throws(LedgerStorageError) -> ExtensionRow? {
        try ExtensionRow.first(
            "WHERE app_key = ?1 AND request_id = ?2", [.integer(appKey), .text(request)], connection)
    }

    func insert(_ row: ExtensionRow) throws(LedgerStorageError) {
        try connection.insert(ExtensionRow.table.insertion, row.values)
    }

    /// The requests of apps that are due and that no server works on.
    func due(_ apps: [Int64], at now: Timestamp, limit: Int64) throws(LedgerStorageError) -> [ExtensionRow] {
        guard !apps.isEmpty else { return [] }
        let names = apps.sorted().map { "\($0)" }.joined(separator: ", ")
        return try ExtensionRow.all(
            """
            WHERE state = 'open' AND next_at <= ?1
            AND (leased_until IS NULL OR leased_until <= ?1 OR leased_until > ?2) AND app_key IN (\(names))
            ORDER BY next_at, entry_key LIMIT ?3
            """,
            [.time(now), .integer(now.millisecondsSince1970 + ExtensionRow.lease), .integer(limit)], connection)
    }

    /// The requests for a subscription, the newest first.
    func rows(original: Int64, limit: Int64) throws(LedgerStorageError) -> [ExtensionRow] {
        try ExtensionRow.all(
            "WHERE original_key = ?1 ORDER BY entry_key DESC LIMIT ?2", [.integer(original), .integer(limit)],
            connection)
    }

    func lease(_ entry: Int64, until end: Timestamp) throws(LedgerStorageError) {
        try connection.send(
            to: Self.name, "UPDATE extension_requests SET leased_until = ?2 WHERE entry_key = ?1 AND state = 'open'",
            [.integer(entry), .time(end)])
    }

    func postpone(_ entry: Int64, attempts: Int64, to next: Timestamp) throws(LedgerStorageError) {
        try connection.send(
            to: Self.name,
            """
            UPDATE extension_requests SET attempts = ?2, next_at = ?3, leased_until = NULL
            WHERE entry_key = ?1 AND state = 'open'
            """, [.integer(entry), .integer(attempts), .time(next)])
    }

    func finish(_ entry: Int64, _ state: ExtensionState, answer: Int64) throws(LedgerStorageError) {
        try connection.send(
            to: Self.name,
            """
            UPDATE extension_requests SET state = ?2, answer_entry = ?3, leased_until = NULL WHERE entry_key = ?1
            """, [.integer(entry), .text(state.rawValue), .integer(answer)])
    }
}

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
