import EvidenceMint
import Foundation
import GRDB
import LegacyLedger
import PurchaseVerification
import TestSupport
import Testing

/// A database that the first version of the schema filled: an order that was paid and fulfilled, a consumable that was refunded, a
/// subscription that was renewed, two passes bought at once, a key that was revoked, and claims that were refused.
@Suite("A database of the first version")
struct MigrationTests {
    private static let noon = Date(timeIntervalSince1970: 1_795_262_400)

    /// Runs the body with the ledger over such a database, brought up to date.
    private func withOldLedger(_ body: (LedgerWorld) async throws -> Void) async throws {
        try await TemporaryFolder.with { folder in
            let file = folder.appending(path: "assay.sqlite").path
            let script = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
                .appending(path: "Databases/version-1.sql")
            let queue = try DatabaseQueue(path: file)
            let sql = try String(contentsOf: script, encoding: .utf8)
            try await queue.writeWithoutTransaction { try $0.execute(sql: sql) }
            try queue.close()
            let clock = TestClock()
            let passed = Self.noon.addingTimeInterval(43_200).timeIntervalSince(MintedWorld.moment)
            clock.advance(seconds: Int64(passed))
            let database = try SQLiteDatabase(path: file)
            try await body(try await LedgerWorld(database, clock: clock))
            try await database.close()
        }
    }

    /// What the App Store says of the purchases at noon: those in the database.
    private func purchases() -> [PurchaseTemplate] {
        let bought = Self.noon.addingTimeInterval(-3600)
        return [
            .consumable(
                productID: "com.example.app.coins", transactionID: "2000000000000001", purchaseDate: bought, quantity: 3
            ),
            .nonConsumable(productID: "com.example.app.pro", transactionID: "2000000000000002", purchaseDate: bought),
            .subscription(
                productID: "com.example.app.monthly", transactionID: "2000000000000004",
                originalTransactionID: "2000000000000003", purchaseDate: bought, originalPurchaseDate: bought,
                expiresDate: bought.addingTimeInterval(30 * 86_400)),
            .consumable(productID: "com.example.app.coins", transactionID: "2000000000000006", purchaseDate: bought),
        ]
    }

    private func evidence(_ purchases: [PurchaseTemplate]) throws -> [UInt8] {
        var template = MintedWorld.receipt()
        template.creationDate = Self.noon
        template.purchases = purchases
        return try LedgerWorld.evidence(template)
    }

    @Test("It is brought up to date once, its record is as it was, and its books follow from the events")
    func audit() async throws {
        try await withOldLedger { world in
            let report = try await Audit(world.database).verify()
            #expect(report.findings.isEmpty, "\(report.findings)")
            #expect(try await world.submissions().count == 10)
            #expect(try await LedgerMigrations.migrate(world.database, now: 0).isEmpty)
        }
    }

    @Test("Everybody has what he had, and two passes that were bought at once last twice as long")
    func entitlements() async throws {
        try await withOldLedger { world in
            let entitlements = try await world.entitlements(of: "alice")
            let found = entitlements.map {
                "\($0.key.productID) \($0.balance) \($0.reason) \($0.state(at: world.clock.now))"
            }
            #expect(
                found.sorted() == [
                    "com.example.app.coins 1 consumed active", "com.example.app.monthly 0 renewed active",
                    "com.example.app.pass 0 bought active", "com.example.app.pro 0 bought active",
                ])
            let bought = Self.noon.addingTimeInterval(-3600)
            let pass = try await world.entitlement(of: "alice", to: "com.example.app.pass")
            #expect(pass?.until == Timestamp(bought.addingTimeInterval(60 * 86_400)))
            let monthly = try await world.entitlement(of: "alice", to: "com.example.app.monthly")
            #expect(monthly?.until == Timestamp(bought.addingTimeInterval(61 * 86_400)))
        }
    }

    @Test("Its purchases stay claimed by their owners, what was refunded stays so, and refunds of the others count")
    func claims() async throws {
        try await withOldLedger { world in
            let coins = "com.example.app.coins"
            let shown = try evidence(purchases())
            let again = try await world.ledger.submit(world.submission(evidence: shown))
            #expect(again.verdict == .accepted && again.isReplayed)
            #expect(again.entitlement?.balance == 1)
            let stolen = try await world.ledger.submit(world.submission(customer: "bob", evidence: shown))
            #expect(stolen.code == "already_claimed")
            let refunded = try await world.ledger.submit(world.submission("2000000000000006", evidence: shown))
            #expect(refunded.code == "purchase_withdrawn")
            var after = purchases()
            after[2].cancellationDate = Self.noon
            after[0].cancellationDate = Self.noon
            let news = try evidence(after)
            let cancelled = try await world.ledger.submit(
                world.submission("2000000000000004", product: "com.example.app.monthly", evidence: news))
            #expect(cancelled.code == "purchase_cancelled")
            // Two of the three coins were used, and nothing is taken below zero; the period that follows was not refunded.
            #expect(try await world.entitlement(of: "alice", to: coins)?.balance == 0)
            let monthly = try await world.entitlement(of: "alice", to: "com.example.app.monthly")
            #expect(monthly?.state(at: world.clock.now) == .active)
            #expect(try await Audit(world.database).verify().findings.isEmpty)
        }
    }
}
