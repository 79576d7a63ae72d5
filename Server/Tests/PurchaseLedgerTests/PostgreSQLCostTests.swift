import EvidenceMint
import Foundation
import PurchaseLedger
import PurchaseVerification
import TestSupport
import Testing

/// A ledger on PostgreSQL that has one purchase of each kind.
struct CostWorld: Sendable {
    let world: LedgerWorld
    let database: PostgreSQLDatabase

    static func with(
        _ app: RegisteredApp = LedgerWorld.app(), _ body: (CostWorld) async throws -> Void
    ) async throws {
        try await ThrowawayPostgreSQL.withDatabase { place in
            let database = try PostgreSQLDatabase(url: place.url())
            let world = try await LedgerWorld(database, apps: [app])
            // The first purchase numbers the product and stores the signer's certificates.
            _ = try await world.claim("1", try LedgerWorld.signed("1"))
            for (id, product, kind) in [
                ("2", LedgerWorld.pro, SignedTransactionTemplate.ProductType.nonConsumable),
                ("3", LedgerWorld.monthly, .autoRenewableSubscription),
            ] {
                try await world.observe(try LedgerWorld.signed(id, product: product, kind: kind))
            }
            try await body(CostWorld(world: world, database: database))
            try await world.requireConsistency()
            try await database.close()
        }
    }
}

extension Trait where Self == WorldTrait<CostWorld> {
    static var costs: Self { costs([]) }

    /// With further consumables.
    static func costs(_ products: [String]) -> Self {
        WorldTrait { body in
            var app = LedgerWorld.app()
            for product in products { app.products[product] = RegisteredProduct(kind: .consumable) }
            try await CostWorld.with(app, body)
        }
    }
}

/// The cost of writes with a database on another machine, as counts of round trips and statements.
@Suite("PostgreSQL: cost of writes", .costs)
struct PostgreSQLCostTests {
    private let opened: CostWorld = CurrentWorld.opened()
    var world: LedgerWorld { opened.world }
    var database: PostgreSQLDatabase { opened.database }

    /// The round trips and statements of a body, in at most some transactions.
    func cost(
        _ database: PostgreSQLDatabase, transactions: Int = 1, _ body: () async throws -> Void
    ) async throws -> (trips: Int, statements: Int, decisions: Int, late: Int) {
        let before = database.writerFigures
        try await body()
        let after = database.writerFigures
        #expect(after.transactions - before.transactions <= transactions)
        return (
            after.roundTrips - before.roundTrips, after.statements - before.statements,
            after.decisions - before.decisions, after.lateTrips - before.lateTrips
        )
    }

    @Test("What is planned while a table is small finds rows by an index, so it scans nothing when the table has grown")
    func plansOfSmallTables() async throws {
        // Without statistics a table counts as ten pages; with them, as one.
        try await database.write { _ = try $0.execute("ANALYZE", []) }
        for query in [
            "customers WHERE customer_key = 1", "transactions WHERE original_key = 1",
            "entitlements WHERE customer_key = 1 AND product_key = 1 AND environment = 1 AND ground = 0",
        ] {
            let plan = try await database.write { connection in
                try connection.rows("EXPLAIN SELECT * FROM \(query)", []).flatMap(\.values)
            }
            #expect("\(plan)".contains("Index Scan"), "\(plan)")
        }
    }

