import EvidenceMint
import Foundation
import GRDBSQLite
import PurchaseLedger

/// The least that the same purchases can cost with this engine: the rows that the ledger wrote are read back and written again into
/// the same tables and indexes, in the same order, by prepared statements of the C interface, 32 purchases a commit. It reads what
/// a decision needs: customer, transaction, original, product and lot. Nothing is verified, hashed, compressed or decided.
struct BareLoop {
    /// So many purchases share a commit.
    let purchasesPerCommit: Int

    struct Result {
        let perSecond: Double
        let processorTime: Double
        let pages: Double
    }

    /// Writes the rows of a ledger into a new file.
    func run(rowsOf ledger: String, path: String, authority: AppStoreAuthority) async throws -> Result {
        let opened = try await PurchaseRun.open(path, authority: authority, isAuthenticated: true)
        try await opened.ledger.close()
        let purchases = try rows(of: ledger)
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
        for table in Self.tables { inserts[table.name] = try Statement(table.insertion, database) }
        _ = database.takePages()
        let (start, time) = (ContinuousClock.now, threadTime())
        for first in stride(from: 0, to: purchases.count, by: purchasesPerCommit) {
            try begin.run([])
            try schema.run([])
            for purchase in purchases[first..<min(first + purchasesPerCommit, purchases.count)] {
                try reads.run(purchase)
                for row in purchase.rows { try inserts[row.table]?.run(row.values) }
            }
            try commit.run([])
        }
        let seconds = (ContinuousClock.now - start).seconds
        let count = Double(purchases.count)
        return Result(
            perSecond: count / seconds, processorTime: (threadTime() - time) / count,
            pages: Double(database.takePages()) / count)
    }

    // MARK: Rows

    /// The rows of one purchase, in the order in which the ledger writes them.
    struct Purchase {
        var rows: [(table: String, values: [Value])] = []
        var customer: [Value] = []
        var transaction: [Value] = []
        var product: [Value] = []
        var original: [Value] = []
    }

    private struct TableOfPurchase {
        let name: String
        let insertion: String

        init(_ name: String, columns: Int, more: String = "") {
            self.name = name
            let places = (1...columns).map { "?\($0)" }.joined(separator: ", ")
            insertion = "INSERT INTO \(name) VALUES (\(places))\(more)"
        }
    }

    private static let tables = [
        TableOfPurchase("evidence", columns: 4), TableOfPurchase("customers", columns: 7),
        TableOfPurchase("originals", columns: 5), TableOfPurchase("transactions", columns: 14),
        TableOfPurchase("lots", columns: 10),
        TableOfPurchase(
            "entitlements", columns: 9,
            more: """
                 ON CONFLICT (customer_key, product_key, environment, ground)
                DO UPDATE SET balance = entitlements.balance + excluded.balance
                """),
        TableOfPurchase("journal", columns: 14), TableOfPurchase("log_pending", columns: 1),
        TableOfPurchase("ownership_acts", columns: 6), TableOfPurchase("events", columns: 12),
    ]

    private func rows(of ledger: String) throws -> [Purchase] {
        let database = try Connection(ledger)
        // What each purchase is made of is found by the numbers that the ledger gave.
        func all(_ sql: String) throws -> [[Value]] { try Statement(sql, database).all() }
        let entries = try all("SELECT * FROM journal WHERE evidence_key IS NOT NULL ORDER BY entry_key")
        func table(_ sql: String, key: Int) throws -> [Value: [Value]] {
            Dictionary(uniqueKeysWithValues: try all(sql).map { ($0[key], $0) })
        }
        let evidence = try table("SELECT * FROM evidence", key: 0)
        let customers = try table("SELECT * FROM customers", key: 0)
        let originals = try table("SELECT * FROM originals", key: 0)
        let transactions = try table("SELECT * FROM transactions", key: 0)
        let lots = try table("SELECT * FROM lots", key: 0)
        let acts = try table("SELECT * FROM ownership_acts", key: 1)
        let events = try table("SELECT * FROM events WHERE customer_key IS NOT NULL", key: 2)
        var entitlements = try table("SELECT * FROM entitlements", key: 0)
        let products = try table("SELECT * FROM products", key: 0)
        let pending = Set(try all("SELECT entry_key FROM log_pending").map { $0[0] })
        var known: Set<Value> = []
        return try entries.map { entry in
            guard let transaction = transactions[entry[8]], let original = originals[transaction[1]],
                let customer = customers[entry[6]], let evidence = evidence[entry[9]], let lot = lots[original[0]],
                let act = acts[entry[0]], let event = events[entry[0]], let product = products[transaction[5]]
            else { throw BenchmarkError("a purchase of the ledger has not the rows that the bare loop writes") }
            entitlements[customer[0]]?[5] = .integer(1)
            guard let entitlement = entitlements[customer[0]] else { throw BenchmarkError("no entitlement") }
            var purchase = Purchase()
            purchase.rows.append(("evidence", evidence))
            if known.insert(customer[0]).inserted { purchase.rows.append(("customers", customer)) }
            purchase.rows += [
                ("originals", original), ("transactions", transaction), ("lots", lot), ("entitlements", entitlement),
                ("journal", entry), ("ownership_acts", act), ("events", event),
            ]
            if pending.contains(entry[0]) { purchase.rows.append(("log_pending", [entry[0]])) }
            purchase.customer = [customer[1], customer[3]]
            purchase.transaction = [transaction[2], transaction[3], transaction[4]]
            purchase.product = [product[1], product[2]]
            purchase.original = [original[1], original[2], original[3]]
            return purchase
        }
    }

    /// What a decision has to read.
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

        func run(_ purchase: Purchase) throws {
            try customer.run(purchase.customer)
            try transaction.run(purchase.transaction)
            try original.run(purchase.original)
            try product.run(purchase.product)
        }
    }
}

/// The processor time of this thread, in seconds.
func threadTime() -> Double {
    var time = timespec()
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
}

/// Why nothing was measured.
struct BenchmarkError: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}
