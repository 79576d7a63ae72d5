import Foundation
import GRDBSQLite

/// The lower bound for the cost of the same purchases with this engine: the rows that the ledger wrote are read back
/// and written again into the same tables and indexes, in the same order, by prepared statements of the C interface. It
/// reads the rows that a decision needs: customer, transaction, original, product and lot. Nothing is verified, hashed,
/// compressed or decided.
package struct BareLoop {
    /// The number of purchases that share a commit.
    private let purchasesPerCommit: Int

    package init(purchasesPerCommit: Int) { self.purchasesPerCommit = purchasesPerCommit }

    package struct Result: Sendable {
        package let perSecond: Double
        package let processorTime: Double
        package let pages: Double
    }

    /// Writes the rows of purchases into a database with the ledger's tables.
    package func run(_ purchases: [PurchaseRows], path: String) throws -> Result {
        let database = try Connection(path)
        try database.execute("PRAGMA synchronous = FULL")
        try database.execute("PRAGMA cache_size = -65536")
        try database.execute("PRAGMA secure_delete = ON")
        try database.execute("PRAGMA wal_autocheckpoint = 12000")
        let begin = try Statement("BEGIN IMMEDIATE", database)
        let commit = try Statement("COMMIT", database)
        let schema = try Statement("SELECT max(number) FROM schema_migrations", database)
        let reads = try Reads(database)
        var inserts: [String: Statement] = [:]
        for table in WrittenTable.all { inserts[table.name] = try Statement(table.insertion(database), database) }
        _ = database.takePages()
        let (start, time) = (ContinuousClock.now, threadTime())
        for first in stride(from: 0, to: purchases.count, by: purchasesPerCommit) {
            try begin.run([])
            try schema.run([])
            for purchase in purchases[first..<min(first + purchasesPerCommit, purchases.count)] {
                try reads.run(purchase)
                for row in purchase.rows { try inserts[row.table.name]?.run(row.values) }
            }
            try commit.run([])
        }
        let seconds = (ContinuousClock.now - start).seconds
        let count = Double(purchases.count)
        return Result(
            perSecond: count / seconds, processorTime: (threadTime() - time) / count,
            pages: Double(database.takePages()) / count)
    }

    /// The rows that a decision has to read.
    private struct Reads {
        let customer, transaction, original, product: Statement

        init(_ database: Connection) throws {
            customer = try Statement("SELECT * FROM customers WHERE app_key = ?1 AND name = ?2", database)
            transaction = try Statement(
                "SELECT * FROM transactions WHERE environment = ?1 AND transaction_id = ?2 AND xcode_second = ?3",
                database)
            original = try Statement(
                "SELECT * FROM originals WHERE environment = ?1 AND original_id = ?2 AND xcode_second = ?3", database)
            product = try Statement("SELECT product_key FROM products WHERE app_key = ?1 AND product_id = ?2", database)
        }

        func run(_ purchase: PurchaseRows) throws {
            try customer.run(purchase.customer)
            try transaction.run(purchase.transaction)
            try original.run(purchase.original)
            try product.run(purchase.product)
        }
    }
}

/// The processor time of this thread, in seconds.
package func threadTime() -> Double {
    var time = timespec()
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
}

/// The reason why nothing was measured.
package struct BenchmarkError: Error, CustomStringConvertible {
    package let description: String

    package init(_ description: String) { self.description = description }
}

extension Duration {
    package var seconds: Double { Double(components.seconds) + Double(components.attoseconds) / 1e18 }
}

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
