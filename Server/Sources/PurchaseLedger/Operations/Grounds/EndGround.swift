public import struct Foundation.UUID

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
