import PurchaseVerification

import struct Foundation.UUID

struct EventsTable {
    let connection: any LedgerConnection

    func insert(_ row: EventRow) throws(LedgerStorageError) {
        _ = try EventRow.table.insert(row.values, connection)
    }

    /// Whether it was told that a customer claimed a purchase of another one.
    func hasConflict(of customer: Int64, with owner: Int64) throws(LedgerStorageError) -> Bool {
        try !connection.rows(
            "SELECT 1 FROM events WHERE customer_key = ?1 AND type = ?2 AND former_key = ?3 LIMIT 1",
            [.integer(customer), .text(EventType.claimConflict.rawValue), .integer(owner)]
        ).isEmpty
    }

    /// Whether events tell somebody else of a purchase that one of some customers had before, or told it until the
    /// erasure of the next owner. It scans the app's events; only an erasure calls it.
    func tellOthers(ofFormer customers: Set<Int64>, appKey: Int64) throws(LedgerStorageError) -> Bool {
        for customer in customers.sorted() {
            let moves = "SELECT entry_key FROM ownership_acts WHERE former_key = ?1 LIMIT 1"
            guard try connection.rows(moves, [.integer(customer)]).isEmpty else { return true }
            for row in try connection.rows(
                "SELECT DISTINCT customer_key FROM events WHERE app_key = ?1 AND former_key = ?2 AND type <> ?3",
                [.integer(appKey), .integer(customer), .text(EventType.claimConflict.rawValue)])
            {
                var reader = row.reader
                if let told = try reader.optionalInteger(), !customers.contains(told) { return true }
            }
        }
        return false
    }

    /// Reduces a customer's events to their type and time. Their numbers stay, since readers continue after a number.
    /// It scans the app's events; only an erasure calls it.
    func erase(of customer: Int64, appKey: Int64) throws(LedgerStorageError) {
        try connection.send(
            to: "events",
            """
            UPDATE events SET former_key = NULL, environment = NULL, product_key = NULL, transaction_key = NULL,
            original_key = NULL, order_key = NULL, figures = ?3 WHERE app_key = ?1 AND customer_key = ?2
            """, [.integer(appKey), .integer(customer), .blob(EventFigures().encoded)])
    }

    /// The number of events of an app after a key, counted up to a limit.
    func count(appKey: Int64, after key: Int64, limit: Int64) throws(LedgerStorageError) -> Int {
        let rows = try connection.rows(
            """
            SELECT count(*) FROM
            (SELECT event_key FROM events WHERE app_key = ?1 AND event_key > ?2 ORDER BY event_key LIMIT ?3) AS later
            """, [.integer(appKey), .integer(key), .integer(limit)])
        guard var reader = rows.first?.reader else { return 0 }
        return Int(try reader.integer())
    }

    /// The newest event of an app; 0 if it has none.
    ///
    /// - Parameter settled: the last event that is considered.
    func newest(appKey: Int64, upTo settled: Int64) throws(LedgerStorageError) -> Int64 {
        let rows = try connection.rows(
            "SELECT event_key FROM events WHERE app_key = ?1 AND event_key <= ?2 ORDER BY event_key DESC LIMIT 1",
            [.integer(appKey), .integer(settled)], of: ["events"])
        guard var reader = rows.first?.reader else { return 0 }
        return try reader.integer()
    }

    /// The condition for events whose time is that of their place: the rows of a merge follow later under its entry.
    private static let isInPlace = "journal.kind <> \(JournalKind.customerMerged.rawValue)"

    /// The newest event of an app in a range of keys, with its time; none of a merge.
    func newest(
        appKey: Int64, in keys: ClosedRange<Int64>
    ) throws(LedgerStorageError) -> (key: Int64, at: Timestamp)? {
        let rows = try connection.rows(
            """
            SELECT events.event_key, journal.at FROM events JOIN journal ON journal.entry_key = events.entry_key
            WHERE events.app_key = ?1 AND events.event_key >= ?2 AND events.event_key <= ?3
            AND \(Self.isInPlace)
            ORDER BY events.event_key DESC LIMIT 1
            """, [.integer(appKey), .integer(keys.lowerBound), .integer(keys.upperBound)], of: ["events"])
        guard var reader = rows.first?.reader else { return nil }
        return (try reader.integer(), try reader.time())
    }

