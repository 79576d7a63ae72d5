public import PurchaseVerification

public import struct Foundation.UUID

/// A product that another shop gives to a customer. Assay does not verify the shop: the backend did.
public struct OutsideGround: Sendable, Equatable {
    public var id: UUID
    /// The shop, such as `google_play`.
    public var source: String
    /// What the shop calls the ground.
    public var reference: String
    public var productID: String
    public var environment: AppStoreEnvironment
    public var since: Timestamp
    /// When it ends; `nil` if it does not end.
    public var until: Timestamp?
    /// When the backend ended it.
    public var endedAt: Timestamp?
}

extension OutsideGround {
    /// - Returns: `nil` for an operator's grant or revocation.
    init?(_ row: HandGrantRow, _ reader: LedgerTransaction) throws(LedgerStorageError) {
        guard let source = row.source, let reference = row.reference else { return nil }
        self.init(
            id: row.id, source: source, reference: reference, productID: try reader.products.id(row.productKey),
            environment: try reader.environments.environment(row.environment), since: row.startsAt, until: row.endsAt,
            endedAt: row.liftedAt)
    }
}

/// The grounds of other shops that a customer has or had, the newest first.
public struct GroundsOfCustomer: LedgerQuery {
    public static let access = LedgerReadAccess.keys

    public var app: String
    public var customerID: String

    /// The grounds of a customer.
    public init(app: String, customerID: String) {
        self.app = app
        self.customerID = customerID
    }

    /// The answer.
    public struct Answer: Sendable, Equatable {
        public var grounds: [OutsideGround]
        /// The customer into whom the named one was merged; `nil` if it was not.
        public var mergedInto: String?
    }

    public func answer(_ reader: LedgerTransaction) throws -> Answer {
        let app = try reader.app(app)
        guard let customer = try reader.customer(customerID, app) else { return Answer(grounds: []) }
        var grounds: [OutsideGround] = []
        for row in try HandGrantsTable(connection: reader.connection).rows(of: customer.key).reversed() {
            if let ground = try OutsideGround(row, reader) { grounds.append(ground) }
        }
        return Answer(grounds: grounds, mergedInto: customer.survivor(of: customerID))
    }
}

/// Ends what another shop gives. If the reference has a newer ground, that one ends.
public struct EndGround: LedgerOperation {
    public var app: String
    public var customerID: String
    public var id: UUID

    /// Ends the ground with an id, or the newest one of its reference.
    public init(app: String, customerID: String, id: UUID) {
        self.app = app
        self.customerID = customerID
        self.id = id
    }

    public var locks: LedgerLocks { .parts([.customer(customerID)]) }

    public func perform(_ transaction: LedgerTransaction) throws {
        let app = try transaction.app(app)
        let grants = HandGrantsTable(connection: transaction.connection)
        guard let customer = try transaction.customer(customerID, app), let named = try grants.row(id: id),
            let source = named.source, let reference = named.reference, named.customerKey == customer.key
        else { throw LedgerRefusal(.groundUnknown, expected: id.text) }
        let newest = try grants.ground(source, reference, appKey: app.key)
        let row = newest.flatMap { $0.customerKey == customer.key ? $0 : nil } ?? named
        guard row.liftedAt == nil else { return }
        var draft = transaction.draft(app)
        draft.customer = customer
        let entry = try transaction.journal.append(draft, GroundEndedDetails(groundID: row.id.text))
        try GroundWriter(transaction: transaction, app: app, entry: entry).end(row)
    }
}

/// Writes grounds of other shops under their journal entry.
struct GroundWriter {
    let transaction: LedgerTransaction
    let app: RegistryApp
    let entry: JournalEntry

    private var grants: HandGrantsTable { HandGrantsTable(connection: transaction.connection) }

    /// Writes a new ground, or the other end of a known one.
    ///
    /// - Returns: `nil` if the details name no id or kind.
    func write(_ details: GroundAddedDetails, customer: Int64) throws(LedgerStorageError) -> HandGrantRow? {
        guard let id = UUID(uuidString: details.groundID), let kind = ProductKind(rawValue: details.kind) else {
            return nil
        }
        let end = details.endsAt.map { Timestamp(millisecondsSince1970: $0) }
        var row: HandGrantRow
        if let known = try grants.row(id: id) {
            row = known
            row.endsAt = end
            try grants.extend(row.key, to: end)
        } else {
            row = HandGrantRow(
                id: id, appKey: app.key, customerKey: customer,
                productKey: try transaction.products.keyToWrite(
                    details.productID, appKey: app.key, at: transaction.now),
                environment: try transaction.environments.keyToWrite(of: AppStoreEnvironment(details.environment)),
                kind: .grant, quantity: 1, startsAt: Timestamp(millisecondsSince1970: details.startsAt), endsAt: end,
                entryKey: entry.key)
            (row.source, row.reference) = (details.source, details.reference)
            row = try grants.insert(row)
        }
        _ = try HandGrantWriter(transaction: transaction, app: app).write(row, kind: kind)
        let events = LedgerEvents(transaction, app: app, entry: entry)
        var event = events.event(.groundAdded)
        (event.productKey, event.environment) = (row.productKey, row.environment)
        (event.figures.until, event.figures.reason) = (end, row.source)
        try transaction.tell(event, to: customer)
        return row
    }

    /// Ends a ground now.
    func end(_ row: HandGrantRow) throws {
        var row = row
        row.liftedAt = transaction.now
        try grants.lift(row.key, at: transaction.now)
        try HandGrantWriter(transaction: transaction, app: app)
            .change(row, entry, .groundEnded, reason: row.source, customer: row.customerKey)
    }
}
