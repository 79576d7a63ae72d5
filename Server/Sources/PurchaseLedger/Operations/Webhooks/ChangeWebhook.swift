public import PurchaseVerification

/// Disables or enables a webhook, or resends events that were given up.
public struct ChangeWebhook: LedgerOperation {
    public var app: String
    public var stream: WebhookStream
    public var url: String
    public var change: Change
    /// The operator of the console and their address, for the log of operators; `nil` for a command.
    public var by: (name: String, address: String)?

    /// The change.
    public enum Change: Sendable, Equatable {
        /// Nothing is delivered until it is enabled; the reason is shown in the list.
        case disable(reason: String)
        /// Deliveries continue after the last delivered event.
        case enable
        /// Events that were given up are attempted again: one, or all if it is `nil`.
        case resend(event: Int64?)
        /// Everything since a time is delivered again, in order, for a receiver that lost its data.
        case resendSince(Timestamp)
    }

    /// Changes a webhook.
    public init(app: String, _ stream: WebhookStream = .events, url: String, _ change: Change) {
        (self.app, self.stream, self.url, self.change) = (app, stream, url, change)
    }

    public var locks: LedgerLocks { .parts(by == nil ? [.webhook(app, url)] : [.webhook(app, url), .operators]) }

    /// - Returns: the number of events to send again, counted up to `WebhookList.behindLimit`; 1 for the other changes;
    ///   `nil` if no server ever delivered to this URL.
    public func perform(_ transaction: LedgerTransaction) throws -> Int? {
        let app = try transaction.app(app)
        let table = WebhooksTable(connection: transaction.connection)
        guard let row = try table.row(appKey: app.key, stream, url: url) else { return nil }
        if let by {
            // Not the query of the URL, which can be a secret.
            let receiver = url.prefix { $0 != "?" }
            try OperatorAccounts(transaction).log(
                .webhookChanged, by.name, address: "\(by.address): \(self.app) \(receiver), \(words)")
        }
        switch change {
        case .disable(let reason): try table.set(row.key, disabledAt: transaction.now, reason: reason)
        case .enable: try table.set(row.key, disabledAt: nil, reason: nil)
        case .resend(let event):
            return try WebhookDeliveriesTable(connection: transaction.connection)
                .resend(row.key, event: event, at: transaction.now)
        case .resendSince(let time): return try resend(row, since: time, transaction)
        }
        return 1
    }

    private var words: String {
        switch change {
        case .disable: "disabled"
        case .enable: "enabled"
        case .resend: "what was given up is sent again"
        case .resendSince(let time): "everything since \(time) is sent again"
        }
    }

    /// Moves the cursor back. What was attempted since then has no rows any more, because it is attempted anew; earlier
    /// events that wait or were given up keep theirs.
    private func resend(
        _ row: WebhookRow, since time: Timestamp, _ transaction: LedgerTransaction
    ) throws -> Int {
        let connection = transaction.connection
        let source = try OutgoingSource(reader: transaction, app: try transaction.app(app), stream: stream)
        let cursor = min(try source.last(before: time, upTo: row.cursor), row.cursor)
        try WebhooksTable(connection: connection).move(row.key, to: cursor)
        try WebhookDeliveriesTable(connection: connection).delete(row.key, after: cursor)
        return try source.table.count(after: cursor, limit: Int64(WebhookList.behindLimit))
    }
}

/// The webhooks of an app to which a server ever delivered.
public struct WebhookList: LedgerQuery {
    public static let access = LedgerReadAccess.lists

    /// The maximum number of given-up events listed per webhook.
    public static let deadLimit = 1000

    /// The limit up to which events after the cursor are counted.
    public static let behindLimit = 100_000

    public var app: String

    /// The webhooks of an app.
    public init(app: String) { self.app = app }

    public func answer(_ reader: LedgerTransaction) throws -> [WebhookStatus] {
        let app = try reader.app(app)
        let deliveries = WebhookDeliveriesTable(connection: reader.connection)
        var list: [WebhookStatus] = []
        let webhooks = WebhooksTable(connection: reader.connection)
        for row in try webhooks.all(appKey: app.key) {
            list.append(
                WebhookStatus(
                    stream: try webhooks.stream(of: row), url: row.url, cursor: row.cursor,
                    behind: try row.outgoing(reader.connection).count(
                        after: row.cursor, limit: Int64(Self.behindLimit)),
                    pending: try deliveries.waitingCount(row.key),
                    dead: try deliveries.dead(row, limit: Int64(Self.deadLimit)),
                    disabledAt: row.disabledAt, disabledReason: row.disabledReason))
        }
        return list
    }
}

/// A webhook as operators see it.
public struct WebhookStatus: Sendable, Equatable {
    /// What it gets.
    public var stream: WebhookStream
    public var url: String
    /// The last event up to which every event was delivered or is listed below.
    public var cursor: Int64
    /// The events after the cursor, counted up to `WebhookList.behindLimit`.
    public var behind: Int
    /// The events to be attempted again, and those that wait behind them.
    public var pending: Int
    /// The events that were given up.
    public var dead: [DeadDelivery]
    public var disabledAt: Timestamp?
    public var disabledReason: String?
}
