import PurchaseVerification

/// What a server has to ask the App Store or to tell it: what is done next, when, and by whom.
///
/// What follows for customers is in other tables, which the journal determines. So nothing here is compared by an
/// audit; what is missing for a claim, a refund request or an extension is scheduled at the next start
/// (`AdoptWork`).
struct WorkTable {
    /// In milliseconds: the App Store is asked again after an hour at most.
    private static let longestPause: Int64 = 7_200_000

    let connection: any LedgerConnection

    func row(_ key: WorkKey) throws(LedgerStorageError) -> WorkRow? {
        try WorkRow.first(key.condition, key.values, connection)
    }

    /// Adds work, or changes when known work is done. Its progress stays.
    func schedule(
        _ key: WorkKey, at next: Timestamp, since: Timestamp, leasedUntil: Timestamp? = nil
    ) throws(LedgerStorageError) {
        try connection.send(
            to: "work",
            """
            INSERT INTO work
            (kind, app_key, environment, subject, progress, scheduled, attempts, since, next_at, leased_until)
            VALUES (?1, ?2, ?3, ?4, NULL, 0, 0, ?5, ?6, ?7)
            ON CONFLICT (kind, app_key, environment, subject)
            DO UPDATE SET next_at = ?6, attempts = 0, scheduled = work.scheduled + 1
            """, key.values + [.time(since), .time(next), .time(leasedUntil)])
    }

    /// The work of a kind that is due and that no server does, the longest overdue first.
    ///
    /// - Parameters:
    ///   - apps: the keys of the apps that count.
    ///   - end: the end of a lease that begins now. One that ends later was taken by a clock that has been set back.
    ///   - since: leaves out what was scheduled later.
    func due(
        _ kind: WorkKind, _ apps: [Int64], at now: Timestamp, leaseEnd end: Timestamp, since: Timestamp?, limit: Int
    ) throws(LedgerStorageError) -> [WorkRow] {
        guard !apps.isEmpty, limit > 0 else { return [] }
        let named = apps.sorted().map { "\($0)" }.joined(separator: ", ")
        return try WorkRow.all(
            """
            WHERE kind = ?1 AND next_at IS NOT NULL AND next_at <= ?2 AND since <= ?3
            AND (leased_until IS NULL OR leased_until <= ?2 OR leased_until > ?4) AND app_key IN (\(named))
            ORDER BY next_at, app_key, environment, subject LIMIT ?5
            """,
            [
                .text(kind.rawValue), .time(now), .integer(since?.millisecondsSince1970 ?? .max), .time(end),
                .integer(Int64(limit)),
            ], connection)
    }

    func lease(_ key: WorkKey, until end: Timestamp) throws(LedgerStorageError) {
        try connection.send(
            to: "work", "UPDATE work SET leased_until = ?5 \(key.condition)", key.values + [.time(end)])
    }

    /// Records where the work continues and when, and the lease of the server that goes on with it.
    func note(
        _ key: WorkKey, progress: String?, attempts: Int64, next: Timestamp?, leasedUntil: Timestamp?
    ) throws(LedgerStorageError) {
        try connection.send(
            to: "work",
            "UPDATE work SET progress = ?5, attempts = ?6, next_at = ?7, leased_until = ?8 \(key.condition)",
            key.values + [.text(progress), .integer(attempts), .time(next), .time(leasedUntil)])
    }

    /// Makes all work of a kind due that waits for a later attempt.
    func makeDue(_ kind: WorkKind, at now: Timestamp) throws(LedgerStorageError) {
        try connection.send(
            to: "work", "UPDATE work SET next_at = ?2 WHERE kind = ?1 AND next_at IS NOT NULL AND next_at > ?2",
            [.text(kind.rawValue), .time(now)])
    }

    /// The work of a kind that is left, counted up to a limit.
    func waiting(_ kind: WorkKind, limit: Int) throws(LedgerStorageError) -> WaitingWork {
        let rows = try connection.rows(
            """
            SELECT count(*), min(since) FROM
            (SELECT since FROM work WHERE kind = ?1 AND next_at IS NOT NULL ORDER BY next_at LIMIT ?2) AS waiting
            """, [.text(kind.rawValue), .integer(Int64(limit))])
        guard var reader = rows.first?.reader else { return WaitingWork(count: 0) }
        return WaitingWork(count: Int(try reader.integer()), oldest: try reader.optionalTime())
    }

