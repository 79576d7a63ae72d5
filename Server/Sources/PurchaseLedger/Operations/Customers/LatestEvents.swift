/// What happened to a customer, the latest first: the events alone, of everybody who was merged into them, too.
public struct LatestEvents: LedgerQuery {
    public static let access = LedgerReadAccess.lists

    public var app: String
    public var customerID: String
    /// The number of the last event of the previous page.
    public var before: Int64
    public var limit: Int

    /// A page of events.
    public init(app: String, customerID: String, before: Int64 = .max, limit: Int) {
        (self.app, self.customerID, self.before, self.limit) = (app, customerID, before, limit)
    }

    /// A page, and the start of the next one; `nil` if this is the last.
    public struct Answer: Sendable {
        public var entries: [TimelineEntry]
        public var next: Int64?
    }

    /// - Throws: `customer_unknown`.
    public func answer(_ reader: LedgerTransaction) throws -> Answer {
        let app = try reader.app(app)
        guard let named = try reader.customers.named(customerID, appKey: app.key) else {
            throw LedgerRefusal(.customerUnknown, expected: customerID)
        }
        let table = EventsTable(connection: reader.connection)
        var rows: [NamedEvent] = []
        for customer in try reader.customers.family(of: named, limit: EventSearch.largestFamily) {
            rows += try table.events(customer: customer, before: before, limit: Int64(limit) + 1)
        }
        rows.sort { $0.key > $1.key }
        let page = rows.prefix(limit)
        return Answer(
            entries: try page.map { try TimelineEntry($0, reader) }, next: rows.count > limit ? page.last?.key : nil)
    }
}
