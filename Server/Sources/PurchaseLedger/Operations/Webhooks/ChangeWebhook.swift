import PurchaseVerification

/// Disables or enables a webhook, or resends events that were given up.
public struct ChangeWebhook: LedgerOperation {
    public var app: String
    public var stream: WebhookStream
    public var url: String
    public var change: Change

    /// The change.
    public enum Change: Sendable, Equatable {
        /// Nothing is delivered until it is enabled; the reason is shown in the list.
        case disable(reason: String)
        /// Deliveries continue after the last delivered event.
        case enable
        /// Events that were given up are attempted again: one, or all if it is `nil`.
        case resend(event: Int64?)
    }

    /// Changes a webhook.
    public init(app: String, _ stream: WebhookStream = .events, url: String, _ change: Change) {
        (self.app, self.stream, self.url, self.change) = (app, stream, url, change)
    }

    public var locks: LedgerLocks { .parts([.webhook(app, url)]) }

    /// - Returns: the number of events to send again, 1 for the other changes; `nil` if no server ever delivered to
    ///   this URL.
    public func perform(_ transaction: LedgerTransaction) throws -> Int? {
        let app = try transaction.app(app)
        let table = WebhooksTable(connection: transaction.connection)
        guard let row = try table.row(appKey: app.key, stream, url: url) else { return nil }
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
