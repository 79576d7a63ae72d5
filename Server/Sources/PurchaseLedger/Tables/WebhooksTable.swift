import PurchaseVerification

struct WebhooksTable {
    let connection: any LedgerConnection

    /// The number of a stream; `nil` if its environment was never seen.
    func number(of stream: WebhookStream) throws(LedgerStorageError) -> Int64? {
        switch stream {
        case .events: 0
        case .notifications(let environment): try EnvironmentsTable(connection: connection).key(of: environment)
        }
    }

    /// The number of a stream. A new environment gets the next one.
    func numberToWrite(of stream: WebhookStream) throws(LedgerStorageError) -> Int64 {
        switch stream {
        case .events: 0
        case .notifications(let environment): try EnvironmentsTable(connection: connection).keyToWrite(of: environment)
        }
    }

    func stream(of row: WebhookRow) throws(LedgerStorageError) -> WebhookStream {
        guard row.environment != 0 else { return .events }
        return .notifications(try EnvironmentsTable(connection: connection).environment(row.environment))
    }

    func row(appKey: Int64, _ stream: WebhookStream, url: String) throws(LedgerStorageError) -> WebhookRow? {
        guard let environment = try number(of: stream) else { return nil }
        return try WebhookRow.first(
            "WHERE app_key = ?1 AND environment = ?2 AND url = ?3",
            [.integer(appKey), .integer(environment), .text(url)], connection)
    }

    func all(appKey: Int64) throws(LedgerStorageError) -> [WebhookRow] {
        try WebhookRow.all("WHERE app_key = ?1 ORDER BY environment, url", [.integer(appKey)], connection)
    }

    /// Inserts a webhook that begins after an event or an entry.
    func insert(
        appKey: Int64, _ stream: WebhookStream, url: String, after cursor: Int64
    ) throws(LedgerStorageError) {
        try connection.execute(
            "INSERT INTO webhooks (app_key, environment, url, event_cursor, revision) VALUES (?1, ?2, ?3, ?4, 0)",
            [.integer(appKey), .integer(try numberToWrite(of: stream)), .text(url), .integer(cursor)])
    }

    func setLease(_ key: Int64, owner: [UInt8], until: Timestamp) throws(LedgerStorageError) {
        try connection.execute(
            "UPDATE webhooks SET lease_owner = ?2, lease_until = ?3 WHERE webhook_key = ?1",
            [.integer(key), .blob(owner), .time(until)])
    }

    /// Moves the cursor and extends the lease.
    ///
    /// - Returns: whether the owner still has the lease, and the webhook was not changed in the meantime.
    func advance(
        _ key: Int64, owner: [UInt8], revision: Int64, to cursor: Int64, until: Timestamp
    ) throws(LedgerStorageError) -> Bool {
        try connection.execute(
            """
            UPDATE webhooks SET event_cursor = ?4, lease_until = ?5
            WHERE webhook_key = ?1 AND lease_owner = ?2 AND revision = ?3 AND disabled_at IS NULL
            """, [.integer(key), .blob(owner), .integer(revision), .integer(cursor), .time(until)]) == 1
    }

    func release(_ key: Int64, owner: [UInt8]) throws(LedgerStorageError) {
        try connection.execute(
            "UPDATE webhooks SET lease_owner = NULL, lease_until = NULL WHERE webhook_key = ?1 AND lease_owner = ?2",
            [.integer(key), .blob(owner)])
    }

    /// Moves the cursor to another event, and makes the delivering server read it again.
    func move(_ key: Int64, to cursor: Int64) throws(LedgerStorageError) {
        try connection.execute(
            "UPDATE webhooks SET event_cursor = ?2, revision = revision + 1 WHERE webhook_key = ?1",
            [.integer(key), .integer(cursor)])
    }

    /// Disables or enables a webhook, and makes the delivering server read it again.
    func set(_ key: Int64, disabledAt: Timestamp?, reason: String?) throws(LedgerStorageError) {
        try connection.execute(
            "UPDATE webhooks SET disabled_at = ?2, disabled_reason = ?3, revision = revision + 1 WHERE webhook_key = ?1",
            [.integer(key), .time(disabledAt), .text(reason)])
    }
}

/// A receiver of an app's events, or of its notifications, and its progress.
struct WebhookRow: TableRow {
    static let table = Table(
        "webhooks", key: "webhook_key",
        columns: [
            "app_key", "environment", "url", "event_cursor", "revision", "lease_owner", "lease_until", "disabled_at",
            "disabled_reason",
        ])

    let key: Int64
    let appKey: Int64
    /// 0 for events; otherwise the environment of the notifications.
    let environment: Int64
    let url: String
    /// Every event (for notifications, every entry) up to this one was delivered or has a row of its own.
    let cursor: Int64
    /// Counts the changes by operators, so that the server that delivers notices them.
    let revision: Int64
    let leaseOwner: [UInt8]?
    let leaseUntil: Timestamp?
    let disabledAt: Timestamp?
    let disabledReason: String?

    /// What it gets.
    func outgoing(_ connection: any LedgerConnection) -> OutgoingTable {
        OutgoingTable(connection: connection, appKey: appKey, environment: environment)
    }

