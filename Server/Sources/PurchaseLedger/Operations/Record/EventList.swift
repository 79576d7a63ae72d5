import PurchaseVerification

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
