import PurchaseVerification

/// The ids of seats that were unclaimed before they were claimed, or whose claims were erased. They are never claimed
/// again.
struct UnclaimedSeatsTable {
    private static let insertion = LedgerInsertion(
        "unclaimed_seats", ["app_key", "seat_id", "entry_key"], onConflict: ["app_key", "seat_id"], "DO NOTHING")

    let connection: any LedgerConnection

    /// Whether exactly this id was unclaimed in an environment. A notification of another environment does not count;
    /// the erasure of a claim, and a notification that states no environment, count for all.
    func contains(_ id: String, appKey: Int64, environment: Int64) throws(LedgerStorageError) -> Bool {
        let rows = try connection.rows(
            """
            SELECT notifications.environment FROM unclaimed_seats
            LEFT JOIN notifications ON notifications.app_key = unclaimed_seats.app_key
            AND notifications.entry_key = unclaimed_seats.entry_key
            WHERE unclaimed_seats.app_key = ?1 AND unclaimed_seats.seat_id = ?2
            """, [.integer(appKey), .text(id)], of: ["unclaimed_seats", "notifications"])
        guard var reader = rows.first?.reader else { return false }
        let stated = try reader.optionalInteger() ?? 0
        return stated == 0 || stated == environment
    }

    func insertIfNew(_ id: String, appKey: Int64, entry: Int64) throws(LedgerStorageError) {
        try connection.insert(Self.insertion, [.integer(appKey), .text(id), .integer(entry)])
    }
}
