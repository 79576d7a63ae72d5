public import PurchaseVerification

/// What an event of Stripe says about a subscription.
public struct StripeEvent: Sendable {
    public var id: String
    /// When Stripe made it, in seconds since 1970.
    public var created: Int64
    public var subscription: String
    public var standing: Standing
    /// Whether it says that the subscription was created, so that it is before all others of its second.
    public var isFirst = false
    /// The latest end of a period of the subscription, in seconds since 1970.
    public var ends: Int64
    public var environment: AppStoreEnvironment
    /// The customer whom the shop's server named.
    public var customerID: String?
    /// The products that the subscription gives, each with its end.
    public var products: [ExactText: Timestamp] = [:]
    /// What the event waits for; `nil` if nothing is missing.
    public var missing: String?

    /// The order of the events of one second.
    var rank: Int64 { isFirst ? -1 : standing.rawValue }

    /// How far a subscription is in its life. Of two events of one second, the later standing decides.
    public enum Standing: Int64, Sendable {
        /// The first payment is missing.
        case incomplete
        case trialing
        case active
        /// Not paid, or paused.
        case unpaid
        /// It never comes back.
        case ended

        /// Whether it gives its products.
        public var isGiving: Bool { self == .trialing || self == .active }
    }

    public init(
        id: String, created: Int64, subscription: String, standing: Standing, ends: Int64,
        environment: AppStoreEnvironment
    ) {
        (self.id, self.created, self.subscription) = (id, created, subscription)
        (self.standing, self.ends, self.environment) = (standing, ends, environment)
    }
}

/// Records an event of Stripe, and makes the grounds of its subscription what the newest event says (docs/ledger.md,
/// "Stripe").
public struct RecordStripeEvent: LedgerOperation {
    private static let source = "stripe"

    public var app: String
    public var event: StripeEvent

    public init(app: String, _ event: StripeEvent) { (self.app, self.event) = (app, event) }

    public enum Outcome: String, Sendable {
        case recorded, repeated, superseded, held
    }

    public var locks: LedgerLocks {
        let customer = event.customerID.map { LedgerLock.customer($0) }
        return .parts(Set([.ground(app, Self.source, event.subscription)] + [customer].compactMap(\.self)))
    }

    public func perform(_ transaction: LedgerTransaction) throws -> Outcome {
        let app = try transaction.app(app)
        let table = StripeEventsTable(connection: transaction.connection)
        let known = try table.row(event.id, appKey: app.key)
        if let known, known.state != .held { return .repeated }
        let applied = try table.applied(event.subscription, appKey: app.key)
        let isNewest = applied.map { isAfter($0) } ?? true
        let state: StripeEventRow.State = !isNewest ? .superseded : event.missing == nil ? .applied : .held
        if state == .held, let known, known.missing == event.missing { return .held }
        let details = StripeEventDetails(
            event: event.id, subscription: event.subscription, created: event.created,
            standing: event.rank, ends: event.ends, state: state,
            missing: state == .held ? event.missing : nil)
        try details.run(try transaction.append(transaction.draft(app), details))
        switch state {
        case .superseded: return .superseded
        case .held: return .held
        case .applied:
            try apply(app, transaction)
            return .recorded
        }
    }

    /// Whether the event decides instead of another one. The ids order what is equal otherwise, so that every order of
    /// arrival ends with the same one.
    private func isAfter(_ other: StripeEventRow) -> Bool {
        let own = (event.created, event.rank, event.ends)
        let others = (other.created, other.standing, other.ends)
        return own == others ? ExactText(event.id) > ExactText(other.eventID) : own > others
    }

    /// Ends the grounds of the subscription that the event does not give, and writes the others.
    private func apply(_ app: RegistryApp, _ transaction: LedgerTransaction) throws {
        let grants = HandGrantsTable(connection: transaction.connection)
        let inForce = try grants.grounds(Self.source, beginning: "\(event.subscription)/", appKey: app.key)
            .filter { $0.liftedAt == nil && $0.endsAt.map { $0 > transaction.now } ?? true }
        var given = event.standing.isGiving ? event.products.filter { $0.value > transaction.now } : [:]
        let customer = try given.isEmpty ? nil : event.customerID.map { try transaction.customerToWrite($0, app) }
        try transaction.lock(customers: { Set(inForce.map(\.customerKey)) })
        let environment = try transaction.environments.keyToWrite(of: event.environment)
        for row in inForce {
            let product = ExactText(try transaction.products.id(row.productKey))
            if let customer, let end = given[product], row.customerKey == customer.key, row.environment == environment {
                if row.endsAt != end { try write(product, end, over: row, customer, app, transaction) }
                given[product] = nil
            } else {
                try EndGround.end(row, app, transaction)
            }
        }
        guard let customer else { return }
        for (product, end) in given.sorted(by: { $0.key < $1.key }) {
            try write(product, end, over: nil, customer, app, transaction)
        }
    }

    /// Writes a new ground, or another end of one in force: also an earlier one, since Stripe's newest state decides.
    private func write(
        _ product: ExactText, _ end: Timestamp, over row: HandGrantRow?, _ customer: CustomerRow, _ app: RegistryApp,
        _ transaction: LedgerTransaction
    ) throws {
        guard let kind = app.settings.product(product.string)?.kind, kind != .consumable else {
            throw LedgerRefusal(.productUnknown, found: product.string)
        }
        let ground = AddGround(
            app: self.app, customerID: event.customerID ?? "", source: Self.source,
            reference: "\(event.subscription)/\(product.string)", productID: product.string,
            environment: event.environment, until: end)
        try ground.write(
            row?.id ?? TimeOrderedID.next(at: transaction.now), row?.startsAt ?? transaction.now, kind, customer, app,
            transaction)
    }
}

/// `stripe_event`. It names no customer: the entries of the grounds do.
struct StripeEventDetails: LedgerInput {
    static var kind: JournalKind { .stripeEvent }
    var event: String
    var subscription: String
    var created: Int64
    var standing: Int64
    var ends: Int64
    var state: StripeEventRow.State
    var missing: String?

    func run(_ write: EntryWrite) throws {
        try StripeEventsTable(connection: write.connection).write(
            StripeEventRow(self, entry: write.entry.key, appKey: write.app.key))
    }
}

extension StripeEventRow {
    fileprivate init(_ details: StripeEventDetails, entry: Int64, appKey: Int64) {
        (entryKey, self.appKey, eventID) = (entry, appKey, details.event)
        (subscription, created, standing) = (details.subscription, details.created, details.standing)
        (ends, state, missing) = (details.ends, details.state, details.missing)
    }
}