    init(_ reader: inout RowReader) throws(LedgerStorageError) {
        key = try reader.integer()
        appKey = try reader.integer()
        environment = try reader.integer()
        url = try reader.text()
        cursor = try reader.integer()
        revision = try reader.integer()
        leaseOwner = try reader.optionalBlob()
        leaseUntil = try reader.optionalTime()
        disabledAt = try reader.optionalTime()
        disabledReason = try reader.optionalText()
    }
}

/// A delivery that a webhook did not accept, and the number of attempts.
struct DeliveryRow<Content: Sendable>: Sendable {
    /// The event; for a notification, its entry.
    let content: Content
    let state: WebhookDeliveryState
    let attempts: Int
    let firstAt: Timestamp?
    /// The lane in which it waits, as it was when the event was first attempted.
    let lane: Int64

    init(_ content: Content, _ reader: inout RowReader) throws(LedgerStorageError) {
        self.content = content
        state = try reader.named(WebhookDeliveryState.self)
        attempts = Int(try reader.integer())
        firstAt = try reader.optionalTime()
        lane = try reader.integer()
    }
}

/// What webhooks get, in the order of its keys: the events of an app, or its notifications of an environment.
struct OutgoingTable {
    let connection: any LedgerConnection
    let appKey: Int64
    /// 0 for events.
    let environment: Int64

    private var name: String { environment == 0 ? "events" : "notifications" }
    private var key: String { environment == 0 ? "events.event_key" : "notifications.entry_key" }
    private var ofEnvironment: String { environment == 0 ? "" : "AND environment = \(environment) " }

    /// The rows whose time is that of their place: the events of a merge follow later under its entry.
    private var inPlace: String {
        """
        SELECT \(key) AS place, journal.at FROM \(name) JOIN journal ON journal.entry_key = \(name).entry_key
        WHERE \(name).app_key = ?1 AND journal.kind <> \(JournalKind.customerMerged.rawValue)
        """
    }

    /// The newest row of the app, of any environment; 0 if there is none.
    func newest(upTo settled: Int64) throws(LedgerStorageError) -> Int64 {
        try connection.integers(
            "SELECT \(key) FROM \(name) WHERE app_key = ?1 AND \(key) <= ?2 ORDER BY \(key) DESC LIMIT 1",
            [.integer(appKey), .integer(settled)], of: [name]
        ).first ?? 0
    }

    /// The newest row of the app in a range of keys, with its time.
    func newest(in keys: ClosedRange<Int64>) throws(LedgerStorageError) -> (key: Int64, at: Timestamp)? {
        let rows = try connection.rows(
            "\(inPlace) AND \(key) >= ?2 AND \(key) <= ?3 ORDER BY \(key) DESC LIMIT 1",
            [.integer(appKey), .integer(keys.lowerBound), .integer(keys.upperBound)], of: [name])
        guard var reader = rows.first?.reader else { return nil }
        return (try reader.integer(), try reader.time())
    }

    /// The oldest row that is not older than a time, among the last ones of the app up to a key; `nil` if all are.
    func oldest(since time: Timestamp, upTo last: Int64, limit: Int64) throws(LedgerStorageError) -> Int64? {
        let rows = try connection.rows(
            """
            SELECT min(late.place) FROM (\(inPlace) AND \(key) <= ?2 ORDER BY \(key) DESC LIMIT ?4) AS late
            WHERE late.at >= ?3
            """, [.integer(appKey), .integer(last), .time(time), .integer(limit)], of: [name])
        guard var reader = rows.first?.reader else { return nil }
        return try reader.optionalInteger()
    }

    /// The time of a row, of whatever environment: a notification without one is forwarded with those of production.
    func time(of place: Int64) throws(LedgerStorageError) -> Timestamp? {
        try connection.integers(
            "SELECT at FROM journal WHERE entry_key = (SELECT entry_key FROM \(name) WHERE app_key = ?1 AND \(key) = ?2)",
            [.integer(appKey), .integer(place)]
        ).first.map(Timestamp.init(millisecondsSince1970:))
    }

    /// The time of the first row from a key on; `nil` if there is none.
    func time(from first: Int64) throws(LedgerStorageError) -> Timestamp? {
        try connection.integers(
            """
            SELECT at FROM journal WHERE entry_key = (
                SELECT entry_key FROM \(name) WHERE app_key = ?1 AND \(key) >= ?2 \(ofEnvironment)ORDER BY \(key) LIMIT 1)
            """, [.integer(appKey), .integer(first)]
        ).first.map(Timestamp.init(millisecondsSince1970:))
    }

    /// The number of rows after a key, counted up to a limit.
    func count(after last: Int64, limit: Int64) throws(LedgerStorageError) -> Int {
        let counts = try connection.integers(
            """
            SELECT count(*) FROM (SELECT \(key) FROM \(name)
            WHERE app_key = ?1 AND \(key) > ?2 \(ofEnvironment)ORDER BY \(key) LIMIT ?3) AS later
            """, [.integer(appKey), .integer(last), .integer(limit)])
        return Int(counts.first ?? 0)
    }
}
