import EvidenceMint
import Foundation
import PurchaseLedger
import PurchaseVerification
import TestSupport
import Testing

/// Rebuilds of damaged ledgers, whose row numbers differ from those of a fold.
@Suite("A rebuild into a new file", .tags(.everyEngine))
struct RebuiltFileTests {
    /// Makes PostgreSQL leave gaps, as rolled-back transactions do. SQLite leaves none.
    private func leaveGaps(_ world: LedgerWorld) async throws {
        let dialect = world.database.dialect
        for table in try StoredTable.all() where table.key.count == 1 {
            try await world.database.write { connection in
                guard !dialect.renumbering.isEmpty else { return }
                let sequence = "pg_get_serial_sequence('\(table.name)', '\(table.key[0])')"
                _ = try connection.rows(
                    "SELECT setval(\(sequence), nextval(\(sequence)) + 5) WHERE \(sequence) IS NOT NULL", [])
            }
        }
    }

    @Test(
        "A ledger with damaged tables is rebuilt into a new file, with the number of every row, to which entries and cursors refer",
        .enabled(if: TestEngine.ownsTables))
    func damaged() async throws {
        try await TestEngine.withDatabases { database in
            let world = try await LedgerWorld(database)
            let customers = ["alice", "bob", "carol"]
            for (number, customer) in customers.enumerated() {
                try await leaveGaps(world)
                _ = try await world.claim(
                    "\(number)", customer: customer, try LedgerWorld.signed("\(number)") { $0.quantity = 5 })
                let order = try await world.order(customer)
                _ = try await world.claim(
                    "p\(number)", customer: customer, order: order.id, try LedgerWorld.signed("p\(number)"))
                _ = try await world.consume(1, "c", of: customer)
                try await world.observe(try LedgerWorld.period("9\(number)", original: "9\(number)", from: 0))
                try await world.grant(LedgerWorld.coins, to: customer, quantity: 2)
                try await world.revoke("\(number)", of: customer)
                _ = try await world.consume(1, "of the grant", of: customer)
            }
            try await world.merge("carol", into: "bob")
            let (before, isWithoutGaps) = (try await DatabaseContent(database), database.dialect.renumbering.isEmpty)
            try await world.database.write { connection in
                try connection.execute("UPDATE entitlements SET balance = 1000", [])
                try connection.execute("DELETE FROM ownership_acts", [])
                try connection.execute("UPDATE lots SET taken = taken + 1", [])
                try connection.execute("DELETE FROM account_tokens", [])
                try connection.execute("UPDATE orders SET status = 'created', paid_by = NULL", [])
                try connection.execute("UPDATE customers SET merged_into = NULL, token = NULL", [])
                try connection.execute("DELETE FROM entitlements WHERE ground <> 0", [])
                // Without gaps, rows that are missing or have another meaning get their own numbers again.
                if isWithoutGaps {
                    try connection.execute("DELETE FROM products WHERE product_key = 2", [])
                    try connection.execute("UPDATE originals SET original_id = 'x' WHERE original_id = '1'", [])
                }
                try connection.execute("UPDATE events SET customer_key = NULL WHERE type = 'consumed'", [])
                try connection.execute(
                    """
                    INSERT INTO events (app_key, entry_key, type, customer_key, figures)
                    SELECT app_key, entry_key, 'granted', customer_key, figures FROM events WHERE type = 'granted'
                    """, [])
            }
            let damaged = try await DatabaseContent(database)
            #expect(try await world.ledger.audit().findings.count > 5)
            try await world.rebuilt { rebuilt in
                #expect(try await DatabaseContent(rebuilt.database).differences(from: before) == [])
                for customer in customers.dropLast() { #expect(try await rebuilt.entitlement(of: customer) != nil) }
                // A server goes on with it. Later rows get their own numbers.
                let server = try await rebuilt.restarted([LedgerWorld.app()])
                _ = try await server.claim("later", customer: "dora", try LedgerWorld.signed("later"))
                _ = try await server.order("dora")
                try await server.requireConsistency()
            }
            #expect(try await DatabaseContent(database) == damaged)
        }
    }

    @Test(
        "A rebuild of a ledger that grows meanwhile is refused, and leaves no file", .enabled(if: TestEngine.ownsTables)
    )
    func growth() async throws {
        try await LedgerWorld.with { world in
            _ = try await world.claim("1", try LedgerWorld.signed("1"))
            try await TemporaryFolder.with { folder in
                // Grows after the fold, before the copy is read: whatever comes earlier is in both.
                let growing = OvertakingDatabase(world.database) {
                    (try? FileManager.default.contentsOfDirectory(atPath: folder.path).isEmpty) == false
                } by: {
                    _ = try await world.claim("2", try LedgerWorld.signed("2"))
                }
                let ledger = try await PurchaseLedger.openRecorded(
                    database: growing, verifier: try LedgerWorld.verifier()
                ) { world.clock.now }
                let error = await #expect(throws: LedgerStorageError.self) {
                    try await ledger.rebuild(to: folder.appending(path: "rebuilt.sqlite").path)
                }
                #expect(error?.detail.contains("stop the server") == true)
                let left = try FileManager.default.contentsOfDirectory(atPath: folder.path)
                #expect(left.isEmpty)
            }
        }
    }
}

