import PurchaseVerification

/// A webhook that one server delivers to, for a time.
public struct WebhookLease: Sendable, Equatable {
    let key: Int64
    /// The part of the ledger that its writes lock.
    let lock: LedgerLock
    let revision: Int64
    let owner: [UInt8]
    /// Each event up to this one was delivered or has a row of its own.
    public var cursor: Int64
    /// The customers whose events wait behind one that was not delivered.
    public let waitingCustomers: Set<Int64>
    /// The number of events that wait or are attempted again.
    public let pendingCount: Int

    /// The duration without a renewal, in milliseconds. Longer than an attempt takes, so that a server that stopped
    /// prolonging it has no attempt under way when another takes it.
    public static let lifetime: Int64 = 60_000
}

/// Takes the lease of a webhook, if no other server has it and it is not disabled.
public struct LeaseWebhook: LedgerOperation {
    public var app: String
    public var url: String
    /// Tells servers apart.
    public var owner: [UInt8]
    /// The event after which a webhook begins that no server saw before; `WebhookVacancy` has it.
    public var beginning: Int64

    /// The lease of a webhook for a server.
    public init(app: String, url: String, owner: [UInt8], beginning: Int64) {
        (self.app, self.url, self.owner, self.beginning) = (app, url, owner, beginning)
    }

    public var locks: LedgerLocks { .parts([.webhook(app, url)]) }

    public func perform(_ transaction: LedgerTransaction) throws -> WebhookLease? {
        let app = try transaction.app(app)
        let table = WebhooksTable(connection: transaction.connection)
        if try table.row(appKey: app.key, url: url) == nil {
            try table.insert(appKey: app.key, url: url, after: beginning)
        }
        guard let row = try table.row(appKey: app.key, url: url), row.isFree(for: owner, at: transaction.now) else {
            return nil
        }
        try table.setLease(row.key, owner: owner, until: transaction.now.leaseEnd)
        let deliveries = WebhookDeliveriesTable(connection: transaction.connection)
        return WebhookLease(
            key: row.key, lock: .webhook(self.app, url), revision: row.revision, owner: owner, cursor: row.cursor,
            waitingCustomers: Set(try deliveries.lanes(row.key)),
            pendingCount: try deliveries.pendingCount(row.key))
    }
}

/// Whether a server could take the lease of a webhook; asked before, so that a server that waits for it writes nothing.
public struct WebhookVacancy: LedgerQuery {
    public static let access = LedgerReadAccess.keys

    public var app: String
    public var url: String
    public var owner: [UInt8]

    /// The question for a server.
    public init(app: String, url: String, owner: [UInt8]) {
        (self.app, self.url, self.owner) = (app, url, owner)
    }

    /// - Returns: the app's newest event, after which a webhook begins that no server saw before; `nil` if another server has
    ///   the lease, or the webhook is disabled.
    public func answer(_ reader: LedgerTransaction) throws -> Int64? {
        let app = try reader.app(app)
        // Only a read knows which events can still be committed.
        let settled = try reader.connection.settledEvent() ?? .max
        let row = try WebhooksTable(connection: reader.connection).row(appKey: app.key, url: url)
        guard row?.isFree(for: owner, at: reader.now) ?? true else { return nil }
        return try EventsTable(connection: reader.connection).newest(appKey: app.key, upTo: settled)
    }
}

/// Gives a lease back, so that another server need not wait for its end.
public struct ReleaseWebhook: LedgerOperation {
    public var lease: WebhookLease

    /// The return of a lease.
    public init(_ lease: WebhookLease) { self.lease = lease }

    public var locks: LedgerLocks { .parts([lease.lock]) }

    public func perform(_ transaction: LedgerTransaction) throws {
        try WebhooksTable(connection: transaction.connection).release(lease.key, owner: lease.owner)
    }
}

extension Timestamp {
    /// When a lease that is taken or prolonged now ends.
    var leaseEnd: Timestamp { Timestamp(millisecondsSince1970: millisecondsSince1970 + WebhookLease.lifetime) }
}
