import PurchaseVerification

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
