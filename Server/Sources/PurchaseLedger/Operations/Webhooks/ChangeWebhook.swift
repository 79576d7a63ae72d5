public import PurchaseVerification

/// Disables or enables a webhook, or has events sent again that were given up.
public struct ChangeWebhook: LedgerOperation {
    public var app: String
    public var url: String
    public var change: Change

    /// The change.
    public enum Change: Sendable, Equatable {
        /// Nothing is delivered until it is enabled; the reason is shown in the list.
        case disable(reason: String)
        /// Deliveries go on where they ended.
        case enable
        /// Events that were given up are attempted again: one of them, or all.
        case resend(event: Int64?)
    }

    /// A change of a webhook.
    public init(app: String, url: String, _ change: Change) {
        (self.app, self.url, self.change) = (app, url, change)
    }

    public var locks: LedgerLocks { .parts([.webhook(app, url)]) }

    /// - Returns: how many events are sent again, 1 for the other changes; `nil` if no server ever delivered to this URL.
    public func perform(_ transaction: LedgerTransaction) throws -> Int? {
        let app = try transaction.app(app)
        let table = WebhooksTable(connection: transaction.connection)
        guard let row = try table.row(appKey: app.key, url: url) else { return nil }
        switch change {
        case .disable(let reason): try table.set(row.key, disabledAt: transaction.now, reason: reason)
        case .enable: try table.set(row.key, disabledAt: nil, reason: nil)
        case .resend(let event):
            return try WebhookDeliveriesTable(connection: transaction.connection)
                .resend(row.key, event: event, at: transaction.now)
        }
        return 1
    }
}

/// A webhook as operators see it.
public struct WebhookStatus: Sendable, Equatable {
    public var url: String
    /// The last event up to which all were delivered, or are among those below.
    public var cursor: Int64
    /// The events after the cursor, counted up to `WebhookList.behindLimit`.
    public var behind: Int
    /// The events that are attempted again, and those that wait behind them.
    public var pending: Int
    /// The events that were given up.
    public var dead: [DeadDelivery]
    public var disabledAt: Timestamp?
    public var disabledReason: String?
}

/// The webhooks of an app that a server ever delivered to.
public struct WebhookList: LedgerQuery {
    public static let access = LedgerReadAccess.lists

    /// The number of events that were given up and are listed, for each.
    public static let deadLimit = 1000

    /// Up to how many events after the cursor are counted.
    public static let behindLimit = 100_000

    public var app: String

    /// The webhooks of an app.
    public init(app: String) { self.app = app }

    public func answer(_ reader: LedgerTransaction) throws -> [WebhookStatus] {
        let app = try reader.app(app)
        let deliveries = WebhookDeliveriesTable(connection: reader.connection)
        var list: [WebhookStatus] = []
        for row in try WebhooksTable(connection: reader.connection).all(appKey: app.key) {
            let behind = try EventsTable(connection: reader.connection).count(
                appKey: app.key, after: row.cursor, limit: Int64(Self.behindLimit))
            list.append(
                WebhookStatus(
                    url: row.url, cursor: row.cursor, behind: behind,
                    pending: try deliveries.pendingCount(row.key),
                    dead: try deliveries.dead(row.key, limit: Int64(Self.deadLimit)),
                    disabledAt: row.disabledAt, disabledReason: row.disabledReason))
        }
        return list
    }
}
