import EvidenceMint
import Foundation
import PurchaseLedger
import PurchaseVerification

/// The evidence that is submitted: one purchase each, none of them twice.
enum Claims: String, CaseIterable {
    case signedTransactions = "signed transactions"
    case appReceipts = "app receipts"

    static let moment = Date(timeIntervalSince1970: 1_700_000_000)

    func evidence(count: Int, authority: AppStoreAuthority) throws -> [[UInt8]] {
        try (0..<count).map { number in
            let purchase = PurchaseTemplate.consumable(
                productID: "com.example.app.coins", transactionID: "\(2_000_000_000_000_000 + number)",
                purchaseDate: Self.moment)
            switch self {
            case .signedTransactions:
                let template = SignedTransactionTemplate(purchase: purchase, bundleID: "com.example.app")
                return Array(try SignedPayloadEncoder(authority: authority).encode(template).utf8)
            case .appReceipts:
                let template = AppReceiptTemplate.sandbox(
                    bundleID: "com.example.app", creationDate: Self.moment, purchases: [purchase])
                let receipt = try AppReceiptEncoder(authority: authority.receipts).encode(template)
                return Array(Data(receipt).base64EncodedData())
            }
        }
    }
}

/// Purchases through the ledger: verified, decided, granted and recorded with their evidence, each answered after its commit
/// is on the disk.
struct PurchaseRun {
    let clients: Int
    let evidence: [[UInt8]]
    let authority: AppStoreAuthority

    /// What a run gave.
    struct Result {
        let perSecond: Double
        let purchasesPerCommit: Double
        let bytesPerPurchase: Double
    }

    func run(in folder: URL) async throws -> Result {
        let path = folder.appending(path: "assay.sqlite").path
        let database = try SQLiteDatabase(path: path)
        let now = Timestamp(millisecondsSince1970: Int64(Claims.moment.timeIntervalSince1970 * 1000) + 60_000)
        try await LedgerMigrations.migrate(database, now: now.millisecondsSince1970)
        let anchors = try [authority.receipts.root, authority.signedPayload.root].map {
            try TrustAnchor(certificate: $0.certificate)
        }
        var app = RegisteredApp(id: "example", bundleIDs: ["com.example.app"])
        app.products = ["com.example.app.coins": RegisteredProduct(kind: .consumable)]
        let ledger = try await PurchaseLedger.open(
            database: database, verifier: PurchaseVerifier(anchors: anchors), apps: [app], clock: { now })
        let submissions = evidence.enumerated().map { number, evidence in
            var submission = PurchaseSubmission(app: app.id)
            submission.keyID = "0123456789abcdef"
            submission.sourceAddress = "192.0.2.1"
            submission.claim.productID = "com.example.app.coins"
            submission.claim.transactionID = "\(2_000_000_000_000_000 + number)"
            submission.claim.customerID = "customer-\(number % 997)"
            submission.evidence = evidence
            return submission
        }
        let clients = clients
        let start = ContinuousClock.now
        let granted = try await withThrowingTaskGroup(of: Int.self) { group in
            for client in 0..<clients {
                group.addTask {
                    var granted = 0
                    for number in stride(from: client, to: submissions.count, by: clients) {
                        let outcome = try await ledger.submit(submissions[number])
                        if outcome.verdict == .accepted && !outcome.isReplayed { granted += 1 }
                    }
                    return granted
                }
            }
            return try await group.reduce(0, +)
        }
        let seconds = (ContinuousClock.now - start).seconds
        let commits = database.commits
        try await ledger.close()
        guard granted == submissions.count else {
            throw BenchmarkError("\(granted) of \(submissions.count) purchases were granted")
        }
        let size = try FileManager.default.attributesOfItem(atPath: path)[.size] as? Int ?? 0
        return Result(
            perSecond: Double(granted) / seconds,
            purchasesPerCommit: Double(commits.writes) / Double(max(1, commits.transactions)),
            bytesPerPurchase: Double(size) / Double(granted))
    }
}
