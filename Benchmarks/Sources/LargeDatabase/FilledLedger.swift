import BenchmarkShop
import EvidenceMint
import Foundation
import GRDB
import PurchaseLedger
import PurchaseVerification
import SQLiteFloor
import Synchronization

/// A ledger of a given size. Its rows are written by the operations that a server performs, so they equal a server's.
final class FilledLedger: Sendable {
    static let app = "example"
    /// Rows that are created and committed before the next ones; an interrupted run begins with the batch that it left.
    private static let block = 8192
    /// Rows that one transaction creates while the ledger is filled. Separately, each would wait for a commit and write
    /// its pages again.
    private static let rowsTogether = 128
    private static let purchasesPerCustomer = 5

    let size: Size
    let path: String
    private let ledger: PurchaseLedger
    private let authority: AppStoreAuthority
    private let clock: FillClock
    /// The purchases that were made in a copy.
    private let sold = Mutex(0)
    private let isCopy: Bool

    /// - Parameters:
    ///   - path: the file of the ledger.
    ///   - copy: the URL of its copy in PostgreSQL, which is then used instead.
    init(_ path: String, copy: String?, _ size: Size, _ authority: AppStoreAuthority) async throws {
        (self.path, self.size, self.authority, isCopy) = (path, size, authority, copy != nil)
        let database: any LedgerDatabase
        if let copy { database = try PostgreSQLDatabase(url: copy) } else { database = try SQLiteDatabase(path: path) }
        let clock = FillClock(Shop.moment)
        self.clock = clock
        let key = URL(fileURLWithPath: path).deletingLastPathComponent().appending(path: "assay-entries.key").path
        ledger = try await Shop.open(database, authority, entryKey: try EntryKey.openOrCreate(at: key)) { clock.now }
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
                    app: Self.app, OrderDraft(customerID: customer(number), productID: Shop.product, quantity: 7))
            }
            let age = Double(size.orders - numbers.lowerBound) / Double(size.orders) * 30 * 86_400
            clock.set(Shop.moment.addingTimeInterval(-age))
            _ = try await ledger.perform(Together(operations: orders))
        }
        clock.set(Shop.moment)
        try await fill("purchases", count: try count("transactions"), of: size.purchases) { [self] numbers in
            let claims = try numbers.map { ClaimPurchase(ledger.examine(try submission($0))) }
            for (number, outcome) in zip(numbers, try await ledger.perform(Together(operations: claims)))
            where outcome.verdict != .accepted {
                throw BenchmarkError("purchase \(number): \(outcome.code)")
            }
        }
        clock.set(Shop.moment.addingTimeInterval(60))
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
        return Shop.claim(id, by: customer(number), try Shop.signedTransaction(id, authority))
    }

    private func count(_ table: String) throws -> Int {
        try DatabaseQueue(path: path).read { try Int.fetchOne($0, sql: "SELECT count(*) FROM \(table)") ?? 0 }
    }

    // MARK: Measuring

    /// The time of a purchase, from evidence to commit, when 64 clients buy. Minting its evidence is not measured.
    func purchaseMicroseconds(count: Int) async throws -> Double {
        let first = try nextPurchase() + sold.withLock { $0 }
        if isCopy { sold.withLock { $0 += count } }
        var claims: [ExaminedSubmission] = []
        for number in first..<first + count { claims.append(ledger.examine(try submission(number))) }
        let (ledger, examined) = (ledger, claims)
        let start = ContinuousClock.now
        _ = try await Shop.concurrently(64, count: count) { number, _ in
            let outcome = try await ledger.perform(ClaimPurchase(examined[number]))
            guard outcome.verdict == .accepted, !outcome.isReplayed else {
                throw BenchmarkError("a purchase was not granted: \(outcome.code)")
            }
        }
        return (ContinuousClock.now - start).seconds / Double(count) * 1_000_000
    }

    /// The number of the first purchase that the file does not have.
    private func nextPurchase() throws -> Int {
        try DatabaseQueue(path: path).read { database in
            let last = try String.fetchOne(
                database, sql: "SELECT max(transaction_id) FROM transactions WHERE transaction_id < '3'")
            return last.flatMap { Int($0) }.map { $0 - 2_000_000_000_000_000 + 1 } ?? 0
        }
    }

    func description() throws -> String {
        let bytes = try FileManager.default.attributesOfItem(atPath: path)[.size] as? Int ?? 0
        let place = isCopy ? "in PostgreSQL, as a file" : "as a file"
        return "\(size.purchases) purchases, \(size.orders) orders, \(place) \(bytes / 1_000_000) MB"
    }

    func close() async throws { try await ledger.close() }
}

/// The time of the ledger while it is filled.
final class FillClock: Sendable {
    private let time: Mutex<Int64>

    init(_ date: Date) { time = Mutex(Self.milliseconds(date)) }

    var now: AppStoreTime { AppStoreTime(millisecondsSince1970: time.withLock { $0 }) }

    func set(_ date: Date) { time.withLock { $0 = Self.milliseconds(date) } }

    private static func milliseconds(_ date: Date) -> Int64 { Int64(date.timeIntervalSince1970 * 1000) }
}

/// Operations in one transaction, one after the other.
struct Together<Operation: LedgerOperation>: LedgerOperation {
    let operations: [Operation]

    func perform(_ transaction: LedgerTransaction) throws -> [Operation.Outcome] {
        try operations.map { try $0.perform(transaction) }
    }
}