    @Test(
        "A purchase takes two round trips: of a new customer, of a known one, again, with a token, with an order; a refusal reads the daily budget, too"
    )
    func purchases() async throws {
        let order = try await world.order()
        let signed = try LedgerWorld.signed("12")
        let token = UUID()
        try await world.assign(token, to: LedgerWorld.customer)
        // The first pass numbers its product.
        try await world.observe(try LedgerWorld.signed("17", product: LedgerWorld.pass))
        func claim(
            _ id: String, _ customer: String = LedgerWorld.customer, product: String = LedgerWorld.coins,
            kind: SignedTransactionTemplate.ProductType = .consumable, order: UUID? = nil, from day: Double? = nil,
            _ change: (inout SignedTransactionTemplate) -> Void = { _ in }
        ) async throws {
            let evidence =
                if let day { try LedgerWorld.period(id, from: day) } else {
                    try LedgerWorld.signed(id, product: product, kind: kind, change)
                }
            _ = try await world.claim(id, product: product, customer: customer, order: order, evidence)
        }
        let (pro, pass, monthly) = (LedgerWorld.pro, LedgerWorld.pass, LedgerWorld.monthly)
        let cases: [(String, () async throws -> Void)] = [
            ("new customer", { try await claim("10", "bob") }), ("known customer", { try await claim("11") }),
            ("with an order", { _ = try await world.claim("12", order: order.id, signed) }),
            ("again", { _ = try await world.claim("12", order: order.id, signed) }),
            ("non-consumable", { try await claim("13", product: pro, kind: .nonConsumable) }),
            ("pass", { try await claim("15", product: pass, kind: .nonRenewingSubscription) }),
            ("second pass", { try await claim("16", product: pass, kind: .nonRenewingSubscription) }),
            ("with a token", { try await claim("14") { $0.appAccountToken = token.uuidString } }),
            ("in the sandbox", { try await claim("18") { $0.environment = "Sandbox" } }),
            ("subscription", { try await claim("900", product: monthly, from: 0) }),
            ("renewal", { try await claim("901", product: monthly, from: 30) }),
            // The owner is found on the way.
            ("observed renewal", { try await world.observe(try LedgerWorld.period("902", from: 60)) }),
            ("of another customer", { try await claim("11", "bob") }),
        ]
        for (name, body) in cases {
            // The budget of refusals is one lock, which no new purchase takes, and one question is whether the
            // conflict of the two customers was told.
            let isRefused = name == "of another customer"
            let cost = try await cost(database, body)
            print("PostgreSQL, \(name): \(cost.trips) round trips, \(cost.statements) statements")
            let most = isRefused ? 7 : name == "observed renewal" ? 3 : 2
            #expect(cost.trips <= most && cost.decisions == 1 && (isRefused || cost.late == 0), "\(name): \(cost)")
        }
    }

    @Test("33.1 Former owners, and the customers into whom others were merged, are locked before a write is decided")
    func formerOwners() async throws {
        for customer in ["bob", "carol"] {
            _ = try await world.claim("30", customer: customer, try LedgerWorld.signed("30"))
        }
        for (source, target) in [("bob", "dave"), ("carol", "erin"), ("dave", "frank")] {
            _ = try await world.claim("31", customer: target, try LedgerWorld.signed("31"))
            try await world.merge(source, into: target)
        }
        let refund = try await cost(database) {
            try await world.observe(try LedgerWorld.signed("30") { $0.revocationDate = $0.purchaseDate })
        }
        #expect(refund.decisions == 1 && refund.late == 0)
        let claim = try await cost(database) {
            _ = try await world.claim("32", customer: "bob", try LedgerWorld.signed("32"))
        }
        #expect(claim.decisions == 1)
        // The open orders and the entitlements of the customer who remains after a merge are found by their key.
        #expect(claim.late <= 2)
    }

    @Test("33.1 The owners of the purchases in evidence are locked before it is decided: by purchase, order, and token")
    func furtherLocks() async throws {
        let token = UUID()
        try await world.assign(token, to: "carol")
        _ = try await world.claim("20", customer: "bob", try LedgerWorld.signed("20"))
        let refund = try await cost(database) {
            try await world.observe(try LedgerWorld.signed("20") { $0.revocationDate = $0.purchaseDate })
        }
        #expect(refund.decisions == 1)
        let ofToken = try await cost(database) {
            try await world.observe(try LedgerWorld.signed("21") { $0.appAccountToken = token.uuidString })
        }
        #expect(ofToken.decisions == 1)
        let order = try await world.order()
        let ofOrder = try await cost(database) {
            _ = try await world.claim("22", customer: nil, order: order.id, try LedgerWorld.signed("22"))
        }
        #expect(ofOrder.decisions == 1)
    }

