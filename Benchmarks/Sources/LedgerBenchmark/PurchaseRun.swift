import BenchmarkShop
import EvidenceMint
import Foundation
import PurchaseLedger
import SQLiteFloor

/// The evidence that is submitted: one purchase each, and none twice.
enum Claims: String, CaseIterable {
    case signedTransactions = "signed transactions"
    case appReceipts = "app receipts"

    static func transactionID(_ number: Int) -> String { "\(2_000_000_000_000_000 + number * 7)" }
    /// Two purchases of each customer, far from each other.
    static func customer(_ number: Int, of count: Int) -> String { "customer-\(number * 7919 % max(1, count / 2))" }

    func evidence(count: Int, authority: AppStoreAuthority) throws -> [[UInt8]] {
        try (0..<count).map { number in
            switch self {
            case .signedTransactions: try Shop.signedTransaction(Self.transactionID(number), authority)
            case .appReceipts: try Shop.appReceipt(Self.transactionID(number), authority)
            }
        }
    }
}

/// Purchases through ledgers with one database: verified, decided, granted and recorded with their evidence, each
/// answered after its commit is on the disk.
struct PurchaseRun {
    /// The number of clients of each ledger.
    let clients: Int
    let evidence: [[UInt8]]
    let authority: AppStoreAuthority
    /// Whether all purchases belong to one customer.
    var isHotSpot = false

    struct Result {
        let perSecond: Double
        /// That of the process, for each purchase.
        let processorTime: Double
        /// Seconds from the submission to the answer, in order.
        let latencies: [Double]

        func latency(_ part: Double) -> Double {
            latencies.isEmpty ? .nan : latencies[min(latencies.count - 1, Int(Double(latencies.count) * part))]
        }
    }

    func run(_ ledgers: [PurchaseLedger]) async throws -> Result {
        let count = evidence.count
        let claims = evidence.enumerated().map { number, evidence in
            let customer = isHotSpot ? "customer" : Claims.customer(number, of: count)
            return Shop.claim(Claims.transactionID(number), by: customer, evidence)
        }
        let (start, time) = (ContinuousClock.now, processTime())
        let answers = try await Shop.concurrently(clients * ledgers.count, count: count) { number, client in
            let start = ContinuousClock.now
            let outcome = try await ledgers[client % ledgers.count].submit(claims[number])
            guard outcome.verdict == .accepted, !outcome.isReplayed else {
                throw BenchmarkError("purchase \(number) was not granted: \(outcome.code)")
            }
            return (ContinuousClock.now - start).seconds
        }
        let seconds = (ContinuousClock.now - start).seconds
        return Result(
            perSecond: Double(count) / seconds, processorTime: (processTime() - time) / Double(count),
            latencies: answers.sorted())
    }
}

/// A run in a new SQLite file.
struct SQLiteRun {
    let result: PurchaseRun.Result
    let bytesPerPurchase: Double
    let figures: WriterFigures

    /// - Parameter isAuthenticated: whether entries have codes, as required for the Merkle log.
    static func open(
        _ path: String, _ authority: AppStoreAuthority, isAuthenticated: Bool = true
    ) async throws -> (ledger: PurchaseLedger, database: SQLiteDatabase) {
        let database = try SQLiteDatabase(path: path)
        let key = isAuthenticated ? try EntryKey.openOrCreate(at: path + ".key") : nil
        return (try await Shop.open(database, authority, entryKey: key), database)
    }

    init(_ run: PurchaseRun, path: String, isAuthenticated: Bool = true) async throws {
        let (ledger, database) = try await Self.open(path, run.authority, isAuthenticated: isAuthenticated)
        let (empty, before) = (try Self.size(path), database.writerFigures)
        result = try await run.run([ledger])
        var figures = database.writerFigures
        try await ledger.close()
        figures.transactions -= before.transactions
        figures.writes -= before.writes
        figures.statements -= before.statements
        figures.pages -= before.pages
        figures.processorTime -= before.processorTime
        self.figures = figures
        bytesPerPurchase = Double(try Self.size(path) - empty) / Double(run.evidence.count)
    }

    private static func size(_ path: String) throws -> Int {
        try FileManager.default.attributesOfItem(atPath: path)[.size] as? Int ?? 0
    }
}

/// A run of servers that share a PostgreSQL.
struct PostgreSQLRun {
    let result: PurchaseRun.Result
    let figures: PostgreSQLWriterFigures

    static func open(
        _ url: String, _ authority: AppStoreAuthority, _ key: EntryKey
    ) async throws -> (ledger: PurchaseLedger, database: PostgreSQLDatabase) {
        let database = try PostgreSQLDatabase(url: url)
        return (try await Shop.open(database, authority, entryKey: key), database)
    }

    init(_ run: PurchaseRun, _ url: String, servers: Int = 1, key: EntryKey) async throws {
        var opened: [(ledger: PurchaseLedger, database: PostgreSQLDatabase)] = []
        for _ in 0..<servers { opened.append(try await Self.open(url, run.authority, key)) }
        let before = opened.map(\.database.writerFigures)
        result = try await run.run(opened.map(\.ledger))
        var figures = PostgreSQLWriterFigures()
        for (after, before) in zip(opened.map(\.database.writerFigures), before) {
            figures.transactions += after.transactions - before.transactions
            figures.writes += after.writes - before.writes
            figures.roundTrips += after.roundTrips - before.roundTrips
            figures.statements += after.statements - before.statements
        }
        self.figures = figures
        for server in opened { try await server.ledger.close() }
    }
}
