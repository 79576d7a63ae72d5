public import PurchaseAPI
public import PurchaseVerification

/// Reads the access of claimed seats, which follows from that of the purchaser and is not stored for each member.
struct SeatReading {
    let reader: LedgerTransaction
    let question: AccessQuestion

    private var seats: SeatsTable { SeatsTable(connection: reader.connection) }

    /// The entitlements of a customer with the timelines of their seats.
    func resolved(
        _ rows: [(row: EntitlementRow, productID: String)]
    ) throws(LedgerStorageError) -> [(row: EntitlementRow, productID: String)] {
        guard rows.contains(where: { $0.row.seatEntry != nil }) else { return rows }
        var resolved = rows
        for place in rows.indices { resolved[place].row = try self.resolved(rows[place].row) }
        return resolved
    }

    /// The entitlements of a customer to one product with the timelines of their seats.
    func resolved(_ rows: [EntitlementRow]) throws(LedgerStorageError) -> [EntitlementRow] {
        var resolved = rows
        for place in rows.indices where rows[place].seatEntry != nil {
            resolved[place] = try self.resolved(rows[place])
        }
        return resolved
    }

    private func resolved(_ row: EntitlementRow) throws(LedgerStorageError) -> EntitlementRow {
        guard let entry = row.seatEntry else { return row }
        guard let seat = try seats.row(entry: entry),
            let stored = try SeatAccessTable(connection: reader.connection).rows(original: seat.originalKey)
                .first(where: { $0.productKey == row.productKey })
        else { throw LedgerStorageError(.corrupt, "there is no seat of entry \(entry)") }
        let access = try stored.access(in: try reader.environments.environment(stored.environment))
        var resolved = row
        resolved.timeline = try timeline(of: seat, access).encoded
        return resolved
    }

    private func timeline(of seat: SeatRow, _ access: SeatAccess) throws(LedgerStorageError) -> AccessTimeline {
        let largest = access.numbers.map(\.seats).max() ?? 0
        // Claims that have ended are not counted for now, so its cost is bounded by the number of seats.
        let older =
            question.isAboutNow
            ? try seats.count(original: seat.originalKey, before: seat.entryKey, limit: largest)
            : try seats.count(original: seat.originalKey, before: seat.entryKey, at: question.moment)
        return access.timeline(
            of: SeatAccess.Claim(claimedAt: seat.claimedAt, endedAt: seat.endedAt, olderClaims: older))
    }

    /// What a subscription gives those who claim its seats; empty if the backend does not invite its members.
    func access(to original: OriginalRow) throws(LedgerStorageError) -> [SeatAccess] {
        let stored = try SeatAccessTable(connection: reader.connection).rows(original: original.key)
        guard stored.isEmpty else {
            let environment = try reader.environments.environment(original.environment)
            return try stored.map { row throws(LedgerStorageError) in try row.access(in: environment) }
        }
        let history = try HistoryReader(transaction: reader).history(original)
        return Array(history.seatAccess(.stored(history)).values)
    }

    /// The number of claims that can have access to a subscription.
    func number(of access: [SeatAccess]) -> Int64 { access.map { $0.number(question) }.max() ?? 0 }
}

extension LedgerTransaction {
    /// The original of a subscription of an app.
    ///
    /// - Throws: `purchase_unknown`, or `purchase_ambiguous` if there are several and no environment is named.
    func subscription(
        _ id: String, _ environment: AppStoreEnvironment?, _ app: RegistryApp
    ) throws -> OriginalRow {
        let found = try OriginalsTable(connection: connection).rows(id: id).filter { row in
            guard row.appKey == app.key else { return false }
            return try environment.map { try environments.environment(row.environment) == $0 } ?? true
        }
        guard let row = found.first else { throw LedgerRefusal(.purchaseUnknown, expected: id) }
        guard found.count == 1 else { throw LedgerRefusal(.purchaseAmbiguous, expected: id) }
        return row
    }
}

extension SeatMessage {
    /// A claimed seat of a subscription; whether it is seated is not known from its row.
    init(
        _ row: SeatRow, of original: OriginalRow, _ reader: LedgerTransaction
    ) throws(LedgerStorageError) {
        self.init(
            seatID: row.seatID, originalTransactionID: original.originalID,
            environment: EnvironmentName(try reader.environments.environment(original.environment)),
            requestID: row.requestID, claimedAt: "\(row.claimedAt)")
        customerID = try reader.customers.surviving(try reader.customers.row(row.customerKey)).name
        (appTransactionID, unclaimedAt) = (row.appTransactionID, row.endedAt.map { "\($0)" })
    }
}

/// The claimed seats of a subscription that have not ended, the oldest first.
public struct SeatsOfSubscription: LedgerList {
    public var app: String
    public var originalTransactionID: String
    public var environment: AppStoreEnvironment?
    public var cursor: Int64?
    public var limit: Int

