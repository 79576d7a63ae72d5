import PurchaseVerification

/// Reads the events, or the notifications, that a webhook gets.
struct OutgoingSource {
    let reader: LedgerTransaction
    let app: RegistryApp
    let stream: WebhookStream

    /// A page after a cursor, with those that are passed over.
    func events(after: Int64, upTo settled: Int64, limit: Int64) throws(LedgerStorageError) -> [OutgoingEvent] {
        switch stream {
        case .events:
            return try EventsTable(connection: reader.connection)
                .events(appKey: app.key, after: after, limit: limit)
                .prefix { $0.key <= settled }
                .map { OutgoingEvent($0, app: app.settings) }
        case .notifications(let environment):
            let number = try reader.environments.key(of: environment)
            let rows = try NotificationsTable(connection: reader.connection)
                .entries(appKey: app.key, after: after, limit: limit)
            var events: [OutgoingEvent] = []
            for row in rows {
                guard row.entry <= settled else { break }
                let isWanted = row.environment == number || (row.environment == 0 && environment == .production)
                events.append(isWanted ? try notification(row.entry) : OutgoingEvent(passing: row.entry))
            }
            return events
        }
    }

    /// The notification of an entry.
    func notification(_ entry: Int64) throws(LedgerStorageError) -> OutgoingEvent {
        var event = OutgoingEvent(passing: entry)
        event.isAnnounced = true
        event.content = .notification(body: try body(entry))
        return event
    }

    /// The body of the App Store's request, byte for byte; `nil` after an erasure.
    private func body(_ entry: Int64) throws(LedgerStorageError) -> [UInt8]? {
        guard let key = try JournalTable(connection: reader.connection).row(key: entry)?.evidenceKey,
            let row = try EvidenceTable(connection: reader.connection).row(key: key),
            let payload = try EvidenceStore(connection: reader.connection).bytes(row)
        else { return nil }
        if let body = try NotificationBodiesTable(connection: reader.connection).body(evidence: key) { return body }
        return NotificationBodiesTable.usualBody(of: payload)
    }
}

extension OutgoingEvent {
    /// A notification that this webhook does not get.
    fileprivate init(passing entry: Int64) {
        self.init(
            key: entry, customer: entry, id: "notification_\(entry)", content: .notification(body: nil),
            isAnnounced: false)
    }
}

extension WebhookStream {
    /// The event or entry up to which none can be committed later. A read begins with it.
    func settled(_ connection: any LedgerConnection) throws(LedgerStorageError) -> Int64 {
        switch self {
        case .events: try connection.settledEvent() ?? .max
        case .notifications: try connection.settledEntry() ?? .max
        }
    }
}
