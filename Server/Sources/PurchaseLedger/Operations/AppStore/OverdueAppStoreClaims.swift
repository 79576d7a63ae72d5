public import PurchaseVerification

/// How many claims came before a time, at most a limit.
public struct OverdueAppStoreClaims: LedgerQuery {
    public static let access = LedgerReadAccess.lists

    public var since: Timestamp
    public var limit: Int

    public init(since: Timestamp, limit: Int) { (self.since, self.limit) = (since, limit) }

    public func answer(_ reader: LedgerTransaction) throws -> Int {
        try AppStoreClaimsTable(connection: reader.connection)
            .overdue(reader.registry.apps.map(\.key), before: since, at: reader.now, limit: Int64(limit)).count
    }
}
