import PurchaseVerification

extension OutgoingEvent {
    init(_ event: NamedEvent, app: RegisteredApp) {
        (key, customer) = (event.key, event.lane)
        let known = event.content(of: app)
        (id, content) = (known.id, .event(known))
        isAnnounced = event.isAnnounced
    }
}

extension PendingDelivery {
    init(_ row: DeliveryRow<NamedEvent>, app: RegisteredApp) {
        event = OutgoingEvent(row.content, app: app)
        event.customer = row.lane
        (state, attempts, firstAt) = (row.state, row.attempts, row.firstAt)
    }
}

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
    static func haveOneHolder(_ first: [UInt8], _ second: [UInt8]) -> Bool {
        first.count == 2 * holderSize && second.count == first.count
            && first.prefix(holderSize) == second.prefix(holderSize)
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
        return try OutgoingSource(reader: reader, app: app, stream: stream).table.newest(upTo: settled)
    }
}

/// The deliveries whose next attempt is due, each with the events that wait behind it.
public struct DueDeliveries: LedgerQuery {
    public static let access = LedgerReadAccess.confirmed

    /// The number of events of one customer that are read at a time.
    private static let laneLimit: Int64 = 64

    public var app: String
    public var lease: WebhookLease
    /// The maximum number of lanes that are read.
    public var limit: Int

    /// The due events.
    public init(app: String, _ lease: WebhookLease, limit: Int) {
        (self.app, self.lease, self.limit) = (app, lease, limit)
    }

    public func answer(_ reader: LedgerTransaction) throws -> [(lane: WebhookLane, deliveries: [PendingDelivery])] {
        let table = WebhookDeliveriesTable(connection: reader.connection)
        guard lease.stream == .events else { return try notifications(table, reader) }
        let app = try reader.app(app).settings
        var lanes: [(lane: WebhookLane, deliveries: [PendingDelivery])] = []
        for head in try table.due(lease.key, at: reader.now, limit: Int64(max(1, limit))) {
            guard head.state != .resend else {
                lanes.append((.resend(event: head.content.key), [PendingDelivery(head, app: app)]))
                continue
            }
            let followers = try table.waiting(lease.key, lane: head.lane, limit: Self.laneLimit)
            lanes.append((.customer(head.lane), ([head] + followers).map { PendingDelivery($0, app: app) }))
        }
        return lanes
    }

    /// Each notification is a lane of its own.
    private func notifications(
        _ table: WebhookDeliveriesTable, _ reader: LedgerTransaction
    ) throws -> [(lane: WebhookLane, deliveries: [PendingDelivery])] {
        let source = try OutgoingSource(reader: reader, app: try reader.app(app), stream: lease.stream)
        return try table.dueEntries(lease.key, at: reader.now, limit: Int64(max(1, limit))).map { row in
            let event = try source.notification(row.content)
            let delivery = PendingDelivery(
                event: event, state: row.state, attempts: row.attempts, firstAt: row.firstAt)
            return (row.state == .resend ? .resend(event: event.key) : .customer(event.customer), [delivery])
        }
    }
}

/// Records the outcomes of deliveries, advances the cursor, and extends the lease.
public struct RecordDeliveries: LedgerOperation {
    public var lease: WebhookLease
    /// The events before the cursor that were not delivered.
    public var undelivered: [UndeliveredEvent]
    /// The outcomes of events that had rows.
    public var lanes: [LaneOutcome]

    /// Records results under a lease whose cursor advanced.
    public init(_ lease: WebhookLease, undelivered: [UndeliveredEvent] = [], lanes: [LaneOutcome] = []) {
        (self.lease, self.undelivered, self.lanes) = (lease, undelivered, lanes)
    }

    public var locks: LedgerLocks { .parts([lease.lock]) }

    /// - Returns: the customers without waiting events; `nil` if the lease was lost or an operator changed the webhook,
    ///   so that nothing was recorded.
    public func perform(_ transaction: LedgerTransaction) throws -> Set<Int64>? {
        let isKept = try WebhooksTable(connection: transaction.connection).advance(
            lease.key, owner: lease.owner, revision: lease.revision, to: lease.cursor, until: transaction.now.leaseEnd)
        guard isKept else { return nil }
        let table = WebhookDeliveriesTable(connection: transaction.connection)
        for event in undelivered { try table.put(event, webhook: lease.key) }
        var free: Set<Int64> = []
        for outcome in lanes {
            for event in outcome.delivered { try table.delete(event, webhook: lease.key) }
            for event in outcome.undelivered { try table.put(event, webhook: lease.key) }
            guard case .customer(let customer) = outcome.lane,
                outcome.undelivered.allSatisfy({ $0.nextAt == nil })
            else { continue }
            let goesOn = try table.makeNextDue(lane: customer, webhook: lease.key, at: transaction.now)
            if !goesOn { free.insert(customer) }
        }
        return free
    }
}
