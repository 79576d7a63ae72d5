import PurchaseVerification

/// Gives a lease back, so that another server need not wait for its end.
public struct ReleaseWebhook: LedgerOperation {
    public var lease: WebhookLease

    /// Returns a lease.
    public init(_ lease: WebhookLease) { self.lease = lease }

    public var locks: LedgerLocks { .parts([lease.lock]) }

    public func perform(_ transaction: LedgerTransaction) throws {
        try WebhooksTable(connection: transaction.connection).release(lease.key, owner: lease.owner)
    }
}
