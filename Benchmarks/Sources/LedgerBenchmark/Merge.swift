import BenchmarkShop
import EvidenceMint
import Foundation
import PurchaseLedger
import SQLiteFloor
import Synchronization

/// Prints how long claims wait during a merge, on SQLite and, if a server is named, on PostgreSQL.
struct MergeReport {
    let originals: Int
    /// The folder of the socket of a PostgreSQL, and its port.
    let postgresql: (folder: String, port: Int)?

    func print(in folder: URL) async throws {
        let run = MergeRun(originals: originals, authority: try AppStoreAuthority())
        Swift.print("A customer with \(originals) originals is merged, while four customers buy.\n")
        Swift.print(
            "| | merge, s | claims | longest claim of the two customers, ms | p99 | longest claim of others, ms | p99 |"
        )
        Swift.print("|---|---:|---:|---:|---:|---:|---:|")
        let opened = try await SQLiteRun.open(folder.appending(path: "ledger.sqlite").path, run.authority)
        printRow("SQLite", try await run.run(opened.ledger, opened.database))
        try await opened.ledger.close()
        guard let postgresql else { return }
        let place = "host=\(postgresql.folder)&port=\(postgresql.port)&user=assay"
        let client = try PostgreSQLClient("postgres:///postgres?\(place)")
        try client.execute("DROP DATABASE IF EXISTS assay_merge WITH (FORCE)")
        try client.execute("CREATE DATABASE assay_merge TEMPLATE template0 ENCODING 'UTF8'")
        let key = try EntryKey.openOrCreate(at: folder.appending(path: "assay-entries.key").path)
        let server = try await PostgreSQLRun.open("postgres:///assay_merge?\(place)", run.authority, key)
        printRow("PostgreSQL", try await run.run(server.ledger, server.database))
        try await server.ledger.close()
    }

    private func printRow(_ name: String, _ result: MergeRun.Result) {
        let columns = [
            String(format: "%.1f", result.seconds), "\(result.own.count + result.others.count)",
            Self.milliseconds(result.own.last), Self.milliseconds(Self.late(result.own)),
            Self.milliseconds(result.others.last), Self.milliseconds(Self.late(result.others)),
        ]
        Swift.print("| \(name) | \(columns.joined(separator: " | ")) |")
    }

    private static func late(_ times: [Double]) -> Double? { times.dropLast(times.count / 100).last }

    private static func milliseconds(_ seconds: Double?) -> String { String(format: "%.1f", (seconds ?? .nan) * 1000) }
}

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
        let submission = Shop.claim(id, by: customer, try Shop.signedTransaction(id, authority))
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
