import PurchaseVerification

/// Adds a customer to the list of testers, or removes them from it.
public struct ChangeTester: LedgerOperation {
    public var app: String
    public var customerID: String
    public var isTester: Bool
    public var reason: String?

    /// Makes a customer a tester, or ends that.
    public init(app: String, customerID: String, isTester: Bool, reason: String? = nil) {
        self.app = app
        self.customerID = customerID
        self.isTester = isTester
        self.reason = reason
    }

    public var locks: LedgerLocks { .parts([.customer(customerID)]) }

    /// - Returns: whether that changed the list.
    public func perform(_ transaction: LedgerTransaction) throws -> Bool {
        let app = try transaction.app(app)
        guard ExactText(customerID).isIdentifier else { throw LedgerRefusal(.fieldMalformed, expected: "customer_id") }
        let table = TestersTable(connection: transaction.connection)
        let known = try transaction.customer(customerID, app)
        let was =
            try known.map { row throws(LedgerStorageError) in try table.contains(row.key, appKey: app.key) } ?? false
        guard was != isTester else { return false }
        var draft = transaction.draft(app)
        draft.customer = try transaction.customerToWrite(customerID, app)
        let details = TestersChangedDetails(customer: customerID, isTester: isTester, reason: reason)
        return try details.run(try transaction.append(draft, details))
    }
}

/// The names of an app's testers, ordered by when the customers were first seen.
public struct TesterList: LedgerQuery {
    public static let access = LedgerReadAccess.lists

    public var app: String
    /// The position at which the previous page ended.
    public var after: Int64
    public var limit: Int

    /// A page of testers.
    public init(app: String, after: Int64 = 0, limit: Int) {
        self.app = app
        self.after = after
        self.limit = limit
    }

    /// A page, and the start of the next one; `nil` if this is the last. Erased customers have no name and are left
    /// out.
    public struct Answer: Sendable {
        public var names: [String]
        public var next: Int64?
    }

    public func answer(_ reader: LedgerTransaction) throws -> Answer {
        let count = max(1, limit)
        let rows = try TestersTable(connection: reader.connection).page(
            appKey: try reader.app(app).key, after: after, limit: Int64(count) + 1)
        let page = rows.prefix(count)
        return Answer(names: page.compactMap(\.name), next: rows.count > count ? page.last?.key : nil)
    }
}

/// `testers_changed`.
struct TestersChangedDetails: LedgerInput {
    static var kind: JournalKind { .testersChanged }
    var customer: String
    var isTester: Bool
    var reason: String?

    /// - Returns: whether that changed the list.
    func run(_ write: EntryWrite) throws -> Bool {
        let (customer, table) = (try write.existing(self.customer), TestersTable(connection: write.connection))
        let isChanged =
            isTester
            ? try table.insert(customer.key, appKey: write.app.key, entry: write.entry.key)
            : try table.delete(customer.key, appKey: write.app.key)
        if !isChanged { try write.impossible("the customer is \(isTester ? "a tester already" : "no tester")") }
        return isChanged
    }
}
