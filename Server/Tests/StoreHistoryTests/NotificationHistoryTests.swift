import AppStoreSimulator
import Foundation
import PurchaseLedger
import TestSupport
import Testing

/// Random histories of the store, of which the server learns by notifications alone: shuffled, repeated and late.
///
/// After each delivery, the facts and the answers are those of the pure rules over the facts delivered so far, in the
/// order of their signatures. After the last one they are those of a ledger that got everything once and in order, and
/// those of the store. `dev/torture.sh news` runs 1,000 histories; `ASSAY_NEWS_HISTORIES` sets another number.
@Suite("28 Random histories by notification")
struct NotificationHistoryTests {
    private static func setting(_ name: String) -> UInt64? {
        ProcessInfo.processInfo.environment[name].flatMap { UInt64($0) }
    }

    /// The number of the first history, and the number of histories.
    private static let first = setting("ASSAY_NEWS_FIRST") ?? 1
    private static let count = setting("ASSAY_NEWS_HISTORIES") ?? 20
    /// Histories share databases, because an empty database costs more than a history.
    private static let parts: UInt64 = 2
    private static let steps = 25
    /// The audit takes as long as all deliveries, and the comparisons say the same.
    private static let audited = 100

    @Test(
        "28 Shuffled, repeated and late notifications give the facts and answers of the ordered history and of the store, on both engines",
        arguments: 0..<parts)
    func histories(part: UInt64) async throws {
        try await Self.withLedgers { ledgers, ordered in
            let begin = ContinuousClock.now
            var (counts, numbers) = (NewsCounts(), 0)
            for seed in Self.first..<(Self.first + Self.count) where seed % Self.parts == part {
                var comparison = try NewsComparison(try NewsHistory(seed: seed, steps: Self.steps), ledgers)
                try await comparison.run()
                try await Self.deliver(comparison, to: ordered)
                counts += comparison.counts
                numbers += comparison.history.items.count { !$0.isClaim }
                #expect(comparison.differences == [])
                if comparison.differences != [] { print(comparison.history.story) }
            }
            let expected = try await ordered.tables()
            for ledger in ledgers {
                let tables = try await ledger.tables()
                for name in expected.keys.sorted() where tables[name] != expected[name] {
                    let (found, wanted) = (Set(tables[name] ?? []), Set(expected[name] ?? []))
                    Issue.record(
                        "\(ledger.engine): \(name) differs from the ordered history: \(found.subtracting(wanted).prefix(2)) instead of \(wanted.subtracting(found).prefix(2))"
                    )
                }
                #expect(try await Int(ledger.notifications()) == numbers, "each notification is kept once")
                guard Self.count <= Self.audited else { continue }
                #expect(try await ledger.ledger.audit().findings.map { "\($0)" } == [])
            }
            print("part \(part) on \(ledgers.map(\.engine)): \(counts); in \(ContinuousClock.now - begin)")
            // Histories without news would agree as well.
            #expect(counts.repeated > 0 && counts.signedAgain > 0 && counts.outOfOrder > 0)
            #expect(counts.activeAnswers > 100 && counts.truths > 100)
        }
    }

    @Test("28 A planted wrong rule is found", arguments: NewsFault.allCases)
    func planted(fault: NewsFault) async throws {
        try await Self.withSQLite { ledger in
            var differences: [String] = []
            for seed in 1...10 as ClosedRange<UInt64> where differences.isEmpty {
                var comparison = try NewsComparison(
                    try NewsHistory(seed: seed, steps: Self.steps), [ledger], fault: fault)
                try await comparison.run()
                differences = comparison.differences
            }
            #expect(differences != [])
            print("\(fault): \(differences.first ?? "")")
        }
    }

    // MARK: Ledgers

    /// Everything once: the news in the order of the signatures, then the claims in the order of their arrival.
    private static func deliver(_ comparison: NewsComparison, to ledger: NewsLedger) async throws {
        let history = comparison.history
        try await ledger.assignTokens(history.catalog)
        for item in history.items {
            guard case .notification(_, _, let payload) = item.content else { continue }
            let examined = try comparison.examined[payload] ?? ledger.examine(payload)
            _ = try await ledger.take(examined, at: item.arrival)
        }
        for item in history.claims {
            guard case .claim(let transaction, let payload) = item.content else { continue }
            try await ledger.claim(
                transaction.transactionID, transaction.productID, by: item.customer, payload, at: history.store.now)
        }
    }

    /// Ledgers on both engines, and one for the ordered histories.
    private static func withLedgers(_ body: ([NewsLedger], NewsLedger) async throws -> Void) async throws {
        try await withSQLite { sqlite in
            try await withSQLite { ordered in
                let isThere = try await ThrowawayPostgreSQL.withDatabase { place in
                    let database = try PostgreSQLDatabase(url: place.url())
                    try await body([sqlite, try await NewsLedger("postgresql", database)], ordered)
                    try await database.close()
                }
                if !isThere { try await body([sqlite], ordered) }
            }
        }
    }

    private static func withSQLite(_ body: (NewsLedger) async throws -> Void) async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "assay-news-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer {
            // A leftover folder in the temporary folder does no harm.
            try? FileManager.default.removeItem(at: folder)
        }
        let database = try SQLiteDatabase(path: folder.appending(path: "assay.sqlite").path)
        try await body(try await NewsLedger("sqlite", database))
        try await database.close()
    }
}

/// A wrong rule that is planted, to show that the comparison finds it.
enum NewsFault: CaseIterable, Sendable {
    /// The ledger answers a refund, and ignores it.
    case refundIgnored
    /// The pure rules are told only the facts that arrived last.
    case latestArrival
    /// The truth does not know that a refund can be reversed.
    case reversalIgnored
    /// The truth does not know grace periods.
    case graceIgnored
}
