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

/// Identifies a process that delivers to webhooks, and the holder that it runs for.
///
/// A process that holds the lock of a signing key on its machine has the key's holder: the process that held the lock
/// before it has ended. So it may take the lease of its predecessor at once. Each process has another owner, so a
/// predecessor cannot record anything after its lease was taken.
public struct WebhookOwner: Sendable, Equatable {
    /// The number of bytes that name the holder.
    static let holderSize = 16

    /// What a lease stores: the holder, and a random number.
    public let bytes: [UInt8]
    /// Whether it may take a lease of its holder that has not ended. It does so once, at its start: if two machines
    /// have copies of one key, they do not take the lease from each other again and again.
    public let replacesPredecessor: Bool

    /// A process.
    ///
    /// - Parameter key: the public key of the signing key whose lock this process holds; `nil` if it holds none.
    public init(holderOf key: LogVerifierKey?) {
        let digest = key.map { StorableEvidence.sha256(Array("assay webhook holder\n\($0.text)".utf8)) }
        let holder = digest.map { Array($0.prefix(Self.holderSize)) } ?? Self.random
        bytes = holder + Self.random
        replacesPredecessor = key != nil
    }

    private static var random: [UInt8] { (0..<holderSize).map { _ in UInt8.random(in: .min ... .max) } }

    /// Whether two processes have the same holder.
    fileprivate static func haveOneHolder(_ first: [UInt8], _ second: [UInt8]) -> Bool {
        first.count == 2 * holderSize && second.count == first.count
            && first.prefix(holderSize) == second.prefix(holderSize)
    }
}

/// Takes the lease of a webhook, if no other server has it and it is not disabled.
public struct LeaseWebhook: LedgerOperation {
    public var app: String
    public var stream: WebhookStream
    public var url: String
    /// Identifies the server.
    public var owner: [UInt8]
    /// The event or entry after which a new webhook begins, from `WebhookVacancy`.
    public var beginning: Int64
    /// Whether it takes the lease of another process of its holder (`WebhookOwner`).
    public var replacesPredecessor: Bool

    /// Takes the lease of a webhook for a server.
    public init(
        app: String, _ stream: WebhookStream = .events, url: String, owner: [UInt8], beginning: Int64,
        replacesPredecessor: Bool = false
    ) {
        (self.app, self.stream, self.url, self.owner, self.beginning) = (app, stream, url, owner, beginning)
        self.replacesPredecessor = replacesPredecessor
    }

    public var locks: LedgerLocks { .parts([.webhook(app, url)]) }

    public func perform(_ transaction: LedgerTransaction) throws -> WebhookLease? {
        let app = try transaction.app(app)
        let table = WebhooksTable(connection: transaction.connection)
        if try table.row(appKey: app.key, stream, url: url) == nil {
            try table.insert(appKey: app.key, stream, url: url, after: beginning)
        }
        guard let row = try table.row(appKey: app.key, stream, url: url),
            row.isFree(for: owner, at: transaction.now, replacesPredecessor: replacesPredecessor)
        else { return nil }
        try table.setLease(row.key, owner: owner, until: transaction.now.leaseEnd)
        let deliveries = WebhookDeliveriesTable(connection: transaction.connection)
        return WebhookLease(
            key: row.key, stream: stream, lock: .webhook(self.app, url), revision: row.revision, owner: owner,
            cursor: row.cursor,
            waitingCustomers: Set(try deliveries.lanes(row.key)),
            pendingCount: try deliveries.pendingCount(row.key))
    }
}

/// Whether a server could take the lease of a webhook. It is checked first, so that a server that waits for the lease
/// writes nothing.
public struct WebhookVacancy: LedgerQuery {
    public static let access = LedgerReadAccess.keys

    public var app: String
    public var stream: WebhookStream
    public var url: String
    public var owner: [UInt8]
    /// Whether it takes the lease of another process of its holder.
    public var replacesPredecessor: Bool

    /// Checks for a server.
    public init(
        app: String, _ stream: WebhookStream = .events, url: String, owner: [UInt8], replacesPredecessor: Bool = false
    ) {
        (self.app, self.stream, self.url, self.owner) = (app, stream, url, owner)
        self.replacesPredecessor = replacesPredecessor
    }

    /// - Returns: the app's newest event, or entry of a notification, after which a new webhook begins; `nil` if
    ///   another server has the lease, or the webhook is disabled.
    public func answer(_ reader: LedgerTransaction) throws -> Int64? {
        let app = try reader.app(app)
        // Only a read can determine which events and entries can still be committed.
        let settled = try stream.settled(reader.connection)
        let row = try WebhooksTable(connection: reader.connection).row(appKey: app.key, stream, url: url)
        guard row?.isFree(for: owner, at: reader.now, replacesPredecessor: replacesPredecessor) ?? true else {
            return nil
        }
        return switch stream {
        case .events: try EventsTable(connection: reader.connection).newest(appKey: app.key, upTo: settled)
        case .notifications:
            try NotificationsTable(connection: reader.connection).newest(appKey: app.key, upTo: settled)
        }
    }
}

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

extension Timestamp {
    /// When a lease that is taken or extended now ends.
    var leaseEnd: Timestamp { Timestamp(millisecondsSince1970: millisecondsSince1970 + WebhookLease.lifetime) }
}

extension WebhookRow {
    /// Whether a server may deliver to it.
    fileprivate func isFree(for owner: [UInt8], at now: Timestamp, replacesPredecessor: Bool) -> Bool {
        guard disabledAt == nil else { return false }
        guard let leaseOwner, let leaseUntil, leaseOwner != owner else { return true }
        return leaseUntil < now || (replacesPredecessor && WebhookOwner.haveOneHolder(leaseOwner, owner))
    }
}
