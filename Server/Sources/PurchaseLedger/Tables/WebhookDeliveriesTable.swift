import PurchaseVerification

/// The events that a webhook did not accept at the first attempt, and those that wait behind them; for notifications,
/// their entries.
struct WebhookDeliveriesTable {
    private static let insertion = LedgerInsertion(
        "webhook_deliveries",
        ["webhook_key", "event_key", "lane", "state", "attempts", "first_at", "next_at", "last_error"],
        onConflict: ["webhook_key", "event_key"],
        """
        DO UPDATE SET state = excluded.state, attempts = excluded.attempts,
        first_at = excluded.first_at, next_at = excluded.next_at,
        last_error = coalesce(excluded.last_error, webhook_deliveries.last_error)
        """)

    let connection: any LedgerConnection

    /// The condition for rows in the queue of their lane. The index of lanes has the same condition.
    private static let queued = "state IN ('waiting', 'retry', 'gap')"

    /// The customers with waiting events.
    func lanes(_ webhook: Int64) throws(LedgerStorageError) -> [Int64] {
        try connection.integers(
            "SELECT DISTINCT lane FROM webhook_deliveries WHERE webhook_key = ?1 AND \(Self.queued)",
            [.integer(webhook)])
    }

    /// The condition for rows of events that were given up. Of those with a gap, the customer's next delivery tells.
    private static let givenUp = "state IN ('dead', 'gap')"

    /// The number of events that are to be attempted again, or wait, and were not given up.
    func waitingCount(_ webhook: Int64) throws(LedgerStorageError) -> Int {
        let counts = try connection.integers(
            "SELECT count(*) FROM webhook_deliveries WHERE webhook_key = ?1 AND NOT \(Self.givenUp)",
            [.integer(webhook)])
        return Int(counts.first ?? 0)
    }

    /// The number of events of which something is still to be delivered: they, or the gap that tells of them.
    func pendingCount(_ webhook: Int64) throws(LedgerStorageError) -> Int {
        let counts = try connection.integers(
            "SELECT count(*) FROM webhook_deliveries WHERE webhook_key = ?1 AND state <> 'dead'", [.integer(webhook)])
        return Int(counts.first ?? 0)
    }

    /// The number of events that were given up, or of the others, counted up to a limit.
    func count(_ webhook: Int64, isDead: Bool, limit: Int64) throws(LedgerStorageError) -> Int {
        let counts = try connection.integers(
            """
            SELECT count(*) FROM (SELECT event_key FROM webhook_deliveries
            WHERE webhook_key = ?1 AND \(isDead ? "" : "NOT ")\(Self.givenUp) LIMIT ?2) AS counted
            """, [.integer(webhook), .integer(limit)])
        return Int(counts.first ?? 0)
    }

    /// The oldest event that was attempted, and neither delivered nor given up; `nil` if there is none.
    func first(_ webhook: Int64) throws(LedgerStorageError) -> Int64? {
        try connection.integers(
            "SELECT event_key FROM webhook_deliveries WHERE webhook_key = ?1 AND \(Self.queued) ORDER BY event_key LIMIT 1",
            [.integer(webhook)]
        ).first
    }

    private static let due =
        "next_at IS NOT NULL AND next_at <= ?2 ORDER BY next_at, webhook_deliveries.event_key LIMIT ?3"

    /// The events whose next attempt is due, the longest overdue first.
    func due(_ webhook: Int64, at now: Timestamp, limit: Int64) throws(LedgerStorageError) -> [DeliveryRow<NamedEvent>]
    {
        try pending(Self.due, [.integer(webhook), .time(now), .integer(limit)])
    }

    /// The entries of the notifications whose next attempt is due, the longest overdue first.
    func dueEntries(
        _ webhook: Int64, at now: Timestamp, limit: Int64
    ) throws(LedgerStorageError) -> [DeliveryRow<Int64>] {
        let rows = try connection.rows(
            "SELECT event_key, state, attempts, first_at, lane FROM webhook_deliveries WHERE webhook_key = ?1 AND \(Self.due)",
            [.integer(webhook), .time(now), .integer(limit)])
        var due: [DeliveryRow<Int64>] = []
        for row in rows {
            var reader = row.reader
            due.append(try DeliveryRow(try reader.integer(), &reader))
        }
        return due
    }

    /// The events that wait behind one, in order.
    func waiting(
        _ webhook: Int64, lane: Int64, limit: Int64
    ) throws(LedgerStorageError) -> [DeliveryRow<NamedEvent>] {
        try pending(
            "lane = ?2 AND \(Self.queued) AND state = 'waiting' ORDER BY webhook_deliveries.event_key LIMIT ?3",
            [.integer(webhook), .integer(lane), .integer(limit)])
    }

    private func pending(
        _ condition: String, _ parameters: [LedgerValue]
    ) throws(LedgerStorageError) -> [DeliveryRow<NamedEvent>] {
        let rows = try connection.rows(
            """
            SELECT \(NamedEvent.columns), state, attempts, first_at, lane FROM webhook_deliveries
            JOIN events ON events.event_key = webhook_deliveries.event_key \(NamedEvent.joins)
            WHERE webhook_key = ?1 AND \(condition)
            """, parameters)
        var pending: [DeliveryRow<NamedEvent>] = []
        for row in rows {
            var reader = row.reader
            pending.append(try DeliveryRow(try NamedEvent(&reader), &reader))
        }
        return pending
    }

