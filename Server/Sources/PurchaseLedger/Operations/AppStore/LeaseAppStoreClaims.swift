public import PurchaseVerification

public import struct Foundation.UUID

/// Leases claims that are due, the longest overdue first.
public struct LeaseAppStoreClaims: LedgerOperation {
    public var limit: Int
    /// Also leases claims that were submitted before this time, whether or not they are due.
    public var overdueSince: Timestamp?

    /// Leases at most this many claims.
    public init(limit: Int, overdueSince: Timestamp? = nil) { (self.limit, self.overdueSince) = (limit, overdueSince) }

    public var locks: LedgerLocks { .parts([.appStoreClaims]) }

    /// - Returns: the ids of the claims.
    public func perform(_ transaction: LedgerTransaction) throws -> [UUID] {
        let table = AppStoreClaimsTable(connection: transaction.connection)
        let journal = JournalTable(connection: transaction.connection)
        let (apps, now) = (transaction.registry.apps.map(\.key), transaction.now)
        let rows =
            try overdueSince.map { end throws(LedgerStorageError) in
                try table.overdue(apps, before: end, at: now, limit: Int64(limit))
            } ?? table.due(apps, at: now, limit: Int64(limit))
        var claims: [UUID] = []
        for row in rows {
            guard let entry = try journal.row(key: row.entryKey) else { continue }
            try table.lease(row.entryKey, until: now.appStoreLeaseEnd)
            claims.append(entry.id)
        }
        return claims
    }
}
