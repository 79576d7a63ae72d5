import PurchaseVerification

public import struct Foundation.UUID

/// All events of an app, oldest first.
public struct EventList: LedgerQuery {
    public static let access = LedgerReadAccess.confirmed

    let search: EventSearch

    /// A page of events after a cursor; 0 starts with the first event.
    public init(app: String, after: Int64 = 0, limit: Int) {
        search = EventSearch(app: app, after: after, limit: limit)
    }

    public func answer(_ reader: LedgerTransaction) throws -> [StoredEvent] { try search.answer(reader).entries }
}

/// The filter of a list of events. Fields that are `nil` do not restrict it.
public struct EventFilter: Sendable, Equatable {
    /// A customer, including those who were merged into it.
    public var customerID: String?
    public var orderID: UUID?
    public var transactionID: String?

    /// All events.
    public init(customerID: String? = nil, orderID: UUID? = nil, transactionID: String? = nil) {
        self.customerID = customerID
        self.orderID = orderID
        self.transactionID = transactionID
    }
}

/// Events of an app that a filter selects, oldest first. Every page has the `end` of what was read.
public struct EventSearch: LedgerList {
    public static let access = LedgerReadAccess.confirmed

    /// The range of events that a page reads for a transaction, which has no index.
    static let readRange: Int64 = 16_384

    public var app: String
    public var filter: EventFilter
    public var cursor: Int64?
    public var limit: Int

    /// A page of events.
    public init(app: String, filter: EventFilter = EventFilter(), after cursor: Int64? = nil, limit: Int = 50) {
        (self.app, self.filter, self.cursor, self.limit) = (app, filter, cursor, limit)
    }

    /// - Throws: `cursor_ahead`, as after a restored backup.
    public func answer(_ reader: LedgerTransaction) throws -> ListPage<StoredEvent, Int64> {
        let (app, after) = (try reader.app(app), cursor ?? 0)
        guard after >= 0 else {
            throw LedgerRefusal(.fieldMalformed, expected: "cursor: the next_cursor of an answer")
        }
        let table = EventsTable(connection: reader.connection)
        let newest = try reader.newestEvent(of: app)
        // A cursor of the ledger that the app came from, whose last events can be missing here.
        guard try newest >= after || after <= AppMovedDetails.From.of(reader.connection)?.event ?? 0 else {
            throw LedgerRefusal(.cursorAhead, expected: "at most \(newest)", found: "\(after)")
        }
        let isRange = filter.transactionID != nil && filter.customerID == nil && filter.orderID == nil
        let end = isRange ? min(newest, after + Self.readRange) : newest
        var page = try table.order(try indexes(reader, app, upTo: end)).page(after: after, limit: limit) {
            matches($0) ? StoredEvent(cursor: $0.key, content: $0.content(of: app.settings)) : nil
        }
        if page.next == nil, end < newest { page.next = end }
        page.end = page.next ?? max(newest, after)
        return page
    }

    private func matches(_ event: NamedEvent) -> Bool {
        (filter.orderID.map { $0 == event.content.orderID } ?? true)
            && (filter.transactionID.map { $0.isSame(as: event.content.transactionID) } ?? true)
    }

    private func indexes(
        _ reader: LedgerTransaction, _ app: RegistryApp, upTo newest: Int64
    ) throws(LedgerStorageError) -> [ListIndex] {
        let customer: CustomerRow?
        if let name = filter.customerID {
            customer = try reader.customers.named(name, appKey: app.key)
        } else if let id = filter.orderID {
            guard let order = try reader.orders.row(id: id), order.appKey == app.key else { return [] }
            customer = try reader.customers.row(order.customerKey)
        } else if let id = filter.transactionID {
            return try reader.transactions.rows(id: id).map {
                ListIndex(
                    "events.app_key = ?1 AND events.transaction_key = ?2 AND events.event_key <= ?3", app.key, $0.key,
                    newest)
            }
        } else {
            return [EventsTable.ofApp(app.key, upTo: newest)]
        }
        guard let customer else { return [] }
        return try reader.customers.family(of: customer, limit: CustomersTable.listedFamily)
            .map { EventsTable.ofCustomer($0, upTo: newest) }
    }
}

extension LedgerTransaction {
    /// The newest event of an app up to which all are stored; 0 if there is none.
    fileprivate func newestEvent(of app: RegistryApp) throws -> Int64 {
        try OutgoingTable(connection: connection, appKey: app.key, environment: 0)
            .newest(upTo: try connection.settledEvent() ?? .max)
    }
}

/// Where a reader of events begins who names the last event that they have.
public struct EventPosition: LedgerQuery {
    public static let access = LedgerReadAccess.confirmed

    private let app: String
    private let id: String?

    /// - Parameter id: the id of an event; 0 for the place before the first event, `nil` for the one after the newest.
    public init(app: String, id: String?) { (self.app, self.id) = (app, id) }

    public struct Answer: Sendable {
        /// The cursor after the event.
        public let cursor: Int64
        /// Its id; `nil` if there is no event yet.
        public let id: String?
        /// The cursor after the newest event.
        public let newest: Int64
    }

    /// - Throws: `field_malformed`; `cursor_ahead` if the ledger does not have the event, as after a restored backup.
    public func answer(_ reader: LedgerTransaction) throws -> Answer {
        let app = try reader.app(app)
        let newest = try reader.newestEvent(of: app)
        if id == "0" { return Answer(cursor: 0, id: id, newest: newest) }
        guard let number = try id.map({ try Self.number($0) }) ?? (newest > 0 ? newest : nil) else {
            return Answer(cursor: 0, id: "0", newest: 0)
        }
        guard number <= newest,
            let event = try EventsTable(connection: reader.connection)
                .order([EventsTable.ofApp(app.key, upTo: newest)]).rows(after: number - 1, limit: 1).first?.content,
            event.number == number, id.map({ $0.isSame(as: event.id) }) ?? true
        else { throw LedgerRefusal(.cursorAhead, expected: "the id of an event of this ledger", found: id) }
        return Answer(cursor: number, id: event.id, newest: newest)
    }

    private static func number(_ id: String) throws -> Int64 {
        guard let number = EventContent.number(inID: id) else {
            throw LedgerRefusal(.fieldMalformed, expected: "Last-Event-ID: the id of an event, or 0")
        }
        return number
    }
}

/// An event and its cursor.
public struct StoredEvent: Sendable, Equatable {
    /// The cursor after this event.
    public var cursor: Int64
    public var content: EventContent

    public var type: String { content.type }
}
