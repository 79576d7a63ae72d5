import EvidenceMint
import Foundation
import PurchaseLedger
import PurchaseVerification
import SQLiteFloor

/// Purchases through the ledger: verified, decided, granted and recorded with their evidence, each answered after its
/// commit is on the disk.
struct PurchaseRun {
    let clients: Int
    let evidence: [[UInt8]]
    let authority: AppStoreAuthority
    /// Whether entries are authenticated, as required for the Merkle log.
    var isAuthenticated = true

    /// The results of a run.
    struct Result {
        let perSecond: Double
        let bytesPerPurchase: Double
        let figures: WriterFigures
        /// Seconds from the submission to the answer, in order.
        let latencies: [Double]

        func latency(_ part: Double) -> Double {
            latencies.isEmpty ? .nan : latencies[min(latencies.count - 1, Int(Double(latencies.count) * part))]
        }
    }

    static func open(_ path: String, authority: AppStoreAuthority, isAuthenticated: Bool) async throws -> (
        ledger: PurchaseLedger, database: SQLiteDatabase
    ) {
        let database = try SQLiteDatabase(path: path)
        let now = Timestamp(millisecondsSince1970: Int64(Claims.moment.timeIntervalSince1970 * 1000) + 60_000)
        try await LedgerMigrations.migrate(database, now: now.millisecondsSince1970)
        let anchors = try [authority.receipts.root, authority.signedPayload.root].map {
            try TrustAnchor(certificate: $0.certificate)
        }
        var app = RegisteredApp(id: "example", bundleIDs: ["com.example.app"])
        app.products = [Claims.product: RegisteredProduct(kind: .consumable)]
        let ledger = try await PurchaseLedger.open(
            database: database, verifier: PurchaseVerifier(anchors: anchors), apps: [app], clock: { now },
            entryKey: isAuthenticated ? try EntryKey.openOrCreate(at: path + ".key") : nil)
        return (ledger, database)
    }

    func run(path: String) async throws -> Result {
        let (ledger, database) = try await Self.open(path, authority: authority, isAuthenticated: isAuthenticated)
        let count = evidence.count
        let submissions = evidence.enumerated().map { number, evidence in
            var submission = PurchaseSubmission(app: "example")
            submission.keyID = "0123456789abcdef"
            submission.sourceAddress = "192.0.2.1"
            submission.claim.productID = Claims.product
            submission.claim.transactionID = Claims.transactionID(number)
            submission.claim.customerID = Claims.customer(number, of: count)
            submission.evidence = evidence
            return submission
        }
        let empty = try size(path)
        let before = database.writerFigures
        let clients = clients
        let start = ContinuousClock.now
        let answers = try await withThrowingTaskGroup(of: [Double].self) { group in
            for client in 0..<clients {
                group.addTask {
                    var latencies: [Double] = []
                    for number in stride(from: client, to: submissions.count, by: clients) {
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
        var figures = database.writerFigures
        try await ledger.close()
        guard answers.count == count else {
            throw BenchmarkError("\(answers.count) of \(count) purchases were granted")
        }
        figures.transactions -= before.transactions
        figures.writes -= before.writes
        figures.statements -= before.statements
        figures.pages -= before.pages
        figures.processorTime -= before.processorTime
        return Result(
            perSecond: Double(count) / seconds, bytesPerPurchase: Double(try size(path) - empty) / Double(count),
            figures: figures, latencies: answers.sorted())
    }

    private func size(_ path: String) throws -> Int {
        try FileManager.default.attributesOfItem(atPath: path)[.size] as? Int ?? 0
    }
}
