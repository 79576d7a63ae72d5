import EvidenceMint
import Foundation
import PurchaseLedger
import PurchaseVerification
import TestSupport
import Testing

/// The cost of writes with a database on another machine, as counts of round trips and statements.
@Suite("PostgreSQL: cost of writes")
struct PostgreSQLCostTests {
    func withWorld(
        _ app: RegisteredApp = LedgerWorld.app(), _ body: (LedgerWorld, PostgreSQLDatabase) async throws -> Void
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
            try await body(world, database)
            try await world.requireConsistency()
            try await database.close()
        }
    }

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
        try await withWorld { _, database in
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
    }

    @Test(
        "A purchase takes two round trips: of a new customer, of a known one, again, with a token, with an order; a refusal reads the daily budget, too"
    )
    func purchases() async throws {
        try await withWorld { world, database in
            let order = try await world.order()
            let signed = try LedgerWorld.signed("12")
            let token = UUID()
            _ = try await world.ledger.perform(
                AssignToken(app: "example", customerID: LedgerWorld.customer, token: token))
            // The first pass numbers its product.
            try await world.observe(
                try LedgerWorld.signed("17", product: LedgerWorld.pass, kind: .nonRenewingSubscription))
            let cases: [(String, () async throws -> Void)] = [
                ("new customer", { _ = try await world.claim("10", customer: "bob", try LedgerWorld.signed("10")) }),
                ("known customer", { _ = try await world.claim("11", try LedgerWorld.signed("11")) }),
                ("with an order", { _ = try await world.claim("12", order: order.id, signed) }),
                ("again", { _ = try await world.claim("12", order: order.id, signed) }),
                (
                    "non-consumable",
                    {
                        _ = try await world.claim(
                            "13", product: LedgerWorld.pro,
                            try LedgerWorld.signed("13", product: LedgerWorld.pro, kind: .nonConsumable))
                    }
                ),
                (
                    "pass",
                    {
                        _ = try await world.claim(
                            "15", product: LedgerWorld.pass,
                            try LedgerWorld.signed("15", product: LedgerWorld.pass, kind: .nonRenewingSubscription))
                    }
                ),
                (
                    "second pass",
                    {
                        _ = try await world.claim(
                            "16", product: LedgerWorld.pass,
                            try LedgerWorld.signed("16", product: LedgerWorld.pass, kind: .nonRenewingSubscription))
                    }
                ),
                (
                    "with a token",
                    {
                        _ = try await world.claim(
                            "14", try LedgerWorld.signed("14") { $0.appAccountToken = token.uuidString })
                    }
                ),
                (
                    "in the sandbox",
                    { _ = try await world.claim("18", try LedgerWorld.signed("18") { $0.environment = "Sandbox" }) }
                ),
                (
                    "subscription",
                    {
                        _ = try await world.claim(
                            "900", product: LedgerWorld.monthly, try LedgerWorld.period("900", from: 0))
                    }
                ),
                (
                    "renewal",
                    {
                        _ = try await world.claim(
                            "901", product: LedgerWorld.monthly, try LedgerWorld.period("901", from: 30))
                    }
                ),
                // The owner is found on the way.
                ("observed renewal", { try await world.observe(try LedgerWorld.period("902", from: 60)) }),
                (
                    "of another customer",
                    { _ = try await world.claim("11", customer: "bob", try LedgerWorld.signed("11")) }
                ),
            ]
            for (name, body) in cases {
                // The budget of refusals is one lock, which no new purchase takes, and one question is whether the
                // conflict of the two customers was told.
                let isRefused = name == "of another customer"
                let cost = try await cost(database, body)
                print("PostgreSQL, \(name): \(cost.trips) round trips, \(cost.statements) statements")
                let most = isRefused ? 7 : name == "observed renewal" ? 3 : 2
                #expect(cost.trips <= most, "\(name)")
                #expect(cost.decisions == 1, "\(name)")
                #expect(isRefused || cost.late == 0, "\(name)")
            }
        }
    }

    @Test("33.1 Former owners, and the customers into whom others were merged, are locked before a write is decided")
    func formerOwners() async throws {
        try await withWorld { world, database in
            for customer in ["bob", "carol"] {
                _ = try await world.claim("30", customer: customer, try LedgerWorld.signed("30"))
            }
            for (source, target) in [("bob", "dave"), ("carol", "erin"), ("dave", "frank")] {
                _ = try await world.claim("31", customer: target, try LedgerWorld.signed("31"))
                _ = try await world.ledger.perform(
                    MergeCustomers(app: "example", customerID: source, into: target))
            }
            let refund = try await cost(database) {
                try await world.observe(try LedgerWorld.signed("30") { $0.revocationDate = $0.purchaseDate })
            }
            #expect(refund.decisions == 1)
            #expect(refund.late == 0)
            let claim = try await cost(database) {
                _ = try await world.claim("32", customer: "bob", try LedgerWorld.signed("32"))
            }
            #expect(claim.decisions == 1)
            // The open orders and the entitlements of the customer who remains after a merge are found by their key.
            #expect(claim.late <= 2)
        }
    }

    @Test("33.1 The owners of the purchases in evidence are locked before it is decided: by purchase, order, and token")
    func furtherLocks() async throws {
        try await withWorld { world, database in
            let token = UUID()
            _ = try await world.ledger.perform(
                AssignToken(app: "example", customerID: "carol", token: token))
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
    }

    @Test("Purchases that wait share their round trips and statements")
    func batches() async throws {
        try await withWorld { world, database in
            // Whether a customer is a tester matters to a purchase of the sandbox.
            let evidence = try (0..<200).map { number in
                try LedgerWorld.signed("\(7000 + number)") { if number % 2 == 1 { $0.environment = "Sandbox" } }
            }
            let before = database.writerFigures
            try await withThrowingTaskGroup(of: Void.self) { group in
                for (number, evidence) in evidence.enumerated() {
                    group.addTask {
                        let outcome = try await world.claim(
                            "\(7000 + number)", customer: "customer \(number)", evidence)
                        #expect(outcome.code == "accepted")
                    }
                }
                try await group.waitForAll()
            }
            let after = database.writerFigures
            let (transactions, writes) = (
                after.transactions - before.transactions, after.writes - before.writes
            )
            let (trips, statements) = (after.roundTrips - before.roundTrips, after.statements - before.statements)
            print(
                "PostgreSQL, \(writes) purchases: \(transactions) transactions, \(trips) round trips, \(statements) statements"
            )
            #expect(writes == 200)
            #expect(trips == 2 * transactions)
        }
    }

    @Test("33.3 Purchases of one customer share a transaction and see each other, without a round trip for each")
    func oneCustomer() async throws {
        try await withWorld { world, database in
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
    }

    @Test("33.3 Claims that share a transaction see what those before them did: renewals, and rivals for one purchase")
    func sharedOriginal() async throws {
        try await withWorld { world, _ in
            let periods = try (0..<8).map {
                try LedgerWorld.period("\(950 + $0)", original: "950", from: Double($0 * 30))
            }
            let pro = try LedgerWorld.signed("70", product: LedgerWorld.pro, kind: .nonConsumable)
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
}
