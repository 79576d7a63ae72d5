import PurchaseVerification

/// The events of Stripe about subscriptions, each once, with what became of it.
struct StripeEventsTable {
    let connection: any LedgerConnection

    func row(_ id: String, appKey: Int64) throws(LedgerStorageError) -> StripeEventRow? {
        try StripeEventRow.first("WHERE app_key = ?1 AND event_id = ?2", [.integer(appKey), .text(id)], connection)
    }

    /// The event whose state a subscription has.
    func applied(_ subscription: String, appKey: Int64) throws(LedgerStorageError) -> StripeEventRow? {
        try StripeEventRow.first(
            "WHERE app_key = ?1 AND subscription = ?2 AND state = 'applied'", [.integer(appKey), .text(subscription)],
            connection)
    }

    /// The newest held events of all apps.
    func held(limit: Int) throws(LedgerStorageError) -> [StripeEventRow] {
        try StripeEventRow.all(
            "WHERE state = 'held' ORDER BY entry_key DESC LIMIT ?1", [.integer(Int64(limit))], connection)
    }

    /// Writes an event. One that is applied supersedes those before it, held ones included.
    func write(_ row: StripeEventRow) throws(LedgerStorageError) {
        if row.state == .applied {
            try connection.send(
                to: StripeEventRow.table.name,
                """
                UPDATE stripe_events SET state = 'superseded', missing = NULL
                WHERE app_key = ?1 AND subscription = ?2 AND (state = 'applied' OR state = 'held' AND (
                    created < ?3 OR created = ?3 AND (standing < ?4 OR standing = ?4 AND (
                    ends < ?5 OR ends = ?5 AND event_id < ?6))))
                """,
                [
                    .integer(row.appKey), .text(row.subscription), .integer(row.created), .integer(row.standing),
                    .integer(row.ends), .text(row.eventID),
                ])
        }
        try connection.send(
            to: StripeEventRow.table.name,
            """
            INSERT INTO stripe_events (entry_key, app_key, event_id, subscription, created, standing, ends, state, missing)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)
            ON CONFLICT (event_id, app_key) DO UPDATE
            SET entry_key = ?1, subscription = ?4, created = ?5, standing = ?6, ends = ?7, state = ?8, missing = ?9
            """, row.values)
    }
}

/// An event of Stripe about a subscription.
struct StripeEventRow: TableRow {
    static let table = Table(
        "stripe_events", key: nil,
        columns: [
            "entry_key", "app_key", "event_id", "subscription", "created", "standing", "ends", "state", "missing",
        ])

    var entryKey: Int64
    var appKey: Int64
    var eventID: String
    var subscription: String
    /// In seconds since 1970.
    var created: Int64
    /// `StripeEvent.rank`.
    var standing: Int64
    /// The latest end of a period of the subscription, in seconds since 1970.
    var ends: Int64
    var state: State
    /// What a held event waits for.
    var missing: String?

    enum State: String, Codable, Sendable {
        case applied, superseded, held
    }

    init(_ reader: inout RowReader) throws(LedgerStorageError) {
        entryKey = try reader.integer()
        appKey = try reader.integer()
        eventID = try reader.text()
        subscription = try reader.text()
        created = try reader.integer()
        standing = try reader.integer()
        ends = try reader.integer()
        state = try reader.named(State.self)
        missing = try reader.optionalText()
    }

    var values: [LedgerValue] {
        [
            .integer(entryKey), .integer(appKey), .text(eventID), .text(subscription), .integer(created),
            .integer(standing), .integer(ends), .text(state.rawValue), .text(missing),
        ]
    }
}
