import EvidenceMint
import Foundation
import PurchaseLedger
import PurchaseVerification
import Synchronization
import TestSupport
import Testing

/// The copy of a ledger in temporary tables of PostgreSQL, on which an import is tried.
@Suite("A trial on PostgreSQL")
struct TrialDatabaseTests {
    private static let owners = 64

    private static func purchase(_ number: Int) -> PurchaseTemplate {
        .consumable(productID: LedgerWorld.coins, transactionID: "\(3000 + number)", purchaseDate: MintedWorld.moment)
    }

    /// Calls the body with a ledger in which 64 customers have a purchase each, and half of them were merged since.
    private static func with(
        _ body: (LedgerWorld, ThrowawayPostgreSQL.Database) async throws -> Void
    ) async throws {
        try await ThrowawayPostgreSQL.withDatabase { place in
            let database = try PostgreSQLDatabase(url: place.url())
            let world = try await LedgerWorld(database)
            for number in 0..<owners {
                _ = try await world.claim(
                    "\(3000 + number)", customer: "owner \(number)", try LedgerWorld.receipt([purchase(number)]))
            }
            for number in 0..<owners where number % 2 == 1 {
                try await world.ledger.perform(
                    MergeCustomers(app: "example", customerID: "owner \(number)", into: "owner \(number - 1)"))
            }
            try await body(world, place)
            try await world.requireConsistency()
            try await database.close()
        }
    }

    private static func ledger(of trial: PostgreSQLTrialDatabase, _ world: LedgerWorld) async throws -> PurchaseLedger {
        let clock = world.clock
        return try await PurchaseLedger.openRecorded(database: trial, verifier: try LedgerWorld.verifier()) {
            clock.now
        }
    }

    /// Imports receipts with the purchases of all owners, and of nobody.
    private static func imports(into ledger: PurchaseLedger) async throws -> [ImportOutcome] {
        let all = (0..<owners).map(purchase)
        let receipts = [
            try LedgerWorld.receipt(all), try LedgerWorld.receipt(all.reversed()),
            try LedgerWorld.receipt([purchase(owners)]), try LedgerWorld.receipt([purchase(owners), purchase(0)]),
        ]
        let rows = receipts.enumerated().map { number, receipt in
            ledger.examine(ImportSubmission(customerID: "newcomer \(number)", evidence: [receipt]), app: "example")
        }
        return try await ledger.perform(
            ImportPurchases(app: "example", isAnnounced: false, consumables: .balance, rows))
    }

    @Test("D.1 A trial has every row, decides like the ledger, writes as many rows, and changes nothing of the ledger")
    func sameDecisions() async throws {
        try await Self.with { world, place in
            let before = try await DatabaseContent(world.database)
            let trial = try PostgreSQLTrialDatabase(of: place.url())
            #expect(try await DatabaseContent(trial).differences(from: before) == [])
            let tried = try await Self.imports(into: try await Self.ledger(of: trial, world))
            #expect(try await DatabaseContent(world.database) == before)
            let imported = try await Self.imports(into: world.ledger)
            #expect(tried.map(\.code) == ["already_claimed", "already_claimed", "accepted", "already_claimed"])
            #expect(imported.map(\.code) == tried.map(\.code) && imported.map(\.purchases) == tried.map(\.purchases))
            let (left, right) = (try await DatabaseContent(trial), try await DatabaseContent(world.database))
            #expect(left.tables.mapValues(\.count) == right.tables.mapValues(\.count))
            try await trial.close()
        }
    }

    @Test("D.1 A trial and the writes of the ledger do not wait for each other")
    func locks() async throws {
        try await Self.with { world, place in
            let trial = try PostgreSQLTrialDatabase(of: place.url())
            let copy = try await Self.ledger(of: trial, world)
            let database = world.database
            let isTried = Mutex(false)
            let (held, holds) = AsyncStream<Void>.makeStream()
            async let whole: Void = database.write { connection in
                _ = try connection.rows("SELECT count(*) FROM customers", [])
                holds.yield()
                while !isTried.withLock({ $0 }) { Thread.sleep(forTimeInterval: 0.01) }
            }
            for await _ in held { break }
            var tried: [ImportOutcome] = []
            do {
                tried = try await Self.imports(into: copy)
            } catch {
                Issue.record("the trial failed: \(error)")
            }
            isTried.withLock { $0 = true }
            try await whole
            // The other write ends only after the trial, which would have failed while it waited.
            #expect(tried.count == 4)
            try await trial.close()
        }
    }

    @Test("D.1 A trial whose connection is lost ends with the reason, and one behind a pooler is refused")
    func connections() async throws {
        try await Self.with { world, place in
            let trial = try PostgreSQLTrialDatabase(of: place.url())
            let process = try await trial.read(.keys) { connection -> LedgerValue in
                try connection.rows("SELECT pg_backend_pid()::bigint", [])[0].values[0]
            }
            try await world.database.write { connection in
                _ = try connection.rows("SELECT pg_terminate_backend(?1::int)::text", [process])
            }
            let copy = { try await Self.imports(into: try await Self.ledger(of: trial, world)) }
            let lost = await #expect(throws: LedgerStorageError.self) { try await copy() }
            #expect(lost?.kind == .unavailable && lost?.detail.contains("run the dry run again") == true)
            try await trial.close()
            try await Pooler.with(place) { pooler in
                for parameter in ["&assay_prepared_statements=off", ""] {
                    let refused = #expect(throws: LedgerStorageError.self) {
                        try PostgreSQLTrialDatabase(of: place.url(port: pooler.port) + parameter)
                    }
                    #expect(refused?.kind == .unavailable)
                }
            }
        }
    }
}
