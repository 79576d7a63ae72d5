import PurchaseVerification

/// The notifications that were received, each once, with the entry of its first delivery.
struct NotificationsTable {
    static let name = "notifications"
    static let byID = ReadShape(
        "SELECT entry_key FROM notifications WHERE app_key = ?1 AND environment = ?2 AND notification_id = ?3",
        of: ReadScope("notifications", by: "app_key", "environment", "notification_id"), [.value, .value, .value])
    private static let insertion = LedgerInsertion(
        "notifications", ["app_key", "environment", "notification_id", "entry_key", "type", "subtype"])

    let connection: any LedgerConnection

    /// The entry of a notification; `nil` if it was not received.
    func entry(_ id: String, appKey: Int64, environment: Int64) throws(LedgerStorageError) -> Int64? {
        try connection.integers(Self.byID, [.integer(appKey), .integer(environment), .text(id)]).first
    }

    /// The entries of an app's notifications after an entry, oldest first, with their environments; 0 for one that
    /// states none.
    func entries(
        appKey: Int64, after entry: Int64, limit: Int64
    ) throws(LedgerStorageError) -> [(entry: Int64, environment: Int64)] {
        let rows = try connection.rows(
            """
            SELECT entry_key, environment FROM notifications WHERE app_key = ?1 AND entry_key > ?2
            ORDER BY entry_key LIMIT ?3
            """, [.integer(appKey), .integer(entry), .integer(limit)])
        var entries: [(entry: Int64, environment: Int64)] = []
        for row in rows {
            var reader = row.reader
            entries.append((try reader.integer(), try reader.integer()))
        }
        return entries
    }

    /// When the newest notification of an app and environment was received; `nil` if none was.
    func newest(appKey: Int64, environment: Int64) throws(LedgerStorageError) -> Timestamp? {
        let rows = try connection.rows(
            """
            SELECT at FROM journal WHERE entry_key = (
                SELECT entry_key FROM notifications WHERE app_key = ?1 AND environment = ?2
                ORDER BY entry_key DESC LIMIT 1)
            """, [.integer(appKey), .integer(environment)])
        guard var reader = rows.first?.reader else { return nil }
        return try reader.time()
    }

    func insert(
        _ id: String, type: String?, subtype: String?, appKey: Int64, environment: Int64, entry: Int64
    ) throws(LedgerStorageError) {
        try connection.insert(
            Self.insertion,
            [
                .integer(appKey), .integer(environment), .text(id), .integer(entry), .text(type), .text(subtype),
            ])
    }
}

/// The request bodies of notifications that differ from the usual form, so that they can be forwarded unchanged.
/// Each belongs to the evidence in it, and is erased with it.
struct NotificationBodiesTable {
    /// The form in which the App Store sends notifications: nothing but the signed payload.
    private static let usual = (before: Array(#"{"signedPayload":""#.utf8), after: Array(#""}"#.utf8))
    private static let insertion = LedgerInsertion("notification_bodies", ["evidence_key", "body"])

    let connection: any LedgerConnection

    /// The body in the usual form.
    static func usualBody(of signedPayload: [UInt8]) -> [UInt8] { usual.before + signedPayload + usual.after }

    func insert(_ body: [UInt8], evidence: Int64) throws(LedgerStorageError) {
        try connection.insert(Self.insertion, [.integer(evidence), .blob(body)])
    }

    /// The body around the evidence of a notification; `nil` if it has the usual form.
    func body(evidence: Int64) throws(LedgerStorageError) -> [UInt8]? {
        let rows = try connection.rows(
            "SELECT body FROM notification_bodies WHERE evidence_key = ?1", [.integer(evidence)],
            of: ["notification_bodies"])
        guard var reader = rows.first?.reader else { return nil }
        return try reader.blob()
    }

    func delete(evidence: Int64) throws(LedgerStorageError) {
        try connection.send(
            to: "notification_bodies", "DELETE FROM notification_bodies WHERE evidence_key = ?1", [.integer(evidence)])
    }
}
