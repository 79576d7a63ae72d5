import PurchaseVerification

/// Something that can be asked within one committed state.
public protocol LedgerQuery: Sendable {
    associatedtype Answer: Sendable

    /// Whether it reads by a key, or a list.
    static var access: LedgerReadAccess { get }

    /// The same of this query; some read more with one parameter than with another.
    var access: LedgerReadAccess { get }

    /// Answers it.
    ///
    /// - Throws: `LedgerRefusal`, `LedgerStorageError`.
    func answer(_ reader: LedgerTransaction) throws -> Answer
}

extension LedgerQuery {
    public var access: LedgerReadAccess { Self.access }
}