/// Restores and imports of many pieces about few purchases. The replay of the audit reads everything again for each
/// entry, so it finds where a write saw its own pieces differently.
@Suite("Random restores and imports of many pieces", .tags(.everyEngine))
struct RandomRestoreTests {
    /// Transactions with overlapping originals, in several versions each.
    private struct Pieces {
        var generator: SeededGenerator
        let tokens: [UUID]

        mutating func restore(_ count: Int) throws -> [[UInt8]] {
            var pieces: [[UInt8]] = []
            for _ in 0..<count { pieces.append(try piece()) }
            return pieces
        }

        private mutating func piece() throws -> [UInt8] {
            let transaction = try transaction()
            switch Int.random(in: 0..<8, using: &generator) {
            case 0 where transaction.type == .autoRenewableSubscription:
                var renewal = RenewalInfoTemplate(transaction: transaction)
                renewal.isInBillingRetryPeriod = Bool.random(using: &generator)
                return try MintedWorld.mint(renewal)
            case 1 where transaction.type == .autoRenewableSubscription:
                return try MintedWorld.mint(
                    NotificationTemplate(
                        notificationType: "DID_RENEW", transaction: transaction,
                        renewalInfo: RenewalInfoTemplate(transaction: transaction)))
            default:
                return try MintedWorld.mint(transaction)
            }
        }

        private mutating func transaction() throws -> SignedTransactionTemplate {
            let number = Int.random(in: 1...4, using: &generator)
            let signed = MintedWorld.moment.addingTimeInterval(Double(Int.random(in: 2...9, using: &generator)) * 3600)
            let isRefunded = Int.random(in: 0..<5, using: &generator) == 0
            // Newer data can name another original.
            let original = Int.random(in: 0..<6, using: &generator) == 0 ? 1 : number
            let token = Int.random(in: 0..<6, using: &generator) == 0 ? tokens.randomElement(using: &generator) : nil
            let kinds: [(String, String, SignedTransactionTemplate.ProductType)] = [
                ("1", LedgerWorld.coins, .consumable), ("2", LedgerWorld.pro, .nonConsumable),
                ("3", LedgerWorld.monthly, .autoRenewableSubscription), ("4", "unknown", .consumable),
                ("5", LedgerWorld.pass, .nonRenewingSubscription),
            ]
            let (prefix, product, kind) = kinds[Int.random(in: 0..<kinds.count, using: &generator)]
            return LedgerWorld.template("\(prefix)0\(number)", product: product, kind: kind) {
                $0.originalTransactionID = kind == .autoRenewableSubscription ? "\(prefix)01" : "\(prefix)0\(original)"
                $0.signedDate = signed
                if kind == .autoRenewableSubscription {
                    $0.purchaseDate = MintedWorld.moment.addingTimeInterval(Double(number) * 30 * 86_400)
                    $0.expiresDate = $0.purchaseDate?.addingTimeInterval(30 * 86_400)
                }
                if isRefunded { $0.revocationDate = signed }
                $0.appAccountToken = token?.uuidString
            }
        }
    }

    @Test("33.3 Each is replayed with the same facts, owners, balances and orders", arguments: 1...12)
    func replayed(seed: UInt64) async throws {
        try await LedgerWorld.with({ $0.transfer = seed % 2 == 0 ? .move : .deny }) { world in
            let customers = ["alice", "bob"]
            let tokens = [UUID(), UUID()]
            for (customer, token) in zip(customers, tokens) {
                try await world.assign(token, to: customer)
                _ = try await world.order(customer)
                _ = try await world.order(customer, product: LedgerWorld.pro)
            }
            var pieces = Pieces(generator: SeededGenerator(seed: seed), tokens: tokens)
            for round in 0..<4 {
                let customer = customers[round % 2]
                let evidence = try pieces.restore(8)
                guard round < 3 else {
                    let row = ImportSubmission(customerID: customer, evidence: evidence)
                    _ = try await world.ledger.perform(
                        ImportPurchases(
                            app: "example", isAnnounced: true, consumables: seed % 3 == 0 ? .delivered : .balance,
                            [row, row].map { world.ledger.examine($0, app: "example") }))
                    continue
                }
                try await world.restore(of: customer, evidence)
            }
            try await world.requireConsistency()
        }
    }
}
