/// The subscriptions of a customer: their own, and those of which they claimed a seat.
public struct SubscriptionsOfCustomer: LedgerQuery {
    public static let access = LedgerReadAccess.lists

    public var app: String
    public var customerID: String

    /// The subscriptions of a customer.
    public init(app: String, customerID: String) {
        self.app = app
        self.customerID = customerID
    }

    /// The subscriptions, and the customer into whom the named one was merged; `nil` if it was not.
    public struct Answer: Sendable {
        public var subscriptions: [CustomerSubscription]
        public var mergedInto: String?
    }

    public func answer(_ reader: LedgerTransaction) throws -> Answer {
        let app = try reader.app(app)
        guard let customer = try reader.customer(customerID, app) else { return Answer(subscriptions: []) }
        let question = AccessQuestion.now(reader.now)
        let reading = EntitlementReading(
            app: app.settings, question: question, news: NewsSource(reader: reader, app: app))
        let renewals = RenewalReading(reader: reader, customer: customer, question: question)
        var subscriptions: [CustomerSubscription] = []
        let seats = SeatReading(reader: reader, question: question)
        var rows = try seats.resolved(try reader.entitlements.rows(of: customer.key))[...]
        while let first = rows.first {
            let group = rows.prefix {
                $0.row.productKey == first.row.productKey && $0.row.environment == first.row.environment
            }
            rows = rows.dropFirst(group.count)
            for row in group.map(\.row) where row.kind == .autoRenewable {
                let seat = try row.seatEntry.flatMap { try SeatsTable(connection: reader.connection).row(entry: $0) }
                guard let key = seat?.originalKey ?? (row.ground > 0 ? row.ground : nil) else { continue }
                let environment = try reader.environments.environment(row.environment)
                let counts = try reader.counts(environment, for: customer.key, app)
                guard
                    let uncounted = try reading.entitlements(
                        [row], productID: first.productID, environment: environment
                    ).first
                else { continue }
                let original = try OriginalsTable(connection: reader.connection).row(key)
                var record = try seat.map { try SeatRecord($0, of: original, reader) }
                let entitlement = try renewals.added(to: uncounted.counted(counts))
                record?.isSeated = seat?.endedAt == nil && entitlement.state == .active
                subscriptions.append(
                    CustomerSubscription(
                        originalTransactionID: original.originalID, entitlement: entitlement, seat: record))
            }
        }
        return Answer(subscriptions: subscriptions, mergedInto: customer.survivor(of: customerID))
    }
}
