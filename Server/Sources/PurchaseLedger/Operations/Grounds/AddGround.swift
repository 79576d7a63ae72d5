public import PurchaseAPI
public import PurchaseVerification

import struct Foundation.UUID

/// Records that another shop gives a product to a customer.
///
/// A reference of a shop has one ground at a time. Values that were sent before change nothing, and a later end extends
/// it; other values are refused. Once it has ended, other values begin a new ground under the reference
/// (docs/ledger.md, "Grounds from outside").
public struct AddGround: LedgerOperation {
    /// The longest name of a shop, in bytes.
    private static let sourceBytes = 64

    public var app: String
    public var customerID: String
    public var source: String
    public var reference: String
    public var productID: String
    public var environment: AppStoreEnvironment
    /// When it ends; `nil` if it does not end.
    public var until: Timestamp?

    /// A ground of a shop.
    public init(
        app: String, customerID: String, source: String, reference: String, productID: String,
        environment: AppStoreEnvironment = .production, until: Timestamp? = nil
    ) {
        self.app = app
        self.customerID = customerID
        self.source = source
        self.reference = reference
        self.productID = productID
        self.environment = environment
        self.until = until
    }

    public var locks: LedgerLocks { .parts([.customer(customerID), .ground(app, source, reference)]) }

    /// - Returns: the ground; `replayed` if the request changed nothing.
    public func perform(_ transaction: LedgerTransaction) throws -> GroundMessage {
        let app = try transaction.app(app)
        try requireForm()
        guard let kind = app.settings.product(productID)?.kind else {
            throw LedgerRefusal(.productUnknown, found: productID)
        }
        guard kind != .consumable else {
            throw LedgerRefusal(
                .fieldMalformed, expected: "product_id: a product other than a consumable; grant units of a consumable",
                found: productID)
        }
        let customer = try transaction.customerToWrite(customerID, app)
        let known = try HandGrantsTable(connection: transaction.connection).ground(source, reference, appKey: app.key)
        if let known, var ground = try GroundMessage(known, transaction) {
            let isSame = known.customerKey == customer.key && isSame(as: ground)
            let isInForce = known.liftedAt == nil && known.endsAt.map { $0 > transaction.now } ?? true
            let isExtension = isInForce && isLater(than: known)
            // An extension, which is the usual request, needs no look at the earlier ones.
            if isSame, try until == known.endsAt || !isExtension && wasSaid(customer, transaction) {
                (ground.replayed, ground.mergedInto) = (true, customer.survivor(of: customerID))
                return ground
            }
            if isInForce {
                try requireExtension(of: ground, known, customer, isSame: isSame, transaction)
                return try write(known.id, known.startsAt, kind, customer, app, transaction)
            }
        }
        guard until.map({ $0 > transaction.now }) ?? true else {
            throw LedgerRefusal(
                .fieldMalformed, expected: "until: a time in the future", found: until.map { "\($0)" })
        }
        return try write(
            TimeOrderedID.next(at: transaction.now), transaction.now, kind, customer, app, transaction)
    }

    private func requireForm() throws {
        let isName = source.utf8.allSatisfy { byte in
            (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte)
                || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
                || byte == UInt8(ascii: "_")
        }
        guard isName, (1...Self.sourceBytes).contains(source.utf8.count), source != "app_store" else {
            throw LedgerRefusal(
                .fieldMalformed,
                expected: "source: the name of another shop, of 1 to 64 letters a to z, digits and underscores",
                found: String(source.prefix(Self.sourceBytes)))
        }
        guard ExactText(customerID).isIdentifier, ExactText(reference).isIdentifier else {
            throw LedgerRefusal(.fieldMalformed, expected: "customer_id and reference: 1 to 256 bytes of text")
        }
    }

    private func isSame(as ground: GroundMessage) -> Bool {
        productID.isSame(as: ground.productID) && EnvironmentName(environment) == ground.environment
    }

    /// Whether the ground was given or extended to this end before: then the request is a late repetition, which
    /// neither shortens a ground nor revives one that was ended.
    private func wasSaid(_ customer: CustomerRow, _ transaction: LedgerTransaction) throws -> Bool {
        let kind = Int64(JournalKind.groundAdded.rawValue)
        let journal = JournalTable(connection: transaction.connection)
        // The entries of a merged customer stay under their own key.
        var rows: [JournalRow] = []
        for key in try transaction.customers.family(of: customer) {
            rows += try journal.rows(customer: key, kind: kind)
        }
        return try rows.contains { row throws(LedgerStorageError) in
            guard let details = try row.details.map(GroundAddedDetails.init(encoded:)) else { return false }
            return details.source.isSame(as: source) && details.reference.isSame(as: reference)
                && details.productID.isSame(as: productID) && details.environment == environment.name
                && details.endsAt == until?.millisecondsSince1970
        }
    }

