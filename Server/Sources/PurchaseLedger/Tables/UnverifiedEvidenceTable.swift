import PurchaseVerification

/// The bytes of unverified evidence that were stored, by day. They only limit what is stored later: no entry, fact or
/// entitlement depends on them.
struct UnverifiedEvidenceTable {
    private static let millisecondsPerDay: Int64 = 86_400_000

    let connection: any LedgerConnection

    /// The number of a day in UTC.
    static func day(_ moment: Timestamp) -> Int64 { moment.millisecondsSince1970 / millisecondsPerDay }

    /// When the day in UTC of a moment began.
    static func beginning(ofDayAt moment: Timestamp) -> Timestamp {
        Timestamp(millisecondsSince1970: day(moment) * millisecondsPerDay)
    }

    /// The bytes kept on a day.
    ///
    /// - Parameter key: the API key that sent them; empty for the whole app.
    func bytes(app: Int64, key: String, day: Int64) throws(LedgerStorageError) -> Int64 {
        let rows = try connection.rows(
            "SELECT bytes FROM unverified_evidence WHERE app_key = ?1 AND key_id = ?2 AND day = ?3",
            [.integer(app), .text(key), .integer(day)], of: ["unverified_evidence"])
        guard var reader = rows.first?.reader else { return 0 }
        return try reader.integer()
    }

    /// Adds bytes to a day, and deletes the days before it.
    func add(_ bytes: Int64, app: Int64, key: String, day: Int64) throws(LedgerStorageError) {
        try connection.send(
            to: "unverified_evidence",
            "DELETE FROM unverified_evidence WHERE app_key = ?1 AND key_id = ?2 AND day < ?3",
            [.integer(app), .text(key), .integer(day)])
        try connection.send(
            to: "unverified_evidence",
            """
            INSERT INTO unverified_evidence (app_key, key_id, day, bytes) VALUES (?1, ?2, ?3, ?4)
            ON CONFLICT (app_key, key_id, day) DO UPDATE SET bytes = unverified_evidence.bytes + excluded.bytes
            """, [.integer(app), .text(key), .integer(day), .integer(bytes)])
    }
}
