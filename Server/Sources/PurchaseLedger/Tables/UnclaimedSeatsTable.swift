import PurchaseVerification

/// The ids of seats that were unclaimed before they were claimed, or whose claims were erased. They are never claimed
/// again.
struct UnclaimedSeatsTable {
    private static let insertion = LedgerInsertion(
        "unclaimed_seats", ["app_key", "seat_id", "entry_key"], onConflict: ["app_key", "seat_id"], "DO NOTHING")

    let connection: any LedgerConnection

    func contains(_ id: String, appKey: Int64) throws(LedgerStorageError) -> Bool {
        try !connection.rows(
            "SELECT 1 FROM unclaimed_seats WHERE app_key = ?1 AND seat_id = ?2", [.integer(appKey), .text(id)],
            of: ["unclaimed_seats"]
        ).isEmpty
    }

    func insertIfNew(_ id: String, appKey: Int64, entry: Int64) throws(LedgerStorageError) {
        try connection.insert(Self.insertion, [.integer(appKey), .text(id), .integer(entry)])
    }
}
