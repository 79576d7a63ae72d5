import PurchaseVerification

import struct Foundation.UUID

extension AppMovedDetails: LedgerInput {
    func run(_ write: EntryWrite) throws {
        if let from {
            return try EventsTable(connection: write.connection).reserve(from.event, entry: write.entry.key)
        }
        let history = SettingsHistoryTable(connection: write.connection)
        guard let latest = try history.latest(appKey: write.app.key) else {
            return try write.impossible("the app has no settings before it")
        }
        try AppsTable(connection: write.connection)
            .setMoved(place == nil ? nil : write.entry.key, appKey: write.app.key)
        // With another number, each server reads the settings again before its next write.
        try history.insert(
            appKey: write.app.key, sha256: latest.sha256, body: latest.body, entry: write.entry.key)
    }
}

extension EventsTable {
    /// Takes a number, and those before it, for the ledger that the app of this one came from. The row is of no app, so
    /// nobody is told of it.
    func reserve(_ number: Int64, entry: Int64) throws(LedgerStorageError) {
        try connection.send(
            to: "events",
            "INSERT INTO events (event_key, app_key, entry_key, type, figures) VALUES (?1, 0, ?2, ?3, ?4)",
            [
                .integer(number), .integer(entry), .text(JournalKind.appMoved.name), .blob(EventFigures().encoded),
            ])
    }
}

extension AppsTable {
    /// The apps that moved into other ledgers.
    func moved() throws(LedgerStorageError) -> [Int64: MovedApp] {
        var moved: [Int64: MovedApp] = [:]
        let rows = try connection.rows(
            """
            SELECT apps.app_key, journal.entry_key, journal.entry_id, journal.details FROM apps
            JOIN journal ON journal.entry_key = apps.moved_entry
            """, [])
        for row in rows {
            var reader = row.reader
            let (app, entry, id) = (try reader.integer(), try reader.integer(), try reader.id())
            let details = try AppMovedDetails(encoded: JSONShorthand.json(try reader.blob()))
            moved[app] = MovedApp(
                entry: entry, id: details.act.flatMap { UUID(uuidString: $0) } ?? id, origin: details.origin ?? "",
                place: details.place ?? "", copy: details.copy)
        }
        return moved
    }
}

extension JournalTable {
    /// The newest entry of an app that its new ledger must have. Requests that were refused before the move are counted
    /// a minute later.
    ///
    /// - Parameter after: only entries with greater numbers are looked at.
    func newest(appKey: Int64, after: Int64 = .min) throws(LedgerStorageError) -> Int64? {
        let others = [JournalKind.appMoved, .refusals].map { String($0.rawValue) }.joined(separator: ", ")
        return try connection.integers(
            """
            SELECT entry_key FROM journal WHERE entry_key > ?1 AND app_key = ?2 AND kind NOT IN (\(others))
            ORDER BY entry_key DESC LIMIT 1
            """, [.integer(after), .integer(appKey)]
        ).first
    }
}
