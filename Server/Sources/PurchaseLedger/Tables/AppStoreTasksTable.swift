import PurchaseVerification

struct AppStoreTasksTable {
    let connection: any LedgerConnection

    func row(
        _ kind: AppStoreTaskKind, appKey: Int64, environment: Int64, subject: String
    ) throws(LedgerStorageError) -> AppStoreTaskRow? {
        try AppStoreTaskRow.first(
            "WHERE kind = ?1 AND app_key = ?2 AND environment = ?3 AND subject = ?4",
            [.text(kind.rawValue), .integer(appKey), .integer(environment), .text(subject)], connection)
    }

    /// Adds work, or changes when known work is done. Its progress stays.
    func schedule(
        _ kind: AppStoreTaskKind, appKey: Int64, environment: Int64, subject: String, at next: Timestamp
    ) throws(LedgerStorageError) {
        try connection.send(
            to: "app_store_tasks",
            """
            INSERT INTO app_store_tasks
            (kind, app_key, environment, subject, progress, scheduled, attempts, next_at, leased_until)
            VALUES (?1, ?2, ?3, ?4, NULL, 0, 0, ?5, NULL)
            ON CONFLICT (kind, app_key, environment, subject)
            DO UPDATE SET next_at = ?5, attempts = 0, scheduled = app_store_tasks.scheduled + 1
            """, [.text(kind.rawValue), .integer(appKey), .integer(environment), .text(subject), .time(next)])
    }

    /// The work of apps that is due and that no server does, the longest overdue first.
    func due(
        _ kinds: [AppStoreTaskKind], _ apps: [Int64], at now: Timestamp, leaseEnd: Timestamp, limit: Int64
    ) throws(LedgerStorageError) -> [AppStoreTaskRow] {
        guard !apps.isEmpty, !kinds.isEmpty else { return [] }
        let named = apps.sorted().map { "\($0)" }.joined(separator: ", ")
        let kinds = kinds.map { "'\($0.rawValue)'" }.joined(separator: ", ")
        return try AppStoreTaskRow.all(
            """
            WHERE next_at IS NOT NULL AND next_at <= ?1
            AND (leased_until IS NULL OR leased_until <= ?1 OR leased_until > ?2)
            AND app_key IN (\(named)) AND kind IN (\(kinds))
            ORDER BY next_at, kind, app_key, environment, subject LIMIT ?3
            """, [.time(now), .time(leaseEnd), .integer(limit)], connection)
    }

    func lease(_ row: AppStoreTaskRow, until end: Timestamp) throws(LedgerStorageError) {
        try connection.send(
            to: "app_store_tasks",
            """
            UPDATE app_store_tasks SET leased_until = ?5
            WHERE kind = ?1 AND app_key = ?2 AND environment = ?3 AND subject = ?4
            """,
            [.text(row.kind), .integer(row.appKey), .integer(row.environment), .text(row.subject), .time(end)])
    }

    /// Records where the work continues and when, and the lease of the server that goes on with it.
    func note(
        _ row: AppStoreTaskRow, progress: String?, attempts: Int64, next: Timestamp?, leasedUntil: Timestamp?
    ) throws(LedgerStorageError) {
        try connection.send(
            to: "app_store_tasks",
            """
            UPDATE app_store_tasks SET progress = ?5, attempts = ?6, next_at = ?7, leased_until = ?8
            WHERE kind = ?1 AND app_key = ?2 AND environment = ?3 AND subject = ?4
            """,
            [
                .text(row.kind), .integer(row.appKey), .integer(row.environment), .text(row.subject),
                .text(progress), .integer(attempts), .time(next), .time(leasedUntil),
            ])
    }

    /// The number of tasks that are left, counted up to a limit.
    func count(_ kind: AppStoreTaskKind, limit: Int64) throws(LedgerStorageError) -> Int {
        Int(
            try connection.integers(
                """
                SELECT count(*) FROM (SELECT subject FROM app_store_tasks
                WHERE next_at IS NOT NULL AND kind = ?1 LIMIT ?2) AS waiting
                """, [.text(kind.rawValue), .integer(limit)]
            ).first ?? 0)
    }

    func delete(appKey: Int64, environment: Int64, subject: String) throws(LedgerStorageError) {
        try connection.send(
            to: "app_store_tasks",
            "DELETE FROM app_store_tasks WHERE app_key = ?1 AND environment = ?2 AND subject = ?3",
            [.integer(appKey), .integer(environment), .text(subject)])
    }
}

/// Work with the App Store Server API.
struct AppStoreTaskRow: TableRow {
    static let table = Table(
        "app_store_tasks", key: nil,
        columns: [
            "kind", "app_key", "environment", "subject", "progress", "scheduled", "attempts", "next_at", "leased_until",
        ])

    let kind: String
    let appKey: Int64
    let environment: Int64
    let subject: String
    let progress: String?
    /// How often it was scheduled again.
    let scheduled: Int64
    let attempts: Int64
    /// When it is done; `nil` if nothing is left.
    let nextAt: Timestamp?
    let leasedUntil: Timestamp?

    init(_ reader: inout RowReader) throws(LedgerStorageError) {
        kind = try reader.text()
        appKey = try reader.integer()
        environment = try reader.integer()
        subject = try reader.text()
        progress = try reader.optionalText()
        scheduled = try reader.integer()
        attempts = try reader.integer()
        nextAt = try reader.optionalTime()
        leasedUntil = try reader.optionalTime()
    }
}
