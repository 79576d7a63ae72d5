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

/// The names of an app's testers, ordered by when the customers were first seen. Erased customers have no name and are
/// left out.
public struct TesterList: LedgerList {
    public var app: String
    public var cursor: Int64?
    public var limit: Int

    /// A page of testers.
    public init(app: String, after cursor: Int64? = nil, limit: Int = 500) {
        (self.app, self.cursor, self.limit) = (app, cursor, limit)
    }

    public func answer(_ reader: LedgerTransaction) throws -> ListPage<String, Int64> {
        // The row of a customer who was merged into another remains, but the right of the survivor decides.
        let index = ListIndex("testers.app_key = ?1 AND customers.merged_into IS NULL", try reader.app(app).key)
        return try ListOrder<Tester, Int64>(
            reader.connection, [index], by: ["testers.customer_key"], isAscending: true, cursor: \.key
        ).page(after: cursor, limit: limit, select: \.name)
    }

    private struct Tester: ListedRow {
        static let selection = """
            SELECT testers.customer_key, customers.name FROM testers
            LEFT JOIN customers ON customers.customer_key = testers.customer_key
            """

        let key: Int64
        let name: String?

        init(_ reader: inout RowReader) throws(LedgerStorageError) {
            (key, name) = (try reader.integer(), try reader.optionalText())
        }
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
        try write.endGuest(customer)
        let isChanged =
            isTester
            ? try table.insert(customer.key, appKey: write.app.key, entry: write.entry.key)
            : try table.delete(customer.key, appKey: write.app.key)
        if !isChanged { try write.impossible("the customer is \(isTester ? "a tester already" : "no tester")") }
        return isChanged
    }
}
