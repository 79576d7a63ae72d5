import EvidenceMint
import Foundation
import PurchaseLedger
import PurchaseVerification
import SQLiteFloor

/// Purchases through ledgers with one PostgreSQL, each answered after its commit.
struct PostgreSQLRun {
    /// The number of clients of each ledger.
    let clients: Int
    let evidence: [[UInt8]]
    let authority: AppStoreAuthority
    /// The number of servers that share the database.
    var servers = 1
    /// Whether all purchases belong to one customer.
    var isHotSpot = false

    struct Result {
        let perSecond: Double
        let processorTime: Double
        let figures: PostgreSQLWriterFigures
        /// Seconds from the submission to the answer, in order.
        let latencies: [Double]
    }

    /// Opens a ledger in a database, and creates its schema if it is missing.
    static func open(_ url: String, authority: AppStoreAuthority, key: EntryKey) async throws -> (
        ledger: PurchaseLedger, database: PostgreSQLDatabase
    ) {
        let database = try PostgreSQLDatabase(url: url)
        let now = Timestamp(millisecondsSince1970: Int64(Claims.moment.timeIntervalSince1970 * 1000) + 60_000)
        try await LedgerMigrations.migrate(database, now: now.millisecondsSince1970)
        let anchors = try [authority.receipts.root, authority.signedPayload.root].map {
            try TrustAnchor(certificate: $0.certificate)
        }
        var app = RegisteredApp(id: "example", bundleIDs: ["com.example.app"])
        app.products = [Claims.product: RegisteredProduct(kind: .consumable)]
        let ledger = try await PurchaseLedger.open(
            database: database, verifier: PurchaseVerifier(anchors: anchors), apps: [app], clock: { now }, entryKey: key
        )
        return (ledger, database)
    }

    func run(_ url: String, key: EntryKey) async throws -> Result {
        var opened: [(ledger: PurchaseLedger, database: PostgreSQLDatabase)] = []
        for _ in 0..<servers { opened.append(try await Self.open(url, authority: authority, key: key)) }
        let count = evidence.count
        let submissions = evidence.enumerated().map { number, evidence in
            var submission = PurchaseSubmission(app: "example")
            submission.keyID = "0123456789abcdef"
            submission.sourceAddress = "192.0.2.1"
            submission.claim.productID = Claims.product
            submission.claim.transactionID = Claims.transactionID(number)
            submission.claim.customerID = isHotSpot ? "customer" : Claims.customer(number, of: count)
            submission.evidence = evidence
            return submission
        }
        var before = PostgreSQLWriterFigures()
        for server in opened { before.add(server.database.writerFigures) }
        let all = clients * servers
        let (start, time) = (ContinuousClock.now, processTime())
        let answers = try await withThrowingTaskGroup(of: [Double].self) { group in
            for client in 0..<all {
                let ledger = opened[client % servers].ledger
                group.addTask {
                    var latencies: [Double] = []
                    for number in stride(from: client, to: submissions.count, by: all) {
                        let start = ContinuousClock.now
                        let outcome = try await ledger.submit(submissions[number])
                        guard outcome.verdict == .accepted && !outcome.isReplayed else { continue }
                        latencies.append((ContinuousClock.now - start).seconds)
                    }
                    return latencies
                }
            }
            return try await group.reduce(into: []) { $0 += $1 }
        }
        let seconds = (ContinuousClock.now - start).seconds
        let processorTime = processTime() - time
        var after = PostgreSQLWriterFigures()
        for server in opened { after.add(server.database.writerFigures) }
        for server in opened { try await server.ledger.close() }
        guard answers.count == count else {
            throw BenchmarkError("\(answers.count) of \(count) purchases were granted")
        }
        after.transactions -= before.transactions
        after.writes -= before.writes
        after.roundTrips -= before.roundTrips
        after.statements -= before.statements
        return Result(
            perSecond: Double(count) / seconds, processorTime: processorTime / Double(count), figures: after,
            latencies: answers.sorted())
    }
}

extension PostgreSQLWriterFigures {
    fileprivate mutating func add(_ other: PostgreSQLWriterFigures) {
        transactions += other.transactions
        writes += other.writes
        roundTrips += other.roundTrips
        statements += other.statements
    }
}
