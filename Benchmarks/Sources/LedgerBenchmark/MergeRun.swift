import EvidenceMint
import Foundation
import PurchaseLedger
import PurchaseVerification
import SQLiteFloor
import Synchronization

/// How long claims wait while a customer with many originals is merged into another.
struct MergeRun {
    /// The originals of the merged customer.
    let originals: Int
    let authority: AppStoreAuthority

    struct Result {
        /// From the call to the answer.
        let seconds: Double
        /// Seconds of each claim of one of the two customers, in order.
        let own: [Double]
        /// Seconds of each claim of other customers, in order.
        let others: [Double]
    }

    func run(_ ledger: PurchaseLedger, _ database: any LedgerDatabase) async throws -> Result {
        try await claim(0, of: "merged", ledger)
        try await fill(database)
        for (number, customer) in Self.customers.enumerated() { try await claim(number + 1, of: customer, ledger) }
        let course = Course()
        return try await withThrowingTaskGroup(of: (isOwn: Bool, times: [Double]).self) { group in
            for customer in Self.customers {
                group.addTask {
                    var times: [Double] = []
                    while let number = course.next() {
                        times.append(try await claim(number, of: customer, ledger))
                        try await Task.sleep(for: .milliseconds(2))
                    }
                    return (["merged", "remaining"].contains(customer), times)
                }
            }
            try await Task.sleep(for: .milliseconds(200))
            let start = ContinuousClock.now
            try await ledger.perform(
                MergeCustomers(app: "example", customerID: "merged", into: "remaining", holdsWrites: true))
            let seconds = (ContinuousClock.now - start).seconds
            course.end()
            var (own, others): ([Double], [Double]) = ([], [])
            for try await (isOwn, times) in group {
                if isOwn { own += times } else { others += times }
            }
            return Result(seconds: seconds, own: own.sorted(), others: others.sorted())
        }
    }

    /// The numbers of the purchases until the merge is over.
    private final class Course: Sendable {
        private let number = Mutex<Int?>(1000)

        func next() -> Int? {
            number.withLock { number in
                number = number.map { $0 + 1 }
                return number
            }
        }

        func end() { number.withLock { $0 = nil } }
    }

    private static let customers = ["merged", "remaining", "another", "third"]

    /// Claims a new purchase.
    ///
    /// - Returns: the seconds from the submission to the answer.
    @discardableResult
    private func claim(_ number: Int, of customer: String, _ ledger: PurchaseLedger) async throws -> Double {
        let id = Claims.transactionID(number)
        let purchase = PurchaseTemplate.consumable(
            productID: Claims.product, transactionID: id, purchaseDate: Claims.moment)
        let template = SignedTransactionTemplate(purchase: purchase, bundleID: "com.example.app")
        var submission = PurchaseSubmission(app: "example")
        submission.keyID = "0123456789abcdef"
        submission.sourceAddress = "192.0.2.1"
        submission.claim.productID = Claims.product
        submission.claim.transactionID = id
        submission.claim.customerID = customer
        submission.evidence = Array(try SignedPayloadEncoder(authority: authority).encode(template).utf8)
        let start = ContinuousClock.now
        let outcome = try await ledger.submit(submission)
        guard outcome.verdict == .accepted, !outcome.isReplayed else {
            throw BenchmarkError("purchase \(number) was not granted: \(outcome.code)")
        }
        return (ContinuousClock.now - start).seconds
    }

    /// Gives the customer of the first purchase more of them: its rows are copied under other keys, because claims
    /// would take too long. The journal does not have them.
    private func fill(_ database: any LedgerDatabase) async throws {
        let numbers = """
            WITH RECURSIVE n (i) AS
            (SELECT CAST(1 AS BIGINT) UNION ALL SELECT i + 1 FROM n WHERE i < \(originals - 1))
            """
        let statements = [
            """
            \(numbers) INSERT INTO originals (original_key, environment, original_id, xcode_second, app_key)
            SELECT original_key + i, environment, 'copy-' || i, xcode_second, app_key FROM originals CROSS JOIN n
            """,
            """
            \(numbers) INSERT INTO transactions (transaction_key, original_key, environment, transaction_id, xcode_second,
            product_key, facts, evidence_key, known_at, kind, duration, token, owner_key, owner_reason)
            SELECT transaction_key + i, original_key + i, environment, 'copy-' || i, xcode_second, product_key, facts,
            evidence_key, known_at, kind, duration, token, owner_key, owner_reason FROM transactions CROSS JOIN n
            """,
            """
            \(numbers) INSERT INTO ownership_acts (original_key, entry_key, transaction_key, customer_key, former_key, kind)
            SELECT original_key + i, entry_key, transaction_key + i, customer_key, former_key, kind
            FROM ownership_acts CROSS JOIN n
            """,
            """
            \(numbers) INSERT INTO lots (ground, customer_key, product_key, environment, quantity, withdrawn, taken,
            available, purchased_at, reason)
            SELECT ground + i, customer_key, product_key, environment, quantity, withdrawn, taken, available,
            purchased_at, reason FROM lots CROSS JOIN n
            """,
            "UPDATE entitlements SET balance = \(originals)",
        ]
        try await database.write { connection in
            for sql in statements { try connection.execute(sql, []) }
            for sql in database.dialect.renumbering { try connection.execute(sql, []) }
        }
    }
}
