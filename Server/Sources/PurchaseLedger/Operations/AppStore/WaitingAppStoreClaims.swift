import PurchaseVerification

/// Counts the claims for which the App Store still has to be asked, up to a limit.
public struct WaitingAppStoreClaims: LedgerQuery {
    public static let access = LedgerReadAccess.lists

    public var limit: Int

    /// Counts at most this many claims.
    public init(limit: Int = 100_000) { self.limit = limit }

    public func answer(_ reader: LedgerTransaction) throws -> Int {
        try AppStoreClaimsTable(connection: reader.connection).count(limit: Int64(limit))
    }
}
