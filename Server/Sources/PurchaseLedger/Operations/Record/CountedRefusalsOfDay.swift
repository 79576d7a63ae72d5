public import PurchaseVerification

/// The refused claims since a time that were only counted, because an API key or an app was beyond its daily budget.
public struct CountedRefusalsOfDay: LedgerQuery {
    public static let access = LedgerReadAccess.lists

    let since: Timestamp

    /// The refusals since a time.
    public init(since: Timestamp) { self.since = since }

    /// The number of each API key; the name is empty where there was none.
    public func answer(_ transaction: LedgerTransaction) throws -> [String: Int64] {
        var counts: [String: Int64] = [:]
        for row in try JournalTable(connection: transaction.connection).refusals(since: since) {
            guard let details = row.details else { continue }
            let refusals = try RefusalsDetails(encoded: details)
            if refusals.since != nil { counts[refusals.keyID ?? "", default: 0] += refusals.count }
        }
        return counts
    }
}
