import PurchaseVerification

/// Everything that happened to a customer, oldest first: the events, and the claims that were rejected.
public struct CustomerTimeline: LedgerQuery {
    public static let access = LedgerReadAccess.lists

    /// The maximum number of events, and of claims, that a page reads.
    static let readRows = 512

    public var app: String
    public var customerID: String
    /// The position at which the previous page ended.
    public var cursor: TimelineCursor?
    public var limit: Int

    /// A page of the timeline.
    public init(app: String, customerID: String, cursor: TimelineCursor? = nil, limit: Int) {
        self.app = app
        self.customerID = customerID
        self.cursor = cursor
        self.limit = limit
    }

    /// A page, and the start of the next one; `nil` if this is the last. A page can be shorter than the limit, or
    /// empty, although there is a next one.
    public struct Answer: Sendable {
        /// The customer's id after all merges; `nil` after an erasure.
        public var customerID: String?
        public var entries: [TimelineEntry]
        public var next: TimelineCursor?
    }

    /// - Throws: `customer_unknown`.
    public func answer(_ reader: LedgerTransaction) throws -> Answer {
        let app = try reader.app(app)
        let settled = try reader.connection.settledEvent() ?? .max
        guard let named = try reader.customers.named(customerID, appKey: app.key) else {
            throw LedgerRefusal(.customerUnknown, expected: customerID)
        }
        let family = try reader.customers.family(of: named, limit: EventSearch.largestFamily)
        var place = cursor ?? TimelineCursor()
        let events = try events(family, reader, after: place, upTo: settled)
        let claims = try claims(family, reader, after: place)
        var entries: [TimelineEntry] = []
        var (event, claim) = (events.rows[...], claims.rows[...])
        var isEnd = false
        while true {
            if event.isEmpty && !events.isComplete || claim.isEmpty && !claims.isComplete { break }
            if let next = event.first, claim.first.map({ next.at <= $0.at }) ?? true {
                guard entries.count < limit else { break }
                entries.append(try TimelineEntry(next, reader))
                place.event = next.key
                event.removeFirst()
            } else if let next = claim.first {
                if next.code != DecisionCode.accepted.rawValue {
                    let entry = try TimelineEntry(rejected: next, app: app.settings.id, reader)
                    if let last = entries.indices.last, entries[last].isRepeated(by: entry) {
                        entries[last].count += 1
                        entries[last].lastAt = entry.at
                    } else {
                        guard entries.count < limit else { break }
                        entries.append(entry)
                    }
                }
                place.claim = JournalCursor(at: next.at, key: next.key)
                claim.removeFirst()
            } else {
                isEnd = true
                break
            }
        }
        let survivor = try reader.customers.row(family[0])
        return Answer(customerID: survivor.name, entries: entries, next: isEnd ? nil : place)
    }

    private func events(
        _ family: [Int64], _ reader: LedgerTransaction, after place: TimelineCursor, upTo settled: Int64
    ) throws(LedgerStorageError) -> (rows: [NamedEvent], isComplete: Bool) {
        let table = EventsTable(connection: reader.connection)
        var rows: [NamedEvent] = []
        for customer in family {
            rows += try table.events(customer: customer, after: place.event, limit: Int64(Self.readRows))
        }
        rows = rows.filter { $0.key <= settled }.sorted { $0.key < $1.key }
        return (Array(rows.prefix(Self.readRows)), rows.count < Self.readRows)
    }

    private func claims(
        _ family: [Int64], _ reader: LedgerTransaction, after place: TimelineCursor
    ) throws(LedgerStorageError) -> (rows: [JournalRow], isComplete: Bool) {
        let table = JournalTable(connection: reader.connection)
        var rows: [JournalRow] = []
        for customer in family {
            rows += try table.claims(customer: customer, after: place.claim, limit: Int64(Self.readRows))
        }
        rows.sort { ($0.at, $0.key) < ($1.at, $1.key) }
        return (Array(rows.prefix(Self.readRows)), rows.count < Self.readRows)
    }
}
