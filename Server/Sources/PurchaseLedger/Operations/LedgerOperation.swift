import PurchaseVerification

/// Something that can be done in one transaction.
public protocol LedgerOperation: Sendable {
    associatedtype Outcome: Sendable

    /// The parts of the ledger that it reads and changes, as far as they are known before it begins. `everything` unless it says
    /// otherwise.
    var locks: LedgerLocks { get }

    /// Does it. A refusal is thrown before anything is written.
    ///
    /// - Throws: `LedgerRefusal`, `LedgerStorageError`.
    func perform(_ transaction: LedgerTransaction) throws -> Outcome
}

extension LedgerOperation {
    public var locks: LedgerLocks { .everything }

    /// The plan of its write, as far as it is known before it begins.
    func writePlan(_ registry: Registry) -> LedgerWritePlan {
        (self as? any PlannedOperation)?.plan(registry) ?? LedgerWritePlan(locks: locks)
    }
}

/// An operation that knows what it will probably read. Of others each read is a round trip, if the database is on another machine.
protocol PlannedOperation: LedgerOperation {
    /// The locks, and what it will probably read and insert.
    func plan(_ registry: Registry) -> LedgerWritePlan
}
