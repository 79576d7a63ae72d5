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
