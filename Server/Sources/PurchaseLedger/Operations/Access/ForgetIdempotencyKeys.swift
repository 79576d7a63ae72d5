import PurchaseVerification

/// Deletes old idempotency keys.
public struct ForgetIdempotencyKeys: LedgerOperation {
    /// The age from which keys are deleted, in milliseconds.
    public var age: Int64

    /// Deletes keys from an age on, in milliseconds.
    public init(age: Int64) { self.age = age }

    public var locks: LedgerLocks { .parts([]) }

    public func perform(_ transaction: LedgerTransaction) throws -> Int {
        try IdempotencyTable(connection: transaction.connection).delete(
            before: Timestamp(millisecondsSince1970: transaction.now.millisecondsSince1970 - age))
    }
}