    private func isLater(than row: HandGrantRow) -> Bool {
        guard let until else { return true }
        return row.endsAt.map { $0 < until } ?? false
    }

    /// - Throws: `ground_differs` unless only the end differs, and is later.
    private func requireExtension(
        of ground: GroundMessage, _ row: HandGrantRow, _ customer: CustomerRow, isSame: Bool,
        _ transaction: LedgerTransaction
    ) throws {
        guard isSame else {
            let owner = try transaction.customers.row(row.customerKey).name ?? ""
            throw LedgerRefusal(
                .groundDiffers, expected: "\(ground.productID) in \(ground.environment) of \(owner)",
                found: "\(productID) in \(environment.name) of \(customer.name ?? "")")
        }
        guard isLater(than: row) else {
            throw LedgerRefusal(
                .groundDiffers, expected: "until: \(ground.until.map { "\($0) or later" } ?? "absent")",
                found: until.map { "\($0)" })
        }
    }

    /// Writes a new ground, or another end of the one with the id.
    @discardableResult
    func write(
        _ id: UUID, _ start: Timestamp, _ kind: ProductKind, _ customer: CustomerRow, _ app: RegistryApp,
        _ transaction: LedgerTransaction
    ) throws -> GroundMessage {
        var draft = transaction.draft(app)
        draft.customer = customer
        let details = GroundAddedDetails(
            groundID: id.text, customer: customerID, source: source, reference: reference, productID: productID,
            environment: environment.name, kind: kind.rawValue, startsAt: start.millisecondsSince1970,
            endsAt: until?.millisecondsSince1970)
        guard let row = try details.run(try transaction.append(draft, details)),
            var ground = try GroundMessage(row, transaction)
        else { throw LedgerStorageError(.other, "the ground \(id.text) was not written") }
        (ground.replayed, ground.mergedInto) = (false, customer.survivor(of: customerID))
        return ground
    }
}

/// `ground_added`: a product that another shop gives. The same id again changes the end.
struct GroundAddedDetails: LedgerInput {
    static var kind: JournalKind { .groundAdded }
    var groundID: String
    var customer: String
    var source: String
    var reference: String
    var productID: String
    var environment: String
    var kind: String
    var startsAt: Int64
    var endsAt: Int64?

    /// Writes a new ground, or the other end of a known one.
    ///
    /// - Returns: `nil` if the details name no id or kind.
    @discardableResult
    func run(_ write: EntryWrite) throws -> HandGrantRow? {
        let (customer, transaction) = (try write.existing(self.customer), write.transaction)
        try write.endGuest(customer)
        guard let id = UUID(uuidString: groundID), let kind = ProductKind(rawValue: self.kind) else { return nil }
        let grants = HandGrantsTable(connection: write.connection)
        let end = endsAt.map { Timestamp(millisecondsSince1970: $0) }
        var row: HandGrantRow
        if let known = try grants.row(id: id) {
            if known.liftedAt != nil { try write.impossible("the ground has ended before") }
            row = known
            row.endsAt = end
            try grants.extend(row.key, to: end)
        } else {
            row = HandGrantRow(
                id: id, appKey: write.app.key, customerKey: customer.key,
                productKey: try transaction.products.keyToWrite(
                    productID, appKey: write.app.key, at: transaction.now),
                environment: try transaction.environments.keyToWrite(of: AppStoreEnvironment(environment)),
                kind: .grant, quantity: 1, startsAt: Timestamp(millisecondsSince1970: startsAt), endsAt: end,
                entryKey: write.entry.key)
            (row.source, row.reference) = (source, reference)
            row = try grants.insert(row)
        }
        _ = try HandGrantWriter(transaction: transaction, app: write.app).write(row, kind: kind)
        var event = write.events.event(.groundAdded)
        (event.productKey, event.environment) = (row.productKey, row.environment)
        (event.figures.until, event.figures.reason) = (end, row.source)
        try transaction.tell(event, to: customer.key)
        return row
    }
}
