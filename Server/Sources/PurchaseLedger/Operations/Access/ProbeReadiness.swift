import PurchaseVerification

/// Writes about as much as a purchase does, to check that the database accepts writes.
public struct ProbeReadiness: LedgerOperation {
    /// A probe.
    public init() {}

    public var locks: LedgerLocks { .parts([]) }

    public func perform(_ transaction: LedgerTransaction) throws {
        let byte = UInt8(truncatingIfNeeded: transaction.now.millisecondsSince1970)
        try ReadinessTable(connection: transaction.connection).replace([UInt8](repeating: byte, count: 64 << 10))
    }
}
