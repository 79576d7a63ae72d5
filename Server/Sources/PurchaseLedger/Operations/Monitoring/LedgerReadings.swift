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
            waitingClaims: try AppStoreClaimsTable(connection: connection).waitingWork(limit: Int64(Self.limit)),
            webhooks: webhooks)
    }
}
