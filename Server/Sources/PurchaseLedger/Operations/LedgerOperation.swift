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

/// A query that reads one committed state.
public protocol LedgerQuery: Sendable {
    associatedtype Answer: Sendable

    /// Whether the query reads by key or reads a list.
    static var access: LedgerReadAccess { get }

    /// The access of this query; for some types it depends on a parameter.
    var access: LedgerReadAccess { get }

    /// Answers the query.
    ///
    /// - Throws: `LedgerRefusal`, `LedgerStorageError`.
    func answer(_ reader: LedgerTransaction) throws -> Answer
}

extension LedgerQuery {
    public var access: LedgerReadAccess { Self.access }
}

/// A list that is read in pages. It has an index, or several, for each of its filters (`ListOrder`).
public protocol LedgerList: LedgerQuery {
    associatedtype Cursor: ListCursor
    /// The position at which the previous page ended; `nil` for the first page.
    var cursor: Cursor? { get set }
    var limit: Int { get set }
}

extension LedgerList {
    public static var access: LedgerReadAccess { .lists }
}

/// An operation that can predict its reads. For other operations each read is a round trip to a database on another
/// machine.
protocol PlannedOperation: LedgerOperation {
    /// The locks, and the rows that it will probably read and insert.
    func plan(_ registry: Registry) -> LedgerWritePlan
}
