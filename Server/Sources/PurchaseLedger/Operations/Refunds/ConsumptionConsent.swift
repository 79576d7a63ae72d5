public import PurchaseVerification

/// A customer's answer to the question whether their use of purchases may be told to Apple.
public struct ConsumptionConsent: Sendable, Equatable {
    public var isGiven: Bool
    public var statedAt: Timestamp
    /// The customer into whom the named one was merged; `nil` if they were not.
    public var mergedInto: String?

    init(_ row: ConsumptionConsentRow, _ mergedInto: String?) {
        isGiven = row.isGiven
        statedAt = row.statedAt
        self.mergedInto = mergedInto
    }
}

/// The answer of a customer to the question whether their use of purchases may be told to Apple.
public struct ConsentOfCustomer: LedgerQuery {
    public static let access = LedgerReadAccess.keys

    public var app: String
    public var customerID: String

    public init(app: String, customerID: String) {
        self.app = app
        self.customerID = customerID
    }

    /// - Returns: `nil` if none is recorded.
    public func answer(_ reader: LedgerTransaction) throws -> ConsumptionConsent? {
        guard let customer = try reader.customer(customerID, try reader.app(app)) else { return nil }
        return try ConsumptionConsentsTable(connection: reader.connection).row(of: customer.key).map {
            ConsumptionConsent($0, customer.survivor(of: customerID))
        }
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
    public func perform(_ transaction: LedgerTransaction) throws -> ConsumptionConsent {
        let app = try transaction.app(app)
        guard ExactText(customerID).isIdentifier else { throw LedgerRefusal(.fieldMalformed, expected: "customer_id") }
        let customer = try transaction.customerToWrite(customerID, app)
        let table = ConsumptionConsentsTable(connection: transaction.connection)
        if let known = try table.row(of: customer.key), known.isGiven == isGiven {
            return ConsumptionConsent(known, customer.survivor(of: customerID))
        }
        var draft = transaction.draft(app)
        draft.customer = customer
        let details = ConsumptionConsentDetails(customer: customerID, isGiven: isGiven)
        let row = try details.run(try transaction.append(draft, details))
        return ConsumptionConsent(row, customer.survivor(of: customerID))
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
