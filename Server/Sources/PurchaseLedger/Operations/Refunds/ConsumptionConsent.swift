public import PurchaseAPI

/// The answer of a customer to the question whether their use of purchases may be told to Apple.
public struct ConsentOfCustomer: LedgerQuery {
    public static let access = LedgerReadAccess.keys

    public var app: String
    public var customerID: String

    public init(app: String, customerID: String) {
        self.app = app
        self.customerID = customerID
    }

    public func answer(_ reader: LedgerTransaction) throws -> ConsumptionConsentMessage {
        let customer = try reader.customer(customerID, try reader.app(app))
        let known = try customer.flatMap { try ConsumptionConsentsTable(connection: reader.connection).row(of: $0.key) }
        return ConsumptionConsentMessage(customerID, known, customer)
    }
}

/// Records whether a customer agrees that their use of purchases is told to Apple, which Apple demands before it may be
/// told.
public struct RecordConsumptionConsent: LedgerOperation {
    public var app: String
    public var customerID: String
    public var isGiven: Bool

    /// A customer's answer.
    public init(app: String, customerID: String, isGiven: Bool) {
        self.app = app
        self.customerID = customerID
        self.isGiven = isGiven
    }

    public var locks: LedgerLocks { .parts([.customer(customerID)]) }

    /// An answer that is in force already writes nothing.
    ///
    /// - Throws: `field_malformed`.
    public func perform(_ transaction: LedgerTransaction) throws -> ConsumptionConsentMessage {
        let app = try transaction.app(app)
        guard ExactText(customerID).isIdentifier else { throw LedgerRefusal(.fieldMalformed, expected: "customer_id") }
        let customer = try transaction.customerToWrite(customerID, app)
        let table = ConsumptionConsentsTable(connection: transaction.connection)
        if let known = try table.row(of: customer.key), known.isGiven == isGiven {
            return ConsumptionConsentMessage(customerID, known, customer)
        }
        var draft = transaction.draft(app)
        draft.customer = customer
        let details = ConsumptionConsentDetails(customer: customerID, isGiven: isGiven)
        let row = try details.run(try transaction.append(draft, details))
        return ConsumptionConsentMessage(customerID, row, customer)
    }
}

extension ConsumptionConsentMessage {
    fileprivate init(_ customerID: String, _ row: ConsumptionConsentRow?, _ customer: CustomerRow?) {
        self.init(
            customerID: customerID, consented: row?.isGiven, since: row.map { "\($0.statedAt)" },
            mergedInto: row.flatMap { _ in customer?.survivor(of: customerID) })
    }
}

/// `consumption_consent`.
struct ConsumptionConsentDetails: LedgerInput {
    static var kind: JournalKind { .consumptionConsent }
    var customer: String
    var isGiven: Bool

    func run(_ write: EntryWrite) throws -> ConsumptionConsentRow {
        let row = ConsumptionConsentRow(
            customerKey: try write.existing(customer).key, isGiven: isGiven, statedAt: write.transaction.now,
            entryKey: write.entry.key)
        try ConsumptionConsentsTable(connection: write.connection).write(row)
        return row
    }
}
