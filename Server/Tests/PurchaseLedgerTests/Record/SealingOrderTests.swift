import Foundation
import PurchaseLedger
import PurchaseVerification
import Synchronization
import Testing

/// Entries that are committed in another order than they are numbered, as on PostgreSQL.
@Suite("A.1 The order of leaves", .tags(.everyEngine))
struct SealingOrderTests {
    @Test("A.1 An entry with a lower number that is committed between two pages of the sealer gets the lower leaf")
    func overtaken() async throws {
        try await SealedWorld.with { sealed in
            try await sealed.write(2)
            try await sealed.sealing.round()
            try await sealed.write(2)
            let last = try await sealed.number("SELECT max(entry_key) FROM journal")
            let (early, late) = (last - 1, last + 1000)
            // More rows between the two than a page has; none can be sealed, and the earlier entry is not visible yet.
            try await sealed.tamper(
                [
                    "UPDATE journal SET entry_key = \(late) WHERE entry_key = \(last)",
                    "UPDATE events SET entry_key = \(late) WHERE entry_key = \(last)",
                    "UPDATE log_pending SET entry_key = \(late) WHERE entry_key = \(last)",
                    "DELETE FROM log_pending WHERE entry_key = \(early)",
                ] + (1...Int64(600)).map { "INSERT INTO log_pending (entry_key) VALUES (\(last + $0))" })
            let database = OvertakenDatabase(sealed.database, "INSERT INTO log_pending (entry_key) VALUES (\(early))")
            let clock = sealed.world.clock
            let ledger = try await PurchaseLedger.openRecorded(
                database: database, verifier: try LedgerWorld.verifier(), entryKey: sealed.entryKey,
                clock: { clock.now })
            let round = try await LogSealing(ledger: ledger, signer: nil).seal()
            #expect(round.sealed == 2)
            #expect(round.refused.count == 600)
            let leaf = "SELECT leaf FROM log_entries WHERE entry_key = "
            let leaves = (try await sealed.number(leaf + "\(early)"), try await sealed.number(leaf + "\(late)"))
            #expect(leaves.0 >= 0 && leaves.0 < leaves.1)
            try await sealed.tamper(["DELETE FROM log_pending"])
            #expect(try await sealed.world.ledger.audit().findings.filter { $0.kind == .orderDiffers } == [])
        }
    }

    /// A database in which another server commits before the first write of this server.
    private final class OvertakenDatabase: LedgerDatabase {
        private let database: any LedgerDatabase
        private let sql: Mutex<String?>

        init(_ database: any LedgerDatabase, _ sql: String) {
            self.database = database
            self.sql = Mutex(sql)
        }

        var dialect: any LedgerDialect { database.dialect }

        func read<Value: Sendable>(
            _ access: LedgerReadAccess, _ body: @escaping @Sendable (any LedgerConnection) throws -> Value
        ) async throws -> Value {
            try await database.read(access, body)
        }

        func write<Value: Sendable>(
            plan: @escaping @Sendable () -> LedgerWritePlan,
            _ body: @escaping @Sendable (any LedgerConnection) throws -> Value
        ) async throws -> Value {
            if let sql = sql.withLock({ sql in
                defer { sql = nil }
                return sql
            }) {
                try await database.write { _ = try $0.execute(sql, []) }
            }
            return try await database.write(plan: plan, body)
        }

        func requireSchema(_ number: Int64) { database.requireSchema(number) }

        func close() async throws {}
    }
}
