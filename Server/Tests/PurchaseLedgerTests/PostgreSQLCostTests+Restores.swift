import EvidenceMint
import Foundation
import PurchaseLedger
import PurchaseVerification
import TestSupport
import Testing

/// Writes of several purchases: long receipts, restores and imports.
extension PostgreSQLCostTests {
    /// Restores evidence, which is decided once and takes at most some round trips.
    private func restore(
        _ name: String, of customer: String = "newcomer", _ evidence: [[UInt8]], purchases: Int? = nil,
        atMost trips: Int, isReplayed: Bool = false
    ) async throws {
        let restore = RestoreSubmission(app: "example", customerID: customer, evidence: evidence)
        let cost = try await cost(database) {
            let outcome = try await world.ledger.restore(restore)
            #expect(outcome.purchases.count == purchases ?? evidence.count, "\(name)")
            #expect(!isReplayed || outcome.purchases.allSatisfy { $0.isReplayed }, "\(name)")
        }
        print("PostgreSQL, \(name): \(cost.trips) round trips, \(cost.statements) statements")
        #expect(cost.decisions == 1 && cost.trips <= trips, "\(name)")
    }

    @Test("33.1 A receipt with more purchases than are loaded in advance is decided once")
    func longReceipt() async throws {
        let receipt = try LedgerWorld.receipt(
            (0..<60).map {
                .consumable(
                    productID: LedgerWorld.coins, transactionID: "2\(100_000_000 + $0)",
                    purchaseDate: MintedWorld.moment.addingTimeInterval(Double($0)))
            })
        // The rows, the rest of the rows, numbers for them, the entitlements of the customer at the end, whether
        // they are a tester, and the commit.
        try await restore("a receipt with 60 purchases", of: "alice", [receipt], purchases: 60, atMost: 6)
        #expect(try await world.entitlement(environment: .sandbox)?.balance == 60)
    }

    @Test(
        "33.1 A restore of pieces of different products reads what it has not changed from the rows that were loaded",
        .costs((0..<40).map { "product-\($0)" }))
    func manyPieces() async throws {
        // A piece of a product that another piece has, too, is observed before both are decided, and read again
        // afterwards.
        let evidence = try (0..<40).map { try LedgerWorld.signed("\(6000 + $0)", product: "product-\($0)") }
        // Six of them number the new products, each time twice as many.
        try await restore("a restore of 40 pieces", of: "alice", evidence, atMost: 10)
        try await restore("the same again", of: "alice", evidence, atMost: 3, isReplayed: true)
        #expect(try await world.entitlement("product-39")?.balance == 1)
    }

    @Test(
        "33.3 The round trips of a restore do not grow with its pieces: new consumables of one new product, some of them refunded",
        .costs(["gems"]), arguments: [40, 100])
    func oneProduct(pieces: Int) async throws {
        let evidence = try (0..<pieces).map { piece in
            try LedgerWorld.signed("\(6000 + piece)", product: "gems") {
                if piece % 10 == 3 { $0.revocationDate = $0.purchaseDate }
            }
        }
        try await restore("\(pieces) gems", evidence, atMost: 8)
        let gems = try await world.entitlement("gems", of: "newcomer")
        #expect(gems?.balance == Int64(pieces - pieces / 10))
        try await restore("the same again", evidence, atMost: 4, isReplayed: true)
    }

    @Test(
        "33.3 The round trips of a restore do not grow with its pieces: periods of one subscription, signed one by one",
        // PostgreSQL ends a transaction that waits too long for its decision, as that of more periods in debug does.
        arguments: [20, 40])
    func oneSubscription(pieces: Int) async throws {
        let evidence = try (0..<pieces).map {
            try LedgerWorld.period("\(950 + $0)", original: "950", from: Double($0 * 30))
        }
        try await restore("\(pieces) periods", evidence, atMost: 8)
        let page = try await world.ledger.answer(
            PurchasesOfCustomer(app: "example", customerID: "newcomer", before: nil, limit: 200))
        #expect(page.entries.count == pieces)
    }

    @Test(
        "33.3 The round trips of a restore do not grow with its pieces: passes of one product, of a new customer and of one with passes",
        arguments: [40, 100])
    func passes(pieces: Int) async throws {
        for (number, customer) in ["newcomer", "newcomer", "alice"].enumerated() {
            let evidence = try (0..<pieces).map {
                try LedgerWorld.signed("\(6000 + 1000 * number + $0)", product: LedgerWorld.pass)
            }
            try await restore("\(pieces) passes", of: customer, evidence, atMost: 8)
        }
        let start = MintedWorld.moment.timeIntervalSince1970 * 1000 + 3_600_000
        for (customer, passes) in [("newcomer", 2 * pieces), ("alice", pieces)] {
            let end = Int64(start) + Int64(passes) * 30 * 86_400_000
            let access = try await world.entitlement(LedgerWorld.pass, of: customer)
            #expect(access?.until == Timestamp(millisecondsSince1970: end))
        }
    }

    @Test("33.3 The round trips of a restore do not grow with its pieces: each pays an open order")
    func openOrders() async throws {
        for _ in 0..<40 { _ = try await world.order() }
        let evidence = try (0..<40).map { try LedgerWorld.signed("\(6000 + $0)") }
        try await restore("40 purchases that pay orders", of: LedgerWorld.customer, evidence, atMost: 12)
        let paid = try await world.ledger.answer(
            OrderList(app: "example", status: .paid, customerID: LedgerWorld.customer, limit: 100))
        #expect(paid.entries.count == 40)
    }

    @Test("33.3 The round trips of an import do not grow with its rows: consumables that another system delivered")
    func importedRows() async throws {
        let rows = try (0..<40).map {
            let evidence = [try LedgerWorld.signed("\(6000 + $0)")]
            return world.ledger.examine(
                ImportSubmission(customerID: "customer \($0 / 2)", evidence: evidence), app: "example")
        }
        let cost = try await cost(database) {
            let outcomes = try await world.ledger.perform(
                ImportPurchases(app: "example", isAnnounced: false, consumables: .delivered, rows))
            #expect(outcomes.allSatisfy { $0.rejection == nil })
        }
        print("PostgreSQL, an import of 40 rows: \(cost.trips) round trips, \(cost.statements) statements")
        #expect(cost.trips <= 60)
        let coins = try await world.entitlement(of: "customer 7")
        #expect(coins?.balance == 0 && coins?.reason == .consumed)
    }
}
