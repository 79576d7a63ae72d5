/// The events of a customer, and of everybody merged into them, the newest first.
public struct LatestEvents: LedgerList {
    public var app: String
    public var customerID: String
    public var cursor: Int64?
    public var limit: Int

    /// A page of events.
    public init(app: String, customerID: String, before cursor: Int64? = nil, limit: Int) {
        (self.app, self.customerID, self.cursor, self.limit) = (app, customerID, cursor, limit)
    }

    /// - Throws: `customer_unknown`.
    public func answer(_ reader: LedgerTransaction) throws -> ListPage<TimelineEntry, Int64> {
        let family = try reader.customers.family(customerID, appKey: try reader.app(app).key)
        return try EventsTable(connection: reader.connection)
            .order(family.keys.map { ListIndex("events.customer_key = ?1", $0) }, isAscending: false)
            .page(after: cursor, limit: limit).map { try TimelineEntry($0, reader) }
    }
}
