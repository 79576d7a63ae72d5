public import PurchaseVerification

public import struct Foundation.UUID

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

/// Records that the App Store did not answer, and when it is asked again.
public struct PostponeAppStoreClaim: LedgerOperation {
    public var claim: UUID
    public var attempts: Int
    public var next: Timestamp

    /// The time of the next attempt for a claim, and the number of attempts without an answer.
    public init(_ claim: UUID, attempts: Int, to next: Timestamp) {
        (self.claim, self.attempts, self.next) = (claim, attempts, next)
    }

    public var locks: LedgerLocks { .parts([.appStoreClaims]) }

    public func perform(_ transaction: LedgerTransaction) throws {
        guard let entry = try JournalTable(connection: transaction.connection).row(id: claim) else { return }
        try AppStoreClaimsTable(connection: transaction.connection)
            .postpone(entry.key, attempts: Int64(attempts), to: next)
    }
}

/// Makes all claims due that wait for a later attempt, because the App Store answers again.
public struct RetryAppStoreClaimsNow: LedgerOperation {
    public init() {}

    public var locks: LedgerLocks { .parts([.appStoreClaims]) }

    public func perform(_ transaction: LedgerTransaction) throws {
        try AppStoreClaimsTable(connection: transaction.connection).makeDue(at: transaction.now)
    }
}

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
