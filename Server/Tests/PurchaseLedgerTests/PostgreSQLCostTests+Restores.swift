import EvidenceMint
import Foundation
import PurchaseLedger
import PurchaseVerification
import TestSupport
import Testing

/// Writes of several purchases: long receipts, restores and imports.
extension PostgreSQLCostTests {
    @Test("33.1 A receipt with more purchases than are loaded in advance is decided once")
    func longReceipt() async throws {
        try await withWorld { world, database in
            let purchases: [PurchaseTemplate] = (0..<60).map {
                .consumable(
                    productID: LedgerWorld.coins, transactionID: "2\(100_000_000 + $0)",
                    purchaseDate: MintedWorld.moment.addingTimeInterval(Double($0)))
            }
            let restore = RestoreSubmission(
                app: "example", customerID: "alice", evidence: [try LedgerWorld.receipt(purchases)])
            let cost = try await cost(database) {
                let outcome = try await world.ledger.restore(restore)
                #expect(outcome.purchases.count == 60)
            }
            print("PostgreSQL, a receipt with 60 purchases: \(cost.trips) round trips, \(cost.statements) statements")
            #expect(cost.decisions == 1)
            // The rows, the rest of the rows, numbers for them, the entitlements of the customer at the end, whether
            // they are a tester, and the commit.
            #expect(cost.trips <= 6)
            #expect(try await world.entitlement(environment: .sandbox)?.balance == 60)
        }
    }

    @Test("33.1 A restore of pieces of different products reads what it has not changed from the rows that were loaded")
    func manyPieces() async throws {
        var app = LedgerWorld.app()
        for number in 0..<40 { app.products["product-\(number)"] = RegisteredProduct(kind: .consumable) }
        try await withWorld(app) { world, database in
            // A piece of a product that another piece has, too, is observed before both are decided, and read again
            // afterwards.
            let restore = RestoreSubmission(
                app: "example", customerID: "alice",
                evidence: try (0..<40).map { try LedgerWorld.signed("\(6000 + $0)", product: "product-\($0)") })
            let first = try await cost(database) {
                let outcome = try await world.ledger.restore(restore)
                #expect(outcome.purchases.count == 40)
            }
            print("PostgreSQL, a restore of 40 pieces: \(first.trips) round trips, \(first.statements) statements")
            #expect(first.decisions == 1)
            // Six of them number the new products, each time twice as many.
            #expect(first.trips <= 10)
            let again = try await cost(database) { _ = try await world.ledger.restore(restore) }
            print("PostgreSQL, the same again: \(again.trips) round trips, \(again.statements) statements")
            #expect(again.decisions == 1)
            #expect(again.trips <= 3)
            #expect(try await world.entitlement("product-39")?.balance == 1)
        }
    }

    @Test(
        "33.3 The round trips of a restore do not grow with its pieces: new consumables of one new product, some of them refunded",
        arguments: [40, 100])
    func oneProduct(pieces: Int) async throws {
        var app = LedgerWorld.app()
        app.products["gems"] = RegisteredProduct(kind: .consumable)
        try await withWorld(app) { world, database in
            let restore = RestoreSubmission(
                app: "example", customerID: "newcomer",
                evidence: try (0..<pieces).map { piece in
                    try LedgerWorld.signed("\(6000 + piece)", product: "gems") {
                        if piece % 10 == 3 { $0.revocationDate = $0.purchaseDate }
                    }
                })
            let first = try await cost(database) {
                let outcome = try await world.ledger.restore(restore)
                #expect(outcome.purchases.count == pieces)
            }
            print("PostgreSQL, \(pieces) gems: \(first.trips) round trips, \(first.statements) statements")
            #expect(first.decisions == 1)
            #expect(first.trips <= 8)
            let gems = try await world.entitlement("gems", of: "newcomer")
            #expect(gems?.balance == Int64(pieces - pieces / 10))
            let again = try await cost(database) {
                let outcome = try await world.ledger.restore(restore)
                #expect(outcome.purchases.allSatisfy { $0.isReplayed })
            }
            print("PostgreSQL, the same again: \(again.trips) round trips, \(again.statements) statements")
            #expect(again.trips <= 4)
        }
    }

