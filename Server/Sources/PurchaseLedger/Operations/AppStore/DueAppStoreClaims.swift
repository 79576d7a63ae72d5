import PurchaseVerification

/// Counts the claims that are due and that no server works on.
public struct DueAppStoreClaims: LedgerQuery {
    public static let access = LedgerReadAccess.lists

    public var limit: Int

    /// Counts at most this many claims.
    public init(limit: Int) { self.limit = limit }

    /// - Returns: the number of claims, at most the limit.
    public func answer(_ reader: LedgerTransaction) throws -> Int {
        try AppStoreClaimsTable(connection: reader.connection)
            .due(reader.registry.apps.map(\.key), at: reader.now, limit: Int64(limit)).count
    }
}
