/// A table that a purchase writes to.
package struct WrittenTable: Sendable {
    let name: String
    private let more: String
    /// The column with the first of `numbers`.
    let key: String
    /// Reverses the change that an insertion made to an existing row, which is found by the first four values.
    let undo: String?
    /// The columns with numbers that the ledger assigns to each purchase.
    let numbers: [Int]
    /// The columns with transaction ids.
    let ids: [Int]
    /// The unique columns of hashes and of random ids.
    let hashes: [Int]

    private init(
        _ name: String, key: String = "", more: String = "", undo: String? = nil,
        numbers: [Int], ids: [Int] = [], hashes: [Int] = []
    ) {
        self.name = name
        self.key = key
        self.undo = undo
        self.more = more
        (self.numbers, self.ids, self.hashes) = (numbers, ids, hashes)
    }

    /// The insertion of a row with every column that the table of a database has.
    func insertion(_ database: Connection) throws -> String {
        let columns = try Statement("SELECT name FROM pragma_table_info('\(name)')", database).rows().count
        guard columns > 0 else { throw BenchmarkError("the database has no table \(name)") }
        let places = (1...columns).map { "?\($0)" }.joined(separator: ", ")
        return "INSERT INTO \(name) VALUES (\(places))\(more)"
    }

    static let evidence = WrittenTable("evidence", key: "evidence_key", numbers: [0], hashes: [1])
    static let customers = WrittenTable("customers", numbers: [])
    static let originals = WrittenTable("originals", key: "original_key", numbers: [0], ids: [2])
    static let transactions = WrittenTable(
        "transactions", key: "transaction_key", numbers: [0, 1, 7], ids: [3])
    static let lots = WrittenTable("lots", key: "ground", numbers: [0])
    static let entitlements = WrittenTable(
        "entitlements",
        more: """
             ON CONFLICT (customer_key, product_key, environment, ground)
            DO UPDATE SET balance = entitlements.balance + excluded.balance
            """,
        undo: """
            UPDATE entitlements SET balance = balance - 1
            WHERE customer_key = ?1 AND product_key = ?2 AND environment = ?3 AND ground = ?4
            """, numbers: [])
    static let journal = WrittenTable("journal", key: "entry_key", numbers: [0, 8, 9], hashes: [1])
    static let ownershipActs = WrittenTable("ownership_acts", key: "original_key", numbers: [0, 1, 2])
    static let events = WrittenTable("events", key: "event_key", numbers: [0, 2, 8, 9])

    static let all = [
        evidence, customers, originals, transactions, lots, entitlements, journal, ownershipActs, events,
    ]
}
