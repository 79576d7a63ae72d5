public import PurchaseAPI
import PurchaseVerification

public import struct Foundation.UUID

extension GroundMessage {
    /// A product that another shop gives to a customer. Assay does not verify the shop: the backend did.
    ///
    /// - Returns: `nil` for an operator's grant or revocation.
    init?(_ row: HandGrantRow, _ reader: LedgerTransaction) throws(LedgerStorageError) {
        guard let source = row.source, let reference = row.reference else { return nil }
        self.init(
            groundID: row.id.text, source: source, reference: reference,
            productID: try reader.products.id(row.productKey),
            environment: EnvironmentName(try reader.environments.environment(row.environment)),
            since: "\(row.startsAt)", until: row.endsAt.map { "\($0)" }, endedAt: row.liftedAt.map { "\($0)" })
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

    public func answer(_ reader: LedgerTransaction) throws -> GroundList {
        let app = try reader.app(app)
        guard let customer = try reader.customer(customerID, app) else { return GroundList(grounds: []) }
        let grounds = try HandGrantsTable(connection: reader.connection).rows(of: customer.key).reversed()
            .compactMap { try GroundMessage($0, reader) }
        return GroundList(grounds: grounds, mergedInto: customer.survivor(of: customerID))
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
        try Self.end(row, app, transaction)
    }

    /// Ends a ground in force.
    static func end(_ row: HandGrantRow, _ app: RegistryApp, _ transaction: LedgerTransaction) throws {
        var draft = transaction.draft(app)
        draft.customer = try transaction.customers.row(row.customerKey)
        let details = GroundEndedDetails(groundID: row.id.text)
        try details.run(try transaction.append(draft, details))
    }
}

/// `ground_ended`.
struct GroundEndedDetails: LedgerInput {
    static var kind: JournalKind { .groundEnded }
    var groundID: String

    func run(_ write: EntryWrite) throws {
        let grants = HandGrantsTable(connection: write.connection)
        guard let id = UUID(uuidString: groundID), var row = try grants.row(id: id), row.source != nil else {
            return try write.impossible("the ground is not known", unlessErased: true)
        }
        if row.liftedAt != nil { try write.impossible("the ground has ended before") }
        row.liftedAt = write.transaction.now
        try grants.lift(row.key, at: write.transaction.now)
        try HandGrantWriter(transaction: write.transaction, app: write.app)
            .change(row, write.entry, .groundEnded, reason: row.source, customer: row.customerKey)
    }
}
