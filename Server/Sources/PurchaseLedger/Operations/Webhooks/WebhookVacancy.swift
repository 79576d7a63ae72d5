import PurchaseVerification

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
