import PurchaseVerification

/// Something that can be asked within one committed state.
public protocol LedgerQuery: Sendable {
    associatedtype Answer: Sendable

    /// Whether it reads by a key, or a list.
    static var access: LedgerReadAccess { get }

    /// Answers it.
    ///
    /// - Throws: `LedgerRefusal`, `LedgerStorageError`.
    func answer(_ reader: LedgerTransaction) throws -> Answer
}
