import PurchaseVerification

import struct Foundation.UUID

/// `app_moved`: an app moves to another ledger, or moved whole; without a place, it is here again. As the first entry
/// of a ledger it says where its app came from.
struct AppMovedDetails: LedgerInput {
    static var kind: JournalKind { .appMoved }
    /// Why the webhooks of the app are disabled.
    static let reason = "the app moved to another ledger"

    /// The origin of the new log.
    var origin: String?
    /// Where to ask for the app.
    var place: String?
    /// The id of the entry that ended the app here, and of the copy that is its ledger; `nil` until that is finished.
    var act: String?
    var copy: String?
    var from: From?

    /// The log that the entries of an app were in before: a checkpoint that covers them and the act that moved them.
    struct From: Codable, Sendable {
        var app: String
        var origin: String
        var size: Int64
        /// In hexadecimal.
        var root: String
        /// The id of the act.
        var entry: String
        /// A number that no reader of the app can have as a cursor. Later events have greater ones.
        var event: Int64 = 0
        /// The hashes of its evidence that erasures of other apps deleted, in hexadecimal.
        var erased: [String] = []

        init(_ app: String, _ checkpoint: Checkpoint, entry: String) {
            (self.app, origin, size) = (app, checkpoint.origin, checkpoint.size)
            (root, self.entry) = (checkpoint.root.bytes.hexadecimal, entry)
        }

        /// Where the app of a ledger came from; `nil` if its first entry does not say that.
        static func of(_ connection: any LedgerConnection) throws(LedgerStorageError) -> From? {
            let row = try JournalTable(connection: connection).row(key: 0)
            guard let row, let leaf = JournalLeaf(bytes: row.leaf), leaf.kind == .appMoved, let salt = row.salt,
                let details = row.details, Journal.digest(salt: salt, details: details) == leaf.details
            else { return nil }
            return try AppMovedDetails(encoded: details).from
        }
    }

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
