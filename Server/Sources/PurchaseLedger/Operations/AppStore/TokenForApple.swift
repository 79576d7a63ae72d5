public import PurchaseVerification

public import struct Foundation.UUID

/// The account token that the App Store should have for a purchase.
public struct TokenForApple: LedgerQuery {
    public static let access = LedgerReadAccess.keys

    public var app: String
    public var environment: AppStoreEnvironment
    public var originalTransactionID: String

    public init(app: String, _ originalTransactionID: String, in environment: AppStoreEnvironment) {
        self.app = app
        (self.originalTransactionID, self.environment) = (originalTransactionID, environment)
    }

    /// The owner of a purchase, and their token.
    public struct Wanted: Sendable, Equatable {
        public var customerID: String
        /// `nil` if the customer has no token yet.
        public var token: UUID?
        public var bundleID: String?
    }

    /// - Returns: `nil` if nobody owns the purchase, or if the App Store has the token.
    public func answer(_ reader: LedgerTransaction) throws -> Wanted? {
        let app = try reader.app(app)
        guard let number = try reader.environments.key(of: environment),
            let original = try OriginalsTable(connection: reader.connection)
                .rows(id: originalTransactionID, environment: number).first(where: { $0.appKey == app.key })
        else { return nil }
        let records = try HistoryReader(transaction: reader).history(original).records.filter {
            !$0.isErased && $0.facts.ownership.holder == .buyer
        }
        guard let last = records.max(by: { ($0.date, $0.row.key) < ($1.date, $1.row.key) }),
            let owner = last.row.ownerKey
        else { return nil }
        let customer = try reader.customers.surviving(try reader.customers.row(owner))
        guard let name = customer.name else { return nil }
        let known = last.row.token
        if let known {
            let holder = try AccountTokensTable(connection: reader.connection).customer(of: known, appKey: app.key)
            if holder == customer.key { return nil }
        }
        return Wanted(customerID: name, token: customer.token, bundleID: last.facts.bundleID?.string)
    }
}

/// Records that the App Store accepted an account token for a purchase.
public struct RecordTokenAtApple: LedgerOperation {
    public var app: String
    public var environment: AppStoreEnvironment
    public var originalTransactionID: String
    public var customerID: String
    public var token: UUID

    public init(
        app: String, _ originalTransactionID: String, in environment: AppStoreEnvironment, customerID: String,
        token: UUID
    ) {
        self.app = app
        self.environment = environment
        self.originalTransactionID = originalTransactionID
        self.customerID = customerID
        self.token = token
    }

    public var locks: LedgerLocks { .parts([.customer(customerID)]) }

    public func perform(_ transaction: LedgerTransaction) throws {
        let app = try transaction.app(app)
        var draft = transaction.draft(app)
        draft.customer = try transaction.customer(customerID, app)
        if let number = try transaction.environments.key(of: environment),
            let original = try OriginalsTable(connection: transaction.connection)
                .rows(id: originalTransactionID, environment: number).first
        {
            draft.transactionKey = try transaction.transactions.rows(originalKey: original.key, limit: 1).first?.key
        }
        try transaction.journal.append(
            draft,
            TokenSetAtAppleDetails(
                customer: customerID, environment: environment.name, originalTransactionID: originalTransactionID,
                token: token.text))
    }
}

/// `token_set_at_apple`: the App Store accepted an account token for a purchase. It changes nothing here; the signed
/// data that follows states the token.
struct TokenSetAtAppleDetails: LedgerInput {
    static var kind: JournalKind { .tokenSetAtApple }
    /// The customer of the token.
    var customer: String
    var environment: String
    var originalTransactionID: String
    var token: String

    /// Later signed data states the token.
    func run(_ write: EntryWrite) {}
}