    /// A page of seats.
    public init(
        app: String, originalTransactionID: String, environment: AppStoreEnvironment? = nil,
        after cursor: Int64? = nil, limit: Int = 50
    ) {
        (self.app, self.originalTransactionID, self.environment) = (app, originalTransactionID, environment)
        (self.cursor, self.limit) = (cursor, limit)
    }

    /// A page, and the start of the next one; `nil` if this is the last.
    public struct Answer: Sendable {
        public var environment: AppStoreEnvironment
        /// The seats of the present period; 0 if it gives no access.
        public var seats: Int64
        /// The claims that have not ended, on all pages. There can be more than seats.
        public var claims: Int64
        public var claimed: [SeatMessage]
        public var next: Int64?
    }

    /// - Throws: `purchase_unknown`, `purchase_ambiguous`, `seats_not_hosted`.
    public func answer(_ reader: LedgerTransaction) throws -> Answer {
        let app = try reader.app(app)
        let original = try reader.subscription(originalTransactionID, environment, app)
        let seats = SeatsTable(connection: reader.connection)
        let reading = SeatReading(reader: reader, question: .now(reader.now))
        let access = try reading.access(to: original)
        guard !access.isEmpty else {
            throw LedgerRefusal(
                .seatsNotHosted, expected: "a subscription with invitationManagement DEVELOPER",
                found: original.originalID)
        }
        let number = reading.number(of: access)
        let page = try ListOrder<SeatRow, Int64>(
            reader.connection, [ListIndex("original_key = ?1 AND ended_at IS NULL", original.key)], by: ["entry_key"],
            isAscending: true, cursor: \.entryKey
        ).page(after: cursor, limit: limit)
        var older = try page.entries.first.map { first throws(LedgerStorageError) in
            try seats.count(original: original.key, before: first.entryKey, limit: .max)
        }
        let claimed = try page.map { row in
            var seat = try SeatMessage(row, of: original, reader)
            seat.seated = (older ?? 0) < number
            older = (older ?? 0) + 1
            return seat
        }
        return Answer(
            environment: try reader.environments.environment(original.environment), seats: number,
            claims: try seats.count(original: original.key, before: .max, limit: .max), claimed: claimed.entries,
            next: claimed.next)
    }
}

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

    public func answer(_ reader: LedgerTransaction) throws -> SubscriptionList {
        let app = try reader.app(app)
        guard let customer = try reader.customer(customerID, app) else {
            return SubscriptionList(customerID: customerID, subscriptions: [])
        }
        let renewals = RenewalReading(reader: reader, customer: customer, question: .now(reader.now))
        let subscriptions = try CustomerSubscription.all(of: customer, app, reader).map { one in
            let original = try OriginalsTable(connection: reader.connection).row(one.originalKey)
            var seat = try one.seat.map { try SeatMessage($0, of: original, reader) }
            let entitlement = try renewals.added(to: one.entitlement)
            seat?.seated = one.seat?.endedAt == nil && one.isActive
            return SubscriptionMessage(
                originalTransactionID: original.originalID, entitlement: EntitlementMessage(entitlement), seat: seat)
        }
        return SubscriptionList(
            customerID: customerID, mergedInto: customer.survivor(of: customerID), subscriptions: subscriptions)
    }
}

/// A subscription of a customer: their own, or one of which they claimed a seat.
struct CustomerSubscription {
    let originalKey: Int64
    let seat: SeatRow?
    let entitlement: Entitlement

    var isActive: Bool { entitlement.state == .active }

    static func all(
        of customer: CustomerRow, _ app: RegistryApp, _ reader: LedgerTransaction
    ) throws -> [CustomerSubscription] {
        let question = AccessQuestion.now(reader.now)
        let reading = EntitlementReading(
            app: app.settings, question: question, news: NewsSource(reader: reader, app: app))
        let seats = SeatReading(reader: reader, question: question)
        var subscriptions: [CustomerSubscription] = []
        for (row, productID) in try seats.resolved(try reader.entitlements.rows(of: customer.key))
        where row.kind == .autoRenewable {
            let seat = try row.seatEntry.flatMap { try SeatsTable(connection: reader.connection).row(entry: $0) }
            guard let key = seat?.originalKey ?? (row.ground > 0 ? row.ground : nil) else { continue }
            let environment = try reader.environments.environment(row.environment)
            guard
                let uncounted = try reading.entitlements([row], productID: productID, environment: environment).first
            else { continue }
            let counts = try reader.counts(environment, for: customer.key, app)
            subscriptions.append(
                CustomerSubscription(originalKey: key, seat: seat, entitlement: uncounted.counted(counts)))
        }
        return subscriptions
    }
}
