public import PurchaseVerification

/// Records that Apple gave no answer, and when it is told again.
public struct PostponeConsumptionAnswer: LedgerOperation {
    public var work: ConsumptionWork
    public var next: Timestamp

    /// The time of the next attempt.
    public init(_ work: ConsumptionWork, to next: Timestamp) {
        self.work = work
        self.next = next
    }

    public var locks: LedgerLocks { .parts([.requestLeases]) }

    public func perform(_ transaction: LedgerTransaction) throws {
        guard let entry = try JournalTable(connection: transaction.connection).row(id: work.request) else { return }
        try ConsumptionRequestsTable(connection: transaction.connection)
            .postpone(entry.key, attempts: Int64(work.attempts + 1), to: next)
    }
}
