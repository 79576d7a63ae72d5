import PurchaseVerification

/// Something that can be done in one transaction.
public protocol LedgerOperation: Sendable {
    associatedtype Outcome: Sendable

    /// Does it. A refusal is thrown before anything is written.
    ///
    /// - Throws: `LedgerRefusal`, `LedgerStorageError`.
    func perform(_ transaction: LedgerTransaction) throws -> Outcome
}
