import EvidenceMint
import Foundation
import PurchaseLedger
import PurchaseVerification
import TestSupport
import Testing

/// The independence of order of docs/ledger.md, through real operations on SQLite: claims, consumption, transfers,
/// merges and manual acts in one order, and evidence in two. Facts, owners and entitlements are equal, and equal to a
/// rebuild from the journal.
///
/// `ASSAY_HISTORIES` sets the number of histories; `dev/torture.sh histories` runs 10,000.
@Suite("Orders of arrival", .tags(.everyEngine))
struct ArrivalTests {
    private static let histories = ProcessInfo.processInfo.environment["ASSAY_HISTORIES"].flatMap { Int($0) } ?? 40
    /// Histories that share a pair of databases, with separate ids.
    private static let chunk = 20

    @Test("Evidence in another order, repeated and split, gives the same tables and answers")
    func order() async throws {
        let seed: UInt64 = 2_026_112_213
        print("orders of arrival: seeds \(seed) to \(seed + UInt64(Self.histories) - 1)")
        var (compared, acts) = (0, 0)
        for start in stride(from: 0, to: Self.histories, by: Self.chunk) {
            let seeds = (start..<min(start + Self.chunk, Self.histories)).map { seed + UInt64($0) }
            let counts = try await compare(seeds)
            (compared, acts) = (compared + counts.histories, acts + counts.acts)
        }
        print("orders of arrival: \(compared) of \(Self.histories) histories were comparable, with \(acts) acts")
        // The others had acts that depend on the known facts, such as a use of units that were already refunded.
        #expect(compared * 2 > Self.histories)
        #expect(acts > compared)
    }

    /// Runs some histories in two orders each.
    ///
    /// - Returns: the number of them that had the same acts in both, and the number of these acts.
    private func compare(_ seeds: [UInt64]) async throws -> (histories: Int, acts: Int) {
        try await TemporaryFolder.with { folder in
            var app = LedgerWorld.app()
            app.transfer = (seeds.first ?? 0) / UInt64(Self.chunk) % 2 == 0 ? .deny : .move
            app.guestRestore = .move
            app.refundShortfall = .debt
            let clock = TestClock()
            clock.advance(days: 200)
            let databases = try ["first", "second"].map {
                try SQLiteDatabase(path: folder.appending(path: "\($0).sqlite").path)
            }
            let first = try await LedgerWorld(databases[0], clock: clock, apps: [app])
            let second = try await LedgerWorld(databases[1], clock: clock, apps: [app])
            var (comparable, count): ([ArrivalHistory], Int) = ([], 0)
            for (number, seed) in seeds.enumerated() {
                var history = try ArrivalHistory(seed: seed, number: number)
                let acts = try await history.happen(in: first, isReordered: false)
                let again = try await history.happen(in: second, isReordered: true)
                guard acts == again else { continue }
                comparable.append(history)
                count += acts.count
            }
            for history in comparable {
                let (tables, other) = (try await history.tables(first), try await history.tables(second))
                for (name, rows) in tables {
                    let difference = zip(rows, other[name] ?? []).first { $0 != $1 }
                    try #require(
                        rows == other[name],
                        "seed \(history.seed), \(name): \(rows.count) and \(other[name]?.count ?? 0) rows, \(String(describing: difference))"
                    )
                }
                let (answers, others) = (try await history.answers(first), try await history.answers(second))
                try #require(answers == others, "seed \(history.seed), answers")
            }
            try await first.requireConsistency()
            try await second.requireConsistency()
            for database in databases { try await database.close() }
            return (comparable.count, count)
        }
    }
}
