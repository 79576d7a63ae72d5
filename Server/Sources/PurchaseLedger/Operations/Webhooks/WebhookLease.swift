import PurchaseVerification

/// The right of one server to deliver to a webhook for a limited time.
public struct WebhookLease: Sendable, Equatable {
    let key: Int64
    /// What is delivered.
    public let stream: WebhookStream
    /// The part of the ledger that its writes lock.
    let lock: LedgerLock
    let revision: Int64
    let owner: [UInt8]
    /// Every event, or entry of a notification, up to this one was delivered or has a row of its own.
    public var cursor: Int64
    /// The customers whose events wait behind an undelivered one.
    public let waitingCustomers: Set<Int64>
    /// The number of events that wait or are attempted again.
    public let pendingCount: Int

    /// The duration without a renewal, in milliseconds. It is longer than an attempt takes, so a server that stopped
    /// renewing has no attempt in progress when another server takes the lease.
    public static let lifetime: Int64 = 60_000
}

extension Timestamp {
    /// When a lease that is taken or extended now ends.
    var leaseEnd: Timestamp { Timestamp(millisecondsSince1970: millisecondsSince1970 + WebhookLease.lifetime) }
}

extension WebhookRow {
    /// Whether a server may deliver to it.
    func isFree(for owner: [UInt8], at now: Timestamp, replacesPredecessor: Bool) -> Bool {
        guard disabledAt == nil else { return false }
        guard let leaseOwner, let leaseUntil, leaseOwner != owner else { return true }
        return leaseUntil < now || (replacesPredecessor && WebhookOwner.haveOneHolder(leaseOwner, owner))
    }
}
