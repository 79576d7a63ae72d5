public import PurchaseVerification

public import struct Foundation.UUID

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
