import PurchaseVerification

/// A write that runs in one transaction.
public protocol LedgerOperation: Sendable {
    associatedtype Outcome: Sendable

    /// The parts of the ledger that it reads and changes, as far as they are known before it begins. The default is
    /// `everything`.
    var locks: LedgerLocks { get }

    /// Performs the operation. Throws a refusal before anything is written.
    ///
    /// - Throws: `LedgerRefusal`, `LedgerStorageError`.
    func perform(_ transaction: LedgerTransaction) throws -> Outcome
}

extension LedgerOperation {
    public var locks: LedgerLocks { .everything }

    /// The plan of the write, as far as it is known before it begins.
    func writePlan(_ registry: Registry) -> LedgerWritePlan {
        (self as? any PlannedOperation)?.plan(registry) ?? LedgerWritePlan(locks: locks)
    }
}
