import PurchaseVerification

/// The events of an app after a cursor, or its notifications of an environment, for its webhooks, oldest first.
public struct OutgoingEvents: LedgerQuery {
    public static let access = LedgerReadAccess.confirmed

    /// The number of pages without an announced event that are read at a time: an import writes hundreds of thousands
    /// of events, and those behind them wait.
    private static let passedPages = 16

    public var app: String
    public var stream: WebhookStream
    public var after: Int64
    public var limit: Int

    /// The events after a cursor.
    public init(app: String, _ stream: WebhookStream = .events, after: Int64, limit: Int) {
        (self.app, self.stream, self.after, self.limit) = (app, stream, after, limit)
    }

    /// - Returns: the events to deliver. If the last element is not announced, it represents all events that were
    ///   passed over.
    public func answer(_ reader: LedgerTransaction) throws -> [OutgoingEvent] {
        let app = try reader.app(app)
        let limit = max(1, limit)
        // An event after one that can still be committed has to wait, since the cursor would pass the uncommitted one.
        let settled = try stream.settled(reader.connection)
        let source = try OutgoingSource(reader: reader, app: app, stream: stream)
        var passed: OutgoingEvent?
        for _ in 0..<Self.passedPages {
            let page = try source.events(after: passed?.key ?? after, upTo: settled, limit: Int64(limit))
            let events = page.filter(\.isAnnounced)
            passed = page.last { !$0.isAnnounced } ?? passed
            if !events.isEmpty {
                if let last = page.last, !last.isAnnounced { return events + [last] }
                return events
            }
            guard page.count == limit else { break }
        }
        return passed.map { [$0] } ?? []
    }
}

/// Reads the events, or the notifications, that a webhook gets.
struct OutgoingSource {
    let reader: LedgerTransaction
    let app: RegistryApp
    let stream: WebhookStream
    let table: OutgoingTable

    init(reader: LedgerTransaction, app: RegistryApp, stream: WebhookStream) throws(LedgerStorageError) {
        (self.reader, self.app, self.stream) = (reader, app, stream)
        let environment = try WebhooksTable(connection: reader.connection).number(of: stream)
        // -1 for an environment that no notification has.
        table = OutgoingTable(connection: reader.connection, appKey: app.key, environment: environment ?? -1)
    }

    /// A page after a cursor, with those that are passed over.
    func events(after: Int64, upTo settled: Int64, limit: Int64) throws(LedgerStorageError) -> [OutgoingEvent] {
        switch stream {
        case .events:
            return try EventsTable(connection: reader.connection)
                .order([EventsTable.ofApp(app.key, upTo: settled)]).rows(after: after, limit: Int(limit))
                .map { OutgoingEvent($0, app: app.settings) }
        case .notifications(let environment):
            let rows = try NotificationsTable(connection: reader.connection)
                .entries(appKey: app.key, after: after, limit: limit)
            var events: [OutgoingEvent] = []
            for row in rows {
                guard row.entry <= settled else { break }
                let isWanted =
                    row.environment == table.environment || (row.environment == 0 && environment == .production)
                events.append(isWanted ? try notification(row.entry) : OutgoingEvent(passing: row.entry))
            }
            return events
        }
    }

    /// The clocks of several servers, and the order of their commits, differ by less than this, in milliseconds.
    private static let disorder: Int64 = 60_000
    /// The events that are looked at together before the place that was found.
    private static let window: Int64 = 1000

    /// The last event before a time, or an earlier one; 0 if there is none.
    ///
    /// It halves the range of the keys, which are in the order of the times; merges are not, and are passed over. A
    /// clock that was wrong can make a time older than those before it. So it then goes back as long as a window of
    /// events before the place has one that is not older.
    func last(before time: Timestamp, upTo newest: Int64) throws(LedgerStorageError) -> Int64 {
        let time = Timestamp(millisecondsSince1970: time.millisecondsSince1970 - Self.disorder)
        var (before, after) = (Int64(0), newest)
        while before < after {
            let middle = before + (after - before + 1) / 2
            let found = try table.newest(in: before + 1...middle)
            if let found, found.at >= time { after = found.key - 1 } else { before = middle }
        }
        while let oldest = try table.oldest(since: time, upTo: before, limit: Self.window) { before = oldest - 1 }
        return before
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

/// How far events of an app are delivered to each of its webhooks.
public struct EventDeliveries: LedgerQuery {
    public static let access = LedgerReadAccess.lists

    /// The largest number of events of one question.
    public static let mostEvents = 100

    public var app: String
    /// The numbers of the events.
    public var events: [Int64]

    /// The deliveries of the first hundred of these events.
    public init(app: String, events: [Int64]) {
        self.app = app
        self.events = Array(events.prefix(Self.mostEvents))
    }

    /// - Returns: for each webhook that a server ever delivered to, and each event, how far it is.
    public func answer(_ reader: LedgerTransaction) throws -> [EventDelivery] {
        guard !events.isEmpty else { return [] }
        let app = try reader.app(app)
        let table = WebhookDeliveriesTable(connection: reader.connection)
        var answer: [EventDelivery] = []
        for webhook in try WebhooksTable(connection: reader.connection).all(appKey: app.key)
        where webhook.environment == 0 {
            let rows = try table.rows(webhook.key, events: events)
            for event in events {
                var delivery = EventDelivery(event: event, url: webhook.url, state: .delivered)
                if let row = rows[event] {
                    delivery.state = row.state == .dead || row.state == .gap ? .givenUp : .waiting
                    (delivery.attempts, delivery.lastError) = (row.attempts, row.lastError)
                } else if event > webhook.cursor {
                    delivery.state = .waiting
                }
                answer.append(delivery)
            }
        }
        return answer
    }
}

/// How far an event is delivered to a webhook.
public struct EventDelivery: Sendable, Equatable {
    /// Whether it arrived.
    public enum State: Sendable {
        /// The receiver accepted it, or it is older than the webhook.
        case delivered
        /// It was not attempted yet, or will be attempted again.
        case waiting
        /// It was given up.
        case givenUp
    }

    public var event: Int64
    public var url: String
    public var state: State
    /// The attempts that failed.
    public var attempts = 0
    /// Why the last attempt failed.
    public var lastError: String?
}
