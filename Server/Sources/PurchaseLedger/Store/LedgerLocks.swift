import PurchaseVerification

/// The parts of the ledger that a write reads and changes. Writes with a part in common run one after the other; all
/// others run concurrently.
///
/// Every row that a write reads or changes belongs to a part that it names. An engine with one writer needs no parts.
public enum LedgerLocks: Sendable, Equatable {
    /// The whole ledger: no other write runs at the same time.
    case everything
    /// Several parts of the ledger.
    case parts(Set<LedgerLock>)
}
