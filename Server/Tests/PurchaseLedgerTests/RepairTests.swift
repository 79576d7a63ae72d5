import EvidenceMint
import Foundation
import PurchaseLedger
import PurchaseVerification
import Testing

/// Repairs of ledgers whose row numbers differ from those of a rebuild.
@Suite("Repairs of numbers with gaps", .tags(.everyEngine))
struct RepairTests {
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
        "Where numbers have gaps, a repair restores the number of every row, to which entries and events refer",
        .enabled(if: TestEngine.ownsTables))
    func gaps() async throws {
        try await LedgerWorld.with { world in
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
            let before = try await DatabaseContent(world.database)
            try await world.database.write { connection in
                try connection.execute("UPDATE entitlements SET balance = 1000", [])
                try connection.execute("DELETE FROM ownership_acts", [])
                try connection.execute("UPDATE lots SET taken = taken + 1", [])
                try connection.execute("DELETE FROM account_tokens", [])
                try connection.execute("UPDATE orders SET status = 'created', paid_by = NULL", [])
                try connection.execute("UPDATE customers SET merged_into = NULL, token = NULL", [])
                try connection.execute("DELETE FROM entitlements WHERE ground <> 0", [])
            }
            let report = try await world.ledger.repair()
            #expect(report.findings.count > 5 && report.findings.allSatisfy(\.kind.isOfTables))
            let after = try await DatabaseContent(world.database)
            // The repair's own entry and its events are new; everything else is as it was before the damage.
            let changed = Set(after.differences(from: before))
            #expect(changed.isSubset(of: ["journal", "events", "rules"]), "\(changed)")
            for customer in customers.dropLast() { #expect(try await world.entitlement(of: customer) != nil) }
            // Later rows get their own numbers.
            _ = try await world.claim("later", customer: "dora", try LedgerWorld.signed("later"))
            _ = try await world.order("dora")
        }
    }

    @Test(
        "A repair beside a ledger that grew is refused, and writes nothing",
        .enabled(if: TestEngine.ownsTables))
    func growth() async throws {
        try await LedgerWorld.with { world in
            _ = try await world.claim("1", try LedgerWorld.signed("1"))
            try await world.database.write { _ = try $0.execute("UPDATE entitlements SET balance = 7", []) }
            let growing = OvertakingDatabase(world.database)
            let ledger = try await PurchaseLedger.openRecorded(
                database: growing, verifier: try LedgerWorld.verifier()
            ) { world.clock.now }
            let error = await #expect(throws: RepairOvertaken.self) {
                try await ledger.repair { _ in growing.overtake { _ = try await world.order() } }
            }
            #expect(error?.description.contains("stop the server") == true)
            #expect(try await world.entitlement()?.balance == 7)
            #expect(try await ledger.repair().findings != [])
            #expect(try await world.entitlement()?.balance == 1)
        }
    }
}