    /// The oldest event that is not older than a time, among the last events of an app up to a key,
    /// without those of merges; `nil` if all are.
    func oldest(
        appKey: Int64, since time: Timestamp, upTo key: Int64, limit: Int64
    ) throws(LedgerStorageError) -> Int64? {
        let rows = try connection.rows(
            """
            SELECT min(late.event_key) FROM (
                SELECT events.event_key, journal.at FROM events JOIN journal ON journal.entry_key = events.entry_key
                WHERE events.app_key = ?1 AND events.event_key <= ?2 AND \(Self.isInPlace)
                ORDER BY events.event_key DESC LIMIT ?4) AS late
            WHERE late.at >= ?3
            """, [.integer(appKey), .integer(key), .time(time), .integer(limit)], of: ["events"])
        guard var reader = rows.first?.reader else { return nil }
        return try reader.optionalInteger()
    }

    /// The events of an app after a key, oldest first.
    func events(appKey: Int64, after key: Int64, limit: Int64) throws(LedgerStorageError) -> [NamedEvent] {
        try named(
            "WHERE events.app_key = ?1 AND events.event_key > ?2 ORDER BY events.event_key LIMIT ?3",
            [.integer(appKey), .integer(key), .integer(limit)])
    }

    /// The events of a customer after a key, oldest first.
    func events(customer: Int64, after key: Int64, limit: Int64) throws(LedgerStorageError) -> [NamedEvent] {
        try named(
            "WHERE events.customer_key = ?1 AND events.event_key > ?2 ORDER BY events.event_key LIMIT ?3",
            [.integer(customer), .integer(key), .integer(limit)])
    }

    /// The events of a customer before a key, the newest first.
    func events(customer: Int64, before key: Int64, limit: Int64) throws(LedgerStorageError) -> [NamedEvent] {
        try named(
            "WHERE events.customer_key = ?1 AND events.event_key < ?2 ORDER BY events.event_key DESC LIMIT ?3",
            [.integer(customer), .integer(key), .integer(limit)])
    }

    /// The entries of a customer's events about a transaction, the newest first.
    ///
    /// - Parameters:
    ///   - customers: the customer, and everybody who was merged into them: events keep the customer whom they named.
    ///   - kind: the kind of entries that are left out.
    func entries(
        of customers: [Int64], transaction: Int64, besides kind: Int64, limit: Int
    ) throws(LedgerStorageError) -> [UUID] {
        var found: [(event: Int64, entry: UUID)] = []
        for customer in customers {
            for row in try connection.rows(
                """
                SELECT events.event_key, journal.entry_id FROM events
                JOIN journal ON journal.entry_key = events.entry_key
                WHERE events.customer_key = ?1 AND events.transaction_key = ?2 AND journal.kind <> ?4
                ORDER BY events.event_key DESC LIMIT ?3
                """, [.integer(customer), .integer(transaction), .integer(Int64(limit)), .integer(kind)])
            {
                var reader = row.reader
                found.append((try reader.integer(), try reader.id()))
            }
        }
        var entries: [UUID] = []
        for (_, entry) in found.sorted(by: { $0.event > $1.event }).prefix(limit) where !entries.contains(entry) {
            entries.append(entry)
        }
        return entries
    }

    /// The events of a transaction in a range of keys, oldest first. It reads every event of the app in the range.
    func events(
        appKey: Int64, transaction: Int64, in range: ClosedRange<Int64>, limit: Int64
    ) throws(LedgerStorageError) -> [NamedEvent] {
        try named(
            """
            WHERE events.app_key = ?1 AND events.event_key >= ?2 AND events.event_key <= ?3
            AND events.transaction_key = ?4 ORDER BY events.event_key LIMIT ?5
            """,
            [
                .integer(appKey), .integer(range.lowerBound), .integer(range.upperBound), .integer(transaction),
                .integer(limit),
            ])
    }

    private func named(_ condition: String, _ values: [LedgerValue]) throws(LedgerStorageError) -> [NamedEvent] {
        // Left joins keep the order of the index.
        let rows = try connection.rows(
            "SELECT \(NamedEvent.columns) FROM events \(NamedEvent.joins) \(condition)", values)
        var events: [NamedEvent] = []
        for row in rows {
            var reader = row.reader
            events.append(try NamedEvent(&reader))
        }
        return events
    }
}
