import EvidenceMint
import Foundation
import PurchaseLedger
import PurchaseVerification
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
                _ = try await world.ledger.perform(
                    GrantByHand(
                        app: "example", customerID: customer, productID: LedgerWorld.coins, quantity: 2, reason: "gift")
                )
                _ = try await world.ledger.perform(
                    RevokeByHand(
                        app: "example", customerID: customer,
                        .purchase(transactionID: "\(number)", environment: nil), reason: "test"))
                _ = try await world.consume(1, "of the grant", of: customer)
            }
            _ = try await world.ledger.perform(
                MergeCustomers(app: "example", customerID: "carol", into: "bob", reason: "test"))
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
