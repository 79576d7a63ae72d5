public import PurchaseVerification

/// What an operator's monitor reads of a ledger every few seconds. Each part is read by an index, and counts end at a
/// limit.
public struct LedgerReadings: LedgerQuery {
    public static let access = LedgerReadAccess.lists

    /// The limit up to which events and claims are counted.
    public static let limit = 10_000

    public init() {}

    /// The values of one moment.
    public struct Answer: Sendable, Equatable {
        /// The time of the ledger's clock.
        public var now: Timestamp
        /// The entries of the journal that are in the Merkle log.
        public var sealedEntries: Int64
        /// The others.
        public var pending: PendingEntries
        /// The claims for which the App Store still has to be asked.
        public var waitingClaims: WaitingWork
        /// The webhooks of all apps to which a server ever delivered.
        public var webhooks: [WebhookReadings]
        /// The newest events of Stripe that wait for a setting or a customer, up to a hundred.
        public var heldStripeEvents: [HeldStripeEvent]
    }

    public func answer(_ reader: LedgerTransaction) throws -> Answer {
        let connection = reader.connection
        var webhooks: [WebhookReadings] = []
        for app in reader.registry.apps {
            webhooks += try WebhookReadings.all(appKey: app.key, app: app.settings.id, connection)
        }
        return Answer(
            now: reader.now, sealedEntries: try LogStateTable(connection: connection).row().size,
            pending: try LogStateTable(connection: connection).pending(),
            waitingClaims: try WorkTable(connection: connection).waiting(.claim, limit: Self.limit),
            webhooks: webhooks,
            heldStripeEvents: try StripeEventsTable(connection: connection).held(limit: 100).map { row in
                HeldStripeEvent(
                    app: reader.registry.apps.first { $0.key == row.appKey }?.settings.id ?? "", id: row.eventID,
                    subscription: row.subscription, missing: row.missing ?? "")
            })
    }
}

/// An event of Stripe that waits.
public struct HeldStripeEvent: Sendable, Equatable {
    public var app: String
    public var id: String
    public var subscription: String
    /// What it waits for.
    public var missing: String
}

/// How far a webhook is behind.
public struct WebhookReadings: Sendable, Equatable {
    /// The app of the settings.
    public var app: String
    /// What it gets.
    public var stream: WebhookStream
    public var url: String
    /// The events that were not delivered and not given up, counted up to `LedgerReadings.limit` twice: those that
    /// were not attempted, and those that failed or wait behind one that failed.
    public var waiting: Int
    /// When the oldest of them happened.
    public var oldest: Timestamp?
    /// The events that were given up, counted up to the same limit.
    public var givenUp: Int
    /// Whether an operator or an answer 410 disabled it.
    public var isDisabled: Bool
}

extension WebhookReadings {
    static func all(
        appKey: Int64, app: String, _ connection: any LedgerConnection
    ) throws(LedgerStorageError) -> [WebhookReadings] {
        let webhooks = WebhooksTable(connection: connection)
        let deliveries = WebhookDeliveriesTable(connection: connection)
        var readings: [WebhookReadings] = []
        for row in try webhooks.all(appKey: appKey) {
            let limit = Int64(LedgerReadings.limit)
            let outgoing = row.outgoing(connection)
            let behind = try outgoing.count(after: row.cursor, limit: limit)
            // The events of failed attempts are before the cursor.
            var oldest = try deliveries.first(row.key).flatMap { key throws(LedgerStorageError) in
                try outgoing.time(of: key)
            }
            if oldest == nil, behind > 0 { oldest = try outgoing.time(from: row.cursor + 1) }
            readings.append(
                WebhookReadings(
                    app: app, stream: try webhooks.stream(of: row), url: row.url,
                    waiting: behind + (try deliveries.count(row.key, isDead: false, limit: limit)),
                    oldest: oldest,
                    givenUp: try deliveries.count(row.key, isDead: true, limit: limit),
                    isDisabled: row.disabledAt != nil))
        }
        return readings
    }
}
