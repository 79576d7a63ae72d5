import EvidenceMint
import Foundation
import GRDB
import PurchaseLedger
import PurchaseVerification
import SQLiteFloor

/// A ledger of a given size. Its rows are written by the operations that a server performs, so they equal a server's.
final class FilledLedger: Sendable {
    static let app = "example"
    private static let product = "com.example.app.coins"
    private static let moment = Date(timeIntervalSince1970: 1_700_000_000)
    /// Rows that are created and committed before the next ones; an interrupted run begins with the batch that it left.
    private static let block = 8192
    /// Rows that one transaction creates while the ledger is filled. Separately, each would wait for a commit and write
    /// its pages again.
    private static let rowsTogether = 128
    private static let purchasesPerCustomer = 5

    let size: Size
    let path: String
    private let database: SQLiteDatabase
    private let ledger: PurchaseLedger
    private let authority: AppStoreAuthority
    private let clock: FillClock

    init(_ path: String, _ size: Size, _ authority: AppStoreAuthority) async throws {
        (self.path, self.size, self.authority) = (path, size, authority)
        database = try SQLiteDatabase(path: path)
        let clock = FillClock(Self.moment)
        self.clock = clock
        try await LedgerMigrations.migrate(database, now: clock.now.millisecondsSince1970)
        let anchors = try [authority.receipts.root, authority.signedPayload.root].map {
            try TrustAnchor(certificate: $0.certificate)
        }
        var app = RegisteredApp(id: Self.app, bundleIDs: ["com.example.app"])
        app.products = [Self.product: RegisteredProduct(kind: .consumable)]
        ledger = try await PurchaseLedger.open(
            database: database, verifier: PurchaseVerifier(anchors: anchors), apps: [app], clock: { clock.now },
            entryKey: try EntryKey.openOrCreate(
                at: URL(fileURLWithPath: path).deletingLastPathComponent().appending(path: "assay-entries.key").path))
    }

    /// A random customer.
    func customer(_ number: Int) -> String {
        "customer-\(number * 7_919 % max(1, size.purchases / Self.purchasesPerCustomer))"
    }

    /// A random purchase.
    func transaction(_ number: Int) -> String { Self.transactionID(number * 7_919 % size.purchases) }

    private static func transactionID(_ number: Int) -> String { "\(2_000_000_000_000_000 + number)" }

    func answer<Query: LedgerQuery>(_ query: Query) async throws -> Query.Answer { try await ledger.answer(query) }

    // MARK: Filling

    /// Adds the missing rows. Orders come first and are spread over thirty days, so most have expired at the end.
    func fill() async throws {
        let sealing = try LogSealing(ledger: ledger, signer: nil)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { await sealing.run { _ in } }
            defer { group.cancelAll() }
            try await fillTables()
        }
        try await sealing.round()
    }

    private func fillTables() async throws {
        try await fill("orders", count: try count("orders"), of: size.orders) { [self] numbers in
            let orders = numbers.map { number in
                CreateOrder(
                    app: Self.app, OrderDraft(customerID: customer(number), productID: Self.product, quantity: 7))
            }
            let age = Double(size.orders - numbers.lowerBound) / Double(size.orders) * 30 * 86_400
            clock.set(Self.moment.addingTimeInterval(-age))
            _ = try await ledger.perform(Together(operations: orders))
        }
        clock.set(Self.moment)
        try await fill("purchases", count: try count("transactions"), of: size.purchases) { [self] numbers in
            let claims = try numbers.map { ClaimPurchase(ledger.examine(try submission($0))) }
            for (number, outcome) in zip(numbers, try await ledger.perform(Together(operations: claims)))
            where outcome.verdict != .accepted {
                throw BenchmarkError("purchase \(number): \(outcome.code)")
            }
        }
        clock.set(Self.moment.addingTimeInterval(60))
    }

    private func fill(
        _ name: String, count: Int, of total: Int, _ make: @escaping @Sendable (Range<Int>) async throws -> Void
    ) async throws {
        let start = ContinuousClock.now
        var next = count / Self.block * Self.block
        guard count < total else { return }
        while next < total {
            let block = next..<min(next + Self.block, total)
            try await withThrowingTaskGroup(of: Void.self) { group in
                for first in stride(from: block.lowerBound, to: block.upperBound, by: Self.rowsTogether) {
                    group.addTask { try await make(first..<min(first + Self.rowsTogether, block.upperBound)) }
                }
                try await group.waitForAll()
            }
            next = block.upperBound
            let seconds = (ContinuousClock.now - start).seconds
            let rate = Double(next - count) / max(seconds, 0.001)
            let left = Int(Double(total - next) / max(rate, 1))
            let line = "\r\(name): \(next) of \(total), \(Int(rate)) a second, \(left / 60) min \(left % 60) s left    "
            FileHandle.standardError.write(Data(line.utf8))
        }
        FileHandle.standardError.write(Data("\n".utf8))
    }

    /// The claim of a purchase that has no owner.
    private func submission(_ number: Int) throws -> PurchaseSubmission {
        let id = Self.transactionID(number)
        let template = PurchaseTemplate.consumable(
            productID: Self.product, transactionID: id, purchaseDate: Self.moment)
        var submission = PurchaseSubmission(app: Self.app)
        submission.keyID = "0123456789abcdef"
        submission.sourceAddress = "192.0.2.1"
        submission.claim.productID = Self.product
        submission.claim.transactionID = id
        submission.claim.customerID = customer(number)
        submission.evidence = Array(
            try SignedPayloadEncoder(authority: authority)
                .encode(SignedTransactionTemplate(purchase: template, bundleID: "com.example.app")).utf8)
        return submission
    }

    private func count(_ table: String) throws -> Int {
        try DatabaseQueue(path: path).read { try Int.fetchOne($0, sql: "SELECT count(*) FROM \(table)") ?? 0 }
    }

    // MARK: Measuring

    /// The time of a purchase, from evidence to commit, when 64 clients buy. Minting its evidence is not measured.
    func purchaseMicroseconds(count: Int) async throws -> Double {
        let first = try self.count("transactions")
        var claims: [ExaminedSubmission] = []
        for number in first..<first + count { claims.append(ledger.examine(try submission(number))) }
        let (ledger, examined) = (ledger, claims)
        let start = ContinuousClock.now
        try await Self.concurrently(64, 0..<count) { number in
            let outcome = try await ledger.perform(ClaimPurchase(examined[number]))
            guard outcome.verdict == .accepted, !outcome.isReplayed else {
                throw BenchmarkError("a purchase was not granted: \(outcome.code)")
            }
        }
        return (ContinuousClock.now - start).seconds / Double(count) * 1_000_000
    }

    func description() throws -> String {
        let bytes = try FileManager.default.attributesOfItem(atPath: path)[.size] as? Int ?? 0
        return "\(size.purchases) purchases, \(size.orders) orders, \(bytes / 1_000_000) MB"
    }

    func close() async throws { try await ledger.close() }

    private static func concurrently(
        _ clients: Int, _ numbers: Range<Int>, _ body: @escaping @Sendable (Int) async throws -> Void
    ) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for client in 0..<clients {
                group.addTask {
                    for number in stride(from: numbers.lowerBound + client, to: numbers.upperBound, by: clients) {
                        try await body(number)
                    }
                }
            }
            try await group.waitForAll()
        }
    }
}
