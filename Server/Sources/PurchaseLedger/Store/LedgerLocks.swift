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

    /// The most parts that a transaction locks. PostgreSQL has room for 6,400 locks of all transactions with its
    /// defaults (`max_locks_per_transaction` × `max_connections`), and several servers with four writers share it.
    static let limit = 1_000

    /// The same, or the whole ledger for a write of more parts than a transaction may lock.
    var bounded: LedgerLocks {
        guard case .parts(let parts) = self, parts.count > Self.limit else { return self }
        return .everything
    }
}