    func delete(_ key: WorkKey) throws(LedgerStorageError) {
        try connection.send(to: "work", "DELETE FROM work \(key.condition)", key.values)
    }

    /// Deletes all work with an original of the App Store's.
    func delete(appKey: Int64, environment: Int64, original: String) throws(LedgerStorageError) {
        for kind in WorkKind.allCases where !kind.isOfEntry {
            try delete(WorkKey(kind, appKey: appKey, environment: environment, subject: original))
        }
    }

    /// Schedules what is open according to the tables of claims, refund requests and extensions, and has no row, or one
    /// that never becomes due or later than any pause.
    func adopt(at now: Timestamp) throws(LedgerStorageError) {
        let time = now.millisecondsSince1970
        let entry = ["0", "CAST(entry_key AS TEXT)"]
        for (kind, subject, since, source) in [
            (WorkKind.claim, entry, "received_at", "app_store_claims WHERE answer_entry IS NULL"),
            (.refund, entry, "asked_at", "consumption_requests WHERE state = 'open' AND deadline > \(time)"),
            (.extension, entry, "requested_at", "extension_requests WHERE state = 'open'"),
            (
                .externalPurchase, ["environment", "external_id"], "coalesce(items_since, token_due_at)",
                """
                external_purchases WHERE (is_refused = 0 OR is_overdue = 0)
                AND (items_since IS NOT NULL OR token_due_at <= \(time)
                AND (status IS NULL OR is_duplicate = 1 AND status NOT IN ('LINE_ITEM', 'DUPLICATE_TOKEN')))
                """
            ),
        ] {
            try connection.send(
                to: "work",
                """
                INSERT INTO work
                (kind, app_key, environment, subject, progress, scheduled, attempts, since, next_at, leased_until)
                SELECT '\(kind.rawValue)', app_key, \(subject.joined(separator: ", ")), NULL, 0, 0, \(since), \(time), NULL
                FROM \(source) ON CONFLICT (kind, app_key, environment, subject)
                DO UPDATE SET next_at = \(time) WHERE work.next_at IS NULL OR work.next_at > \(time + Self.longestPause)
                """, [])
        }
    }
}

/// What identifies a piece of work.
struct WorkKey: Equatable {
    let kind: WorkKind
    let appKey: Int64
    /// 0 for work with an entry.
    let environment: Int64
    let subject: String

    init(_ kind: WorkKind, appKey: Int64, environment: Int64, subject: String) {
        (self.kind, self.appKey, self.environment, self.subject) = (kind, appKey, environment, subject)
    }

    /// The work that an entry gave reason for.
    init(_ kind: WorkKind, appKey: Int64, entry: Int64) {
        self.init(kind, appKey: appKey, environment: 0, subject: "\(entry)")
    }

    fileprivate var condition: String { "WHERE kind = ?1 AND app_key = ?2 AND environment = ?3 AND subject = ?4" }

    fileprivate var values: [LedgerValue] {
        [.text(kind.rawValue), .integer(appKey), .integer(environment), .text(subject)]
    }
}

/// A piece of work.
struct WorkRow: TableRow {
    static let table = Table(
        "work", key: nil,
        columns: [
            "kind", "app_key", "environment", "subject", "progress", "scheduled", "attempts", "since", "next_at",
            "leased_until",
        ])

    let key: WorkKey
    let progress: String?
    /// How often it was scheduled again.
    let scheduled: Int64
    let attempts: Int64
    let since: Timestamp
    /// When it is done; `nil` if nothing is left.
    let nextAt: Timestamp?
    let leasedUntil: Timestamp?

    init(_ reader: inout RowReader) throws(LedgerStorageError) {
        key = WorkKey(
            try reader.named(WorkKind.self), appKey: try reader.integer(), environment: try reader.integer(),
            subject: try reader.text())
        progress = try reader.optionalText()
        scheduled = try reader.integer()
        attempts = try reader.integer()
        since = try reader.time()
        nextAt = try reader.optionalTime()
        leasedUntil = try reader.optionalTime()
    }
}
