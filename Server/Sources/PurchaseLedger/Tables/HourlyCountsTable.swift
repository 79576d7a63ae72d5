import PurchaseVerification

/// How often something was recorded, by hour.
struct HourlyCountsTable {
    /// How long an hour is kept, in milliseconds: 400 days, so that a year ago can be looked at.
    static let lifetime: Int64 = 400 * 86_400_000

    let connection: any LedgerConnection

    func add(_ count: HourlyCount, app: String) throws(LedgerStorageError) {
        try connection.send(
            to: "hourly_counts",
            """
            INSERT INTO hourly_counts (hour, app, kind, code, count) VALUES (?1, ?2, ?3, ?4, ?5)
            ON CONFLICT (hour, app, kind, code) DO UPDATE SET count = hourly_counts.count + ?5
            """,
            [.time(count.hour), .text(app), .text(count.kind), .text(count.code), .integer(count.count)])
    }

    func delete(before hour: Timestamp) throws(LedgerStorageError) {
        try connection.send(to: "hourly_counts", "DELETE FROM hourly_counts WHERE hour < ?1", [.time(hour)])
    }

    /// The counts of an app from one hour to before another, in the order of the hours.
    func counts(
        of app: String, from: Timestamp, to: Timestamp
    ) throws(LedgerStorageError) -> [HourlyCount] {
        var counts: [HourlyCount] = []
        for row in try connection.rows(
            """
            SELECT hour, kind, code, count FROM hourly_counts
            WHERE hour >= ?2 AND hour < ?3 AND app = ?1 ORDER BY hour, kind, code
            """, [.text(app), .time(from), .time(to)])
        {
            var reader = row.reader
            counts.append(
                HourlyCount(
                    hour: try reader.time(), kind: try reader.text(), code: try reader.text(),
                    count: try reader.integer()))
        }
        return counts
    }
}