    @Test("Purchases that wait share their round trips and statements")
    func batches() async throws {
        // Whether a customer is a tester matters to a purchase of the sandbox.
        let evidence = try (0..<200).map { number in
            try LedgerWorld.signed("\(7000 + number)") { if number % 2 == 1 { $0.environment = "Sandbox" } }
        }
        let before = database.writerFigures
        try await withThrowingTaskGroup(of: Void.self) { group in
            for (number, evidence) in evidence.enumerated() {
                group.addTask {
                    let outcome = try await world.claim("\(7000 + number)", customer: "customer \(number)", evidence)
                    #expect(outcome.code == "accepted")
                }
            }
            try await group.waitForAll()
        }
        let after = database.writerFigures
        let (transactions, writes) = (after.transactions - before.transactions, after.writes - before.writes)
        let (trips, statements) = (after.roundTrips - before.roundTrips, after.statements - before.statements)
        print(
            "PostgreSQL, \(writes) purchases: \(transactions) transactions, \(trips) round trips, \(statements) statements"
        )
        #expect(writes == 200)
        #expect(trips == 2 * transactions)
    }

    @Test("33.3 Purchases of one customer share a transaction and see each other, without a round trip for each")
    func oneCustomer() async throws {
        for (customer, first, balance) in [(LedgerWorld.customer, 8000, 101), ("newcomer", 9000, 100)] {
            let evidence = try (0..<100).map { try LedgerWorld.signed("\(first + $0)") }
            let before = database.writerFigures
            try await withThrowingTaskGroup(of: Void.self) { group in
                for (number, evidence) in evidence.enumerated() {
                    group.addTask {
                        let outcome = try await world.claim("\(first + number)", customer: customer, evidence)
                        #expect(outcome.code == "accepted")
                    }
                }
                try await group.waitForAll()
            }
            let after = database.writerFigures
            let transactions = after.transactions - before.transactions
            let trips = after.roundTrips - before.roundTrips
            print("PostgreSQL, 100 purchases of \(customer): \(transactions) transactions, \(trips) round trips")
            // A new customer is read once more by those after the first claim.
            #expect(trips <= 2 * transactions + 2)
            #expect(after.decisions - before.decisions == 100)
            #expect(try await world.entitlement(of: customer)?.balance == Int64(balance))
        }
    }

    @Test("33.3 Claims that share a transaction see what those before them did: renewals, and rivals for one purchase")
    func sharedOriginal() async throws {
        let periods = try (0..<8).map {
            try LedgerWorld.period("\(950 + $0)", original: "950", from: Double($0 * 30))
        }
        let pro = try LedgerWorld.signed("70", product: LedgerWorld.pro)
        let codes: [String: Int] = try await withThrowingTaskGroup(of: String.self) { group in
            for (number, evidence) in periods.enumerated() {
                group.addTask {
                    let id = "\(950 + number)"
                    return try await world.claim(id, product: LedgerWorld.monthly, customer: "bob", evidence).code
                }
            }
            for number in 0..<8 {
                group.addTask {
                    try await world.claim("70", product: LedgerWorld.pro, customer: "rival \(number)", pro).code
                }
            }
            return try await group.reduce(into: [:]) { $0[$1, default: 0] += 1 }
        }
        #expect(codes["already_claimed"] == 7)
        let owned = try await world.ledger.answer(PurchasesOfTransaction(app: "example", transactionID: "70"))
        #expect(owned.count == 1)
        let page = try await world.ledger.answer(PurchasesOfCustomer(app: "example", customerID: "bob", limit: 20))
        #expect(page.entries.count == 8)
    }
}