    @Test(
        "33.3 The round trips of a restore do not grow with its pieces: periods of one subscription, signed one by one",
        // PostgreSQL ends a transaction that waits too long for its decision, as that of more periods in debug does.
        arguments: [20, 40])
    func oneSubscription(pieces: Int) async throws {
        try await withWorld { world, database in
            let restore = RestoreSubmission(
                app: "example", customerID: "newcomer",
                evidence: try (0..<pieces).map {
                    try LedgerWorld.period("\(950 + $0)", original: "950", from: Double($0 * 30))
                })
            let cost = try await cost(database) {
                let outcome = try await world.ledger.restore(restore)
                #expect(outcome.purchases.count == pieces)
            }
            print("PostgreSQL, \(pieces) periods: \(cost.trips) round trips, \(cost.statements) statements")
            #expect(cost.decisions == 1)
            #expect(cost.trips <= 8)
            let page = try await world.ledger.answer(
                PurchasesOfCustomer(app: "example", customerID: "newcomer", before: nil, limit: 200))
            #expect(page.entries.count == pieces)
        }
    }

    @Test(
        "33.3 The round trips of a restore do not grow with its pieces: passes of one product, of a new customer and of one with passes",
        arguments: [40, 100])
    func passes(pieces: Int) async throws {
        try await withWorld { world, database in
            for (number, customer) in ["newcomer", "newcomer", "alice"].enumerated() {
                let restore = RestoreSubmission(
                    app: "example", customerID: customer,
                    evidence: try (0..<pieces).map {
                        try LedgerWorld.signed(
                            "\(6000 + 1000 * number + $0)", product: LedgerWorld.pass, kind: .nonRenewingSubscription)
                    })
                let cost = try await cost(database) {
                    let outcome = try await world.ledger.restore(restore)
                    #expect(outcome.purchases.count == pieces)
                }
                print("PostgreSQL, \(pieces) passes: \(cost.trips) round trips, \(cost.statements) statements")
                #expect(cost.decisions == 1)
                #expect(cost.trips <= 8)
            }
            let start = MintedWorld.moment.timeIntervalSince1970 * 1000 + 3_600_000
            for (customer, passes) in [("newcomer", 2 * pieces), ("alice", pieces)] {
                let end = Int64(start) + Int64(passes) * 30 * 86_400_000
                let access = try await world.entitlement(LedgerWorld.pass, of: customer)
                #expect(access?.until == Timestamp(millisecondsSince1970: end))
            }
        }
    }

    @Test("33.3 The round trips of a restore do not grow with its pieces: each pays an open order")
    func openOrders() async throws {
        try await withWorld { world, database in
            for _ in 0..<40 { _ = try await world.order() }
            let restore = RestoreSubmission(
                app: "example", customerID: LedgerWorld.customer,
                evidence: try (0..<40).map { try LedgerWorld.signed("\(6000 + $0)") })
            let cost = try await cost(database) { _ = try await world.ledger.restore(restore) }
            print("PostgreSQL, 40 purchases that pay orders: \(cost.trips) round trips, \(cost.statements) statements")
            #expect(cost.decisions == 1)
            #expect(cost.trips <= 12)
            let paid = try await world.ledger.answer(
                OrderList(app: "example", status: .paid, customerID: LedgerWorld.customer, limit: 100))
            #expect(paid.entries.count == 40)
        }
    }

    @Test("33.3 The round trips of an import do not grow with its rows: consumables that another system delivered")
    func importedRows() async throws {
        try await withWorld { world, database in
            let rows = try (0..<40).map {
                world.ledger.examine(
                    ImportSubmission(
                        customerID: "customer \($0 / 2)", evidence: [try LedgerWorld.signed("\(6000 + $0)")]),
                    app: "example")
            }
            let cost = try await cost(database) {
                let outcomes = try await world.ledger.perform(
                    ImportPurchases(app: "example", isAnnounced: false, consumables: .delivered, rows))
                #expect(outcomes.allSatisfy { $0.rejection == nil })
            }
            print("PostgreSQL, an import of 40 rows: \(cost.trips) round trips, \(cost.statements) statements")
            #expect(cost.trips <= 60)
            #expect(try await world.entitlement(of: "customer 7")?.balance == 0)
            #expect(try await world.entitlement(of: "customer 7")?.reason == .consumed)
        }
    }
}
