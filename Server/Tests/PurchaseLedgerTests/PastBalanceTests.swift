import EvidenceMint
import Foundation
import GRDB
import PurchaseLedger
import PurchaseVerification
import TestSupport
import Testing

@Suite("Balances at a past time", .tags(.everyEngine), .ledger)
struct PastBalanceTests {
    let world: LedgerWorld = CurrentWorld.opened()

    @Test("has no shortfall before the use of a lot that now belongs to another customer")
    func transferredLot() async throws {
        _ = try await world.claim("1", try LedgerWorld.signed("1") { $0.quantity = 10 })
        world.clock.advance(days: 1)
        let before = world.clock.now
        world.clock.advance(days: 1)
        _ = try await world.consume(4, "first")
        try await world.move("1", to: "bob")
        world.clock.advance(days: 1)
        #expect(try await world.entitlement()?.shortfall == 4)
        let past = try #require(try await world.entitlement(at: before))
        #expect(past.balance == 0 && past.shortfall == 0 && past.reason == .ownedByAnother)
        #expect(try await world.entitlement(of: "bob", at: before)?.balance == 10)
    }

    @Test("C.8 has the units that were not yet delivered with an order, or by an import")
    func delivered() async throws {
        let order = try await world.order(quantity: 3)
        _ = try await world.claim("1", order: order.id, try LedgerWorld.signed("1") { $0.quantity = 3 })
        world.clock.advance(days: 1)
        _ = try await world.ledger.perform(FulfilOrder(app: "example", orderID: order.id, units: 2))
        let between = world.clock.now
        world.clock.advance(days: 1)
        let row = ImportSubmission(customerID: "alice", evidence: [try LedgerWorld.signed("2")])
        _ = try await world.ledger.perform(
            ImportPurchases(
                app: "example", isAnnounced: false, consumables: .delivered,
                [world.ledger.examine(row, app: "example")]))
        _ = try await world.ledger.perform(FulfilOrder(app: "example", orderID: order.id, units: 1))
        #expect(try await world.entitlement(at: world.clock.now)?.balance == 0)
        // The import's purchase was made before, and nobody has used it until then.
        #expect(try await world.entitlement(at: between)?.balance == 2)
        let paid = Timestamp(millisecondsSince1970: between.millisecondsSince1970 - 3_600_000)
        #expect(try await world.entitlement(at: paid)?.balance == 4)
    }

    @Test("33.4 is the same whether lots are added up or read one by one, in random histories", arguments: 1...8)
    func addedUp(seed: UInt64) async throws {
        var generator = SeededGenerator(seed: seed)
        let customers = ["alice", "bob"]
        var moments: [Timestamp] = []
        for step in 0..<40 {
            let customer = customers.randomElement(using: &generator) ?? "alice"
            let number = Int.random(in: 1...12, using: &generator)
            let evidence = try LedgerWorld.signed("\(number)") {
                $0.quantity = Int64(number % 4 + 1)
                $0.purchaseDate = MintedWorld.moment.addingTimeInterval(Double(number % 5) * 86_400)
                $0.originalPurchaseDate = $0.purchaseDate
                $0.signedDate = MintedWorld.moment.addingTimeInterval(Double(step) * 3600)
                if step % 9 == 4 { $0.revocationDate = $0.signedDate }
            }
            do {
                switch Int.random(in: 0..<8, using: &generator) {
                case 0: _ = try await world.consume(Int64(step % 3 + 1), "consumption \(step)", of: customer)
                case 1:
                    try await world.grant(LedgerWorld.coins, to: customer, quantity: 2)
                case 2:
                    let row = ImportSubmission(customerID: customer, evidence: [evidence])
                    _ = try await world.ledger.perform(
                        ImportPurchases(
                            app: "example", isAnnounced: false, consumables: .delivered,
                            [world.ledger.examine(row, app: "example")]))
                case 3 where step > 20:
                    try await world.move("\(number)", to: customer)
                default: _ = try await world.claim("\(number)", customer: customer, evidence)
                }
            } catch is LedgerRefusal {
                // Too few units, or nothing to move.
            }
            world.clock.advance(seconds: 10_000)
            moments.append(world.clock.now)
        }
        func answers() async throws -> [Entitlement?] {
            var answers: [Entitlement?] = []
            for moment in moments {
                for customer in customers { answers.append(try await world.entitlement(of: customer, at: moment)) }
            }
            return answers
        }
        let before = try await answers()
        #expect(before.contains { $0?.balance ?? 0 > 0 })
        // An act on a lot has it read by itself. Lifted at once, it has no effect, and none on the past.
        world.clock.advance(days: 1)
        for number in 1...12 {
            for owner in try await world.ledger.answer(
                PurchasesOfTransaction(app: "example", transactionID: "\(number)"))
            {
                guard let customer = owner.customerID else { continue }
                let revocation = try await world.revoke("\(number)", of: customer)
                try await world.ledger.perform(LiftByHand(app: "example", customerID: customer, id: revocation))
            }
        }
        #expect(try await answers() == before)
    }

    @Test("33.4 of 20,000 lots takes as many statements as of 2,000, and no row of each lot is read by itself")
    func manyLots() async throws {
        var costs: [(statements: Int, steps: Int)] = []
        for lots in [2000, 20_000] {
            try await TemporaryFolder.with { folder in
                let path = folder.appending(path: "assay.sqlite").path
                let recorder = RecordingDatabase(try SQLiteDatabase(path: path))
                let world = try await LedgerWorld(recorder)
                _ = try await world.claim("1", try LedgerWorld.signed("1"))
                _ = try await world.claim("2", try LedgerWorld.signed("2") { $0.quantity = 5 })
                _ = try await world.consume(2, "first")
                let file = try DatabaseQueue(path: path)
                try await file.write { database in
                    // Copies of the second lot, which has units left, without uses.
                    try database.execute(
                        sql: """
                            WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < \(lots))
                            INSERT INTO lots SELECT ground + i, customer_key, product_key, environment, quantity,
                            withdrawn, 0, quantity, purchased_at + i, reason FROM n, lots WHERE quantity = 5
                            """)
                }
                _ = recorder.take()
                let answer = try await world.entitlement(at: world.clock.now)
                #expect(answer?.balance == 1 + 5 - 2 + 5 * Int64(lots))
                let calls = recorder.takeCalls()
                costs.append((calls.count, try StatementCost(of: calls, in: file).steps))
                #expect(try await world.entitlement(at: Timestamp(millisecondsSince1970: 0))?.reason == .notStarted)
                try await recorder.close()
            }
        }
        print("past balances: \(costs)")
        #expect(costs.map(\.statements) == [costs[0].statements, costs[0].statements])
        // The engine adds each lot up.
        #expect(costs[1].steps - costs[0].steps <= 18_000 * 100)
    }
}
