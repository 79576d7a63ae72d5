/// A table that a purchase writes to.
package struct WrittenTable: Sendable {
    let name: String
    let insertion: String
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
        _ name: String, columns: Int, key: String = "", more: String = "", undo: String? = nil,
        numbers: [Int], ids: [Int] = [], hashes: [Int] = []
    ) {
        self.name = name
        self.key = key
        self.undo = undo
        let places = (1...columns).map { "?\($0)" }.joined(separator: ", ")
        insertion = "INSERT INTO \(name) VALUES (\(places))\(more)"
        (self.numbers, self.ids, self.hashes) = (numbers, ids, hashes)
    }

    static let evidence = WrittenTable("evidence", columns: 4, key: "evidence_key", numbers: [0], hashes: [1])
    static let customers = WrittenTable("customers", columns: 7, numbers: [])
    static let originals = WrittenTable("originals", columns: 5, key: "original_key", numbers: [0], ids: [2])
    static let transactions = WrittenTable(
        "transactions", columns: 14, key: "transaction_key", numbers: [0, 1, 7], ids: [3])
    static let lots = WrittenTable("lots", columns: 10, key: "ground", numbers: [0])
    static let entitlements = WrittenTable(
        "entitlements", columns: 9,
        more: """
             ON CONFLICT (customer_key, product_key, environment, ground)
            DO UPDATE SET balance = entitlements.balance + excluded.balance
            """,
        undo: """
            UPDATE entitlements SET balance = balance - 1
            WHERE customer_key = ?1 AND product_key = ?2 AND environment = ?3 AND ground = ?4
            """, numbers: [])
    static let journal = WrittenTable("journal", columns: 14, key: "entry_key", numbers: [0, 8, 9], hashes: [1])
    static let logPending = WrittenTable("log_pending", columns: 1, key: "entry_key", numbers: [0])
    static let ownershipActs = WrittenTable("ownership_acts", columns: 6, key: "original_key", numbers: [0, 1, 2])
    static let events = WrittenTable("events", columns: 12, key: "event_key", numbers: [0, 2, 8, 9])

    static let all = [
        evidence, customers, originals, transactions, lots, entitlements, journal, logPending, ownershipActs, events,
    ]
}