    /// What is stored about some events, by event.
    func rows(
        _ webhook: Int64, events: [Int64]
    ) throws(LedgerStorageError) -> [Int64: (state: WebhookDeliveryState, attempts: Int, lastError: String?)] {
        var found: [Int64: (state: WebhookDeliveryState, attempts: Int, lastError: String?)] = [:]
        for row in try connection.rows(
            """
            SELECT event_key, state, attempts, last_error FROM webhook_deliveries
            WHERE event_key IN (\(LedgerValue.places(events.count))) AND webhook_key = ?\(events.count + 1)
            """, events.map { .integer($0) } + [.integer(webhook)])
        {
            var reader = row.reader
            found[try reader.integer()] = (
                try reader.named(WebhookDeliveryState.self), Int(try reader.integer()), try reader.optionalText()
            )
        }
        return found
    }

    func put(_ event: UndeliveredEvent, webhook: Int64) throws(LedgerStorageError) {
        try connection.insert(
            Self.insertion,
            [
                .integer(webhook), .integer(event.eventKey), .integer(event.customer), .text(event.state.rawValue),
                .integer(Int64(event.attempts)), .time(event.firstAt), .time(event.nextAt), .text(event.lastError),
            ])
    }

    func delete(_ event: Int64, webhook: Int64) throws(LedgerStorageError) {
        try connection.send(
            to: "webhook_deliveries",
            "DELETE FROM webhook_deliveries WHERE webhook_key = ?1 AND event_key = ?2",
            [.integer(webhook), .integer(event)])
    }

    /// Deletes the rows of the events after one.
    func delete(_ webhook: Int64, after event: Int64) throws(LedgerStorageError) {
        try connection.send(
            to: "webhook_deliveries", "DELETE FROM webhook_deliveries WHERE webhook_key = ?1 AND event_key > ?2",
            [.integer(webhook), .integer(event)])
    }

    /// Makes the first event of a lane due, if it waits. Calling it again changes nothing.
    ///
    /// - Returns: whether the lane has an event.
    func makeNextDue(lane: Int64, webhook: Int64, at now: Timestamp) throws(LedgerStorageError) -> Bool {
        let first = try connection.integers(
            """
            SELECT event_key FROM webhook_deliveries WHERE webhook_key = ?1 AND lane = ?2 AND \(Self.queued)
            ORDER BY event_key LIMIT 1
            """, [.integer(webhook), .integer(lane)]
        ).first
        guard let first else { return false }
        try connection.send(
            to: "webhook_deliveries",
            """
            UPDATE webhook_deliveries SET state = 'retry', next_at = ?3
            WHERE webhook_key = ?1 AND event_key = ?2 AND state = 'waiting'
            """, [.integer(webhook), .integer(first), .time(now)])
        return true
    }

    /// Makes events that were given up due, out of order.
    ///
    /// - Parameter event: the event; `nil` for all.
    /// - Returns: the number of events, including those that were made due earlier and are not delivered yet.
    func resend(_ webhook: Int64, event: Int64?, at now: Timestamp) throws(LedgerStorageError) -> Int {
        let one = event.map { _ in " AND event_key = ?3" } ?? ""
        return try connection.execute(
            """
            UPDATE webhook_deliveries SET state = 'resend', attempts = 0, first_at = NULL, next_at = ?2
            WHERE webhook_key = ?1 AND state IN ('dead', 'resend')\(one)
            """, [.integer(webhook), .time(now)] + (event.map { [.integer($0)] } ?? []))
    }

    /// The events or notifications that were given up, oldest first.
    func dead(_ webhook: WebhookRow, limit: Int64) throws(LedgerStorageError) -> [DeadDelivery] {
        let (type, entry, join) =
            webhook.environment == 0
            ? (
                "events.type", "events.entry_key",
                "JOIN events ON events.event_key = webhook_deliveries.event_key"
            )
            : (
                "coalesce(notifications.type, '')", "webhook_deliveries.event_key",
                """
                LEFT JOIN notifications ON notifications.app_key = ?3
                AND notifications.entry_key = webhook_deliveries.event_key
                """
            )
        let rows = try connection.rows(
            """
            SELECT webhook_deliveries.event_key, \(type), attempts, first_at, last_error, entry_id
            FROM webhook_deliveries \(join)
            JOIN journal ON journal.entry_key = \(entry)
            WHERE webhook_key = ?1 AND \(Self.givenUp) ORDER BY webhook_deliveries.event_key LIMIT ?2
            """,
            [.integer(webhook.key), .integer(limit)] + (webhook.environment == 0 ? [] : [.integer(webhook.appKey)]))
        var dead: [DeadDelivery] = []
        for row in rows {
            var reader = row.reader
            var delivery = DeadDelivery(
                event: try reader.integer(), id: "", type: try reader.text(), attempts: Int(try reader.integer()),
                firstAt: try reader.optionalTime(), lastError: try reader.optionalText())
            let entry = try reader.id()
            delivery.id =
                webhook.environment == 0 ? EventContent.id(of: delivery.event, in: entry) : entry.text
            dead.append(delivery)
        }
        return dead
    }
}
