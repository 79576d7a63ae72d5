public import PurchaseVerification

/// Work that waits, and since when.
public struct WaitingWork: Sendable, Equatable {
    /// How much, counted up to a limit.
    public var count: Int
    /// When the oldest of the counted began to wait; `nil` if nothing waits.
    public var oldest: Timestamp?
}

extension AppStoreClaimsTable {
    /// The claims for which the App Store still has to be asked.
    func waitingWork(limit: Int64) throws(LedgerStorageError) -> WaitingWork {
        let rows = try connection.rows(
            """
            SELECT count(*), min(received_at) FROM
            (SELECT received_at FROM app_store_claims WHERE next_at IS NOT NULL ORDER BY next_at LIMIT ?1) AS waiting
            """, [.integer(limit)])
        guard var reader = rows.first?.reader else { return WaitingWork(count: 0) }
        return WaitingWork(count: Int(try reader.integer()), oldest: try reader.optionalTime())
    }
}
