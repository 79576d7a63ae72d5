import PurchaseVerification

public import struct Foundation.UUID

/// The events of an app, oldest first.
public struct EventList: LedgerQuery {
    public static let access = LedgerReadAccess.lists

    public var app: String
    /// The cursor of the last event that was read; 0 starts with the first event.
    public var after: Int64
    public var limit: Int

    /// A page of events.
    public init(app: String, after: Int64 = 0, limit: Int) {
        self.app = app
        self.after = after
        self.limit = limit
    }

    public func answer(_ reader: LedgerTransaction) throws -> [StoredEvent] {
        let app = try reader.app(app)
        let settled = try reader.connection.settledEvent() ?? .max
        return try EventsTable(connection: reader.connection)
            .events(appKey: app.key, after: after, limit: Int64(max(1, limit)))
            .prefix { $0.key <= settled }
            .map { StoredEvent(cursor: $0.key, content: EventContent($0, app: app.settings)) }
    }
}

extension EventContent {
    /// An event under the settings of its app.
    init(_ event: NamedEvent, app: RegisteredApp) {
        let isCounted = event.environment.map {
            app.sandboxAccess.counts(AppStoreEnvironment($0), isTester: event.isTester)
        }
        self.init(
            type: event.type, at: event.at, app: app.id, customerID: event.customer,
            formerCustomerID: event.formerCustomer, ownerCustomerID: event.ownerCustomer,
            environment: event.environment, counts: isCounted,
            productID: event.productID, transactionID: event.transactionID,
            originalTransactionID: event.originalTransactionID, orderID: event.orderID, units: event.figures.units,
            // As in the customer's entitlements: what does not count gives nothing.
            balance: event.figures.balance.map { isCounted == false ? 0 : $0 },
            shortfall: event.figures.shortfall.map { isCounted == false ? 0 : $0 },
            until: event.figures.until, reason: event.figures.reason, submissionID: event.figures.submission,
            price: event.price?.milliunits, currency: event.price?.currency?.string,
            changed: event.figures.renewal?.changed.map(\.rawValue), renewal: event.figures.renewal?.current,
            formerRenewal: event.figures.renewal?.former, entryID: event.entryID)
    }
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

/// Events of an app that a filter selects, oldest first.
public struct EventSearch: LedgerQuery {
    public static let access = LedgerReadAccess.lists

    /// The maximum number of a customer's events that a page reads, or the page's limit if that is higher.
    static let readEvents = 512
    /// The range of events that a page reads for a transaction, which has no index.
    static let readRange: Int64 = 16_384
    /// The maximum number of customers that were merged into one whose events are read.
    static let largestFamily = 64

    public var app: String
    public var filter: EventFilter
    /// The cursor at which the previous page ended; 0 starts with the first event.
    public var after: Int64
    public var limit: Int

    /// A page of events.
    public init(app: String, filter: EventFilter, after: Int64 = 0, limit: Int) {
        self.app = app
        self.filter = filter
        self.after = after
        self.limit = limit
    }

    /// A page, and the cursor of the next one. A page can be shorter than the limit, or empty, although more events
    /// follow.
    public struct Answer: Sendable {
        public var events: [StoredEvent]
        public var next: Int64
        /// Whether all events were read.
        public var isEnd: Bool
    }

    public func answer(_ reader: LedgerTransaction) throws -> Answer {
        let app = try reader.app(app)
        let page = try named(reader, app)
        return Answer(
            events: page.events.map { StoredEvent(cursor: $0.key, content: EventContent($0, app: app.settings)) },
            next: page.next, isEnd: page.isEnd)
    }

    /// The events of a page with the names of their rows.
    func named(
        _ reader: LedgerTransaction, _ app: RegistryApp
    ) throws -> (events: [NamedEvent], next: Int64, isEnd: Bool) {
        let table = EventsTable(connection: reader.connection)
        let newest = try table.newest(appKey: app.key, upTo: try reader.connection.settledEvent() ?? .max)
        guard newest >= after else {
            throw LedgerRefusal(.cursorAhead, expected: "at most \(newest)", found: "\(after)")
        }
        let limit = max(1, limit)
        guard newest > after else { return ([], after, true) }
        guard filter != EventFilter() else {
            let events = try table.events(appKey: app.key, after: after, limit: Int64(limit)).filter {
                $0.key <= newest
            }
            return (events, events.last?.key ?? after, events.count < limit)
        }
        guard let customers = try customers(reader, app) else {
            return try ofTransaction(table, reader, app, newest: newest, limit: limit)
        }
        let size = max(limit, Self.readEvents)
        var rows: [NamedEvent] = []
        for customer in customers {
            rows += try table.events(customer: customer, after: after, limit: Int64(size)).filter { $0.key <= newest }
        }
        // Beyond the shortest complete page of a customer, others can have events that were not read.
        rows = Array(rows.sorted { $0.key < $1.key }.prefix(size))
        var events: [NamedEvent] = []
        for row in rows where matches(row) {
            guard events.count < limit else { return (events, events.last?.key ?? after, false) }
            events.append(row)
        }
        guard rows.count < size else { return (events, rows.last?.key ?? after, false) }
        return (events, newest, true)
    }

    private func matches(_ event: NamedEvent) -> Bool {
        (filter.orderID.map { $0 == event.orderID } ?? true)
            && (filter.transactionID.map { $0.isSame(as: event.transactionID) } ?? true)
    }

    /// The customers whose events the filter can select; `nil` if it names neither a customer nor an order.
    private func customers(_ reader: LedgerTransaction, _ app: RegistryApp) throws(LedgerStorageError) -> [Int64]? {
        let customer: CustomerRow?
        if let name = filter.customerID {
            customer = try reader.customers.named(name, appKey: app.key)
        } else if let id = filter.orderID {
            guard let order = try reader.orders.row(id: id), order.appKey == app.key else { return [] }
            customer = try reader.customers.row(order.customerKey)
        } else {
            return nil
        }
        guard let customer else { return [] }
        return try reader.customers.family(of: customer, limit: Self.largestFamily)
    }

    private func ofTransaction(
        _ table: EventsTable, _ reader: LedgerTransaction, _ app: RegistryApp, newest: Int64, limit: Int
    ) throws(LedgerStorageError) -> (events: [NamedEvent], next: Int64, isEnd: Bool) {
        let end = min(newest, after + Self.readRange)
        var events: [NamedEvent] = []
        for transaction in try reader.transactions.rows(id: filter.transactionID ?? "") {
            events += try table.events(
                appKey: app.key, transaction: transaction.key, in: after + 1...end, limit: Int64(limit))
        }
        events = Array(events.sorted { $0.key < $1.key }.prefix(limit))
        guard events.count < limit else { return (events, events.last?.key ?? end, false) }
        return (events, end, end == newest)
    }
}

/// An event and its cursor.
public struct StoredEvent: Sendable, Equatable {
    /// The cursor after this event.
    public var cursor: Int64
    public var content: EventContent

    public var type: String { content.type }
}
