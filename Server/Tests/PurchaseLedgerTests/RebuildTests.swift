import EvidenceMint
import Foundation
import PurchaseAPI
import PurchaseLedger
import PurchaseVerification
import TestSupport
import Testing

@Suite("Rebuild", .tags(.everyEngine))
struct RebuildTests {
    /// Each pair of the settings that `change` sets, once; `dev/torture.sh histories` has twenty seeds.
    private static let seeds =
        1...(ProcessInfo.processInfo.environment["ASSAY_REBUILD_SEEDS"].flatMap { Int($0) } ?? 4)

    private static func change(_ app: inout RegisteredApp, seed: Int) {
        app.transfer = seed % 2 == 0 ? .move : .deny
        app.refundShortfall = seed % 4 >= 2 ? .debt : .forgive
    }

    @Test(
        "After random histories, a rebuild from the journal equals the tables, and the newest events give the balances",
        arguments: seeds)
    func randomHistories(seed: Int) async throws {
        try await LedgerWorld.with({ Self.change(&$0, seed: seed) }) { world in
            var generator = SeededGenerator(seed: UInt64(seed))
            var orders: [Order] = []
            for step in 0..<120 {
                do {
                    try await self.step(step, world, &orders, &generator, isErasing: seed % 2 == 0)
                } catch is LedgerRefusal {
                    // A refusal writes nothing, which the comparison shows.
                }
                world.clock.advance(seconds: Int64.random(in: 1...40_000, using: &generator))
            }
            print(
                "seed \(seed): \(try await world.submissions().count) claims, \(try await world.events().count) events")
            let balances = try await balances(fromEventsOf: world)
            let types = try await world.events()
            // No event states the balances that an erasure changed.
            guard seed % 2 == 1 else { return #expect(types.contains(EventType.customerErased.rawValue)) }
            for (customer, balance) in balances {
                let found = try await world.entitlement(of: customer)
                #expect(found?.balance == balance.balance, "seed \(seed), \(customer)")
                #expect(found?.shortfall == balance.shortfall, "seed \(seed), \(customer)")
            }
            print("seed \(seed): \(balances.count) balances compared")
            #expect(!balances.isEmpty)
        }
    }

    /// The balance of coins in the newest event of each customer. Merged customers are left out: a merge states no
    /// balance.
    private func balances(fromEventsOf world: LedgerWorld) async throws -> [String: EventContent] {
        var balances: [String: EventContent] = [:]
        var merged: Set<String> = []
        for event in try await world.ledger.answer(EventList(app: "example", limit: 100_000)) {
            let body = event.content
            if event.type == EventType.customerMerged.rawValue {
                merged.formUnion([body.customerID, body.formerCustomerID].compactMap(\.self))
            }
            guard let customer = body.customerID, body.productID == LedgerWorld.coins, body.balance != nil else {
                continue
            }
            balances[customer] = body
        }
        return balances.filter { !merged.contains($0.key) }
    }

    @Test("Purchases with the same id are distinct: in Xcode, where ids start again at 0, and in two environments")
    func equalIDs() async throws {
        try await LedgerWorld.with({
            ($0.environments, $0.sandboxAccess) = ([.production, .sandbox, .xcode], .everyone)
        }) { world in
            for (number, environment) in ["Production", "Sandbox", "Xcode", "Xcode", "Xcode"].enumerated() {
                let evidence = try LedgerWorld.signed("0") {
                    $0.environment = environment
                    $0.quantity = Int64(number + 2)
                    $0.purchaseDate = $0.purchaseDate?.addingTimeInterval(Double(number))
                    $0.originalPurchaseDate = $0.purchaseDate
                }
                #expect(try await world.claim("0", evidence).code == "accepted")
                _ = try await world.consume(
                    Int64(number + 2), "c\(number)", environment: AppStoreEnvironment(environment))
            }
            #expect(try await world.entitlement(environment: .xcode)?.balance == 0)
            // A change of any of them is detected.
            for table in ["lots", "takes"] {
                let column = table == "lots" ? "taken" : "units"
                for row in 0..<5 {
                    let ground = "(SELECT min(ground) + \(row) FROM lots)"
                    let change = "UPDATE \(table) SET \(column) = \(column) %@ 1 WHERE ground = \(ground)"
                    _ = try await world.database.write { connection in
                        try connection.execute(change.replacing("%@", with: "+"), [])
                    }
                    #expect(try await world.ledger.audit().findings.count == 1, "\(table) \(row)")
                    _ = try await world.database.write { connection in
                        try connection.execute(change.replacing("%@", with: "-"), [])
                    }
                }
            }
        }
    }

    func step(
        _ step: Int, _ world: LedgerWorld, _ orders: inout [Order], _ generator: inout SeededGenerator, isErasing: Bool
    ) async throws {
        let customers = ["alice", "bob", "carol", "dora"]
        let customer = customers.randomElement(using: &generator) ?? "alice"
        let other = customers.randomElement(using: &generator) ?? "bob"
        let number = Int.random(in: 1...12, using: &generator)
        if step % 7 == 3 { try await changeGrounds(of: customer, step, world) }
        if step % 5 == 2 { try await observeNews(step, world) }
        switch Int.random(in: 0..<16, using: &generator) {
        case 0...4:
            let (id, product, evidence) = try purchase(number, world, orders, &generator)
            _ = try await world.claim(
                id, product: product, customer: customer,
                order: Bool.random(using: &generator) ? orders.randomElement(using: &generator)?.id : nil, evidence)
        case 5...7: try await world.observe(try purchase(number, world, orders, &generator).2)
        case 8: orders.append(try await world.order(customer, quantity: Int64.random(in: 1...2, using: &generator)))
        case 9: _ = try await world.consume(Int64.random(in: 1...3, using: &generator), "c\(step)", of: customer)
        case 10:
            if let order = orders.randomElement(using: &generator) {
                try await world.fulfil(order.id)
            }
        case 11: _ = try await world.assign(UUID(), to: customer)
        case 12:
            try await world.move("\(number)", to: other)
        case 13:
            try await world.grant(
                Bool.random(using: &generator) ? LedgerWorld.coins : LedgerWorld.pro, to: customer, quantity: 2)
        case 14:
            try await world.revoke("\(number)", of: customer)
        default:
            let evidence = try [1, 5, 9].map { try purchase($0, world, orders, &generator).2 }
            try await world.restore(of: customer, evidence)
            let imported = ImportSubmission(
                customerID: other, evidence: evidence,
                orderID: Bool.random(using: &generator) ? orders.randomElement(using: &generator)?.id.uuidString : nil)
            _ = try await world.ledger.perform(
                ImportPurchases(
                    app: "example", isAnnounced: Bool.random(using: &generator),
                    consumables: step % 2 == 0 ? .delivered : .balance,
                    [world.ledger.examine(imported, app: "example")]))
            if Int.random(in: 0..<6, using: &generator) == 1, isErasing {
                try await erase(customer, of: customers, world)
            }
            if Int.random(in: 0..<6, using: &generator) == 0 {
                try await world.merge(customer, into: other)
            }
        }
    }

    /// Adds, extends or ends what another shop gives. A refusal writes nothing.
    private func changeGrounds(of customer: String, _ step: Int, _ world: LedgerWorld) async throws {
        let query = GroundsOfCustomer(app: "example", customerID: customer)
        let end = Timestamp(
            millisecondsSince1970: world.clock.now.millisecondsSince1970 + Int64(step % 4 + 1) * 86_400_000)
        do {
            if step % 3 == 0, let ground = try await world.ledger.answer(query).grounds.first {
                try await world.end(ground.groundID, of: customer)
            } else {
                _ = try await world.ledger.perform(
                    AddGround(
                        app: "example", customerID: customer, source: "stripe", reference: "sub_\(step % 3)",
                        productID: step % 2 == 0 ? LedgerWorld.pro : LedgerWorld.monthly,
                        until: step % 5 == 0 ? nil : end))
            }
        } catch is LedgerRefusal {}
    }

    /// Observes renewal info and a status of the subscription, or a rescinded consent.
    private func observeNews(_ step: Int, _ world: LedgerWorld) async throws {
        guard step % 3 > 0 else {
            _ = try await world.observe(try NotificationTests.rescission("7\(step % 2)"))
            return
        }
        let now = world.clock.now.date
        let period = LedgerWorld.template(
            "\(7 + step % 3)", product: LedgerWorld.monthly
        ) {
            $0.originalTransactionID = "7"
            $0.purchaseDate = MintedWorld.moment.addingTimeInterval(3600 + Double(step % 3) * 30 * 86_400)
            $0.expiresDate = $0.purchaseDate?.addingTimeInterval(30 * 86_400)
            $0.signedDate = now
            $0.appTransactionID = "70"
        }
        var renewal = RenewalInfoTemplate(transaction: period)
        renewal.autoRenewStatus = Int64(step % 2)
        renewal.gracePeriodExpiresDate = step % 4 == 1 ? now.addingTimeInterval(86_400) : nil
        _ = try await world.observe(
            try NotificationTests.notification("DID_CHANGE_RENEWAL_STATUS", period) {
                $0.data?.renewalInfo = renewal
                $0.data?.status = step % 4 == 3 ? 5 : 1
                if step % 2 == 0 { $0.data?.transaction = nil }
            })
    }

    /// Erases a customer, which gives access to nobody.
    private func erase(_ customer: String, of customers: [String], _ world: LedgerWorld) async throws {
        let before = try await access(of: customers, world)
        try await world.erase(customer)
        let after = try await access(of: customers, world)
        // The customer can have other names.
        #expect(after.isSubset(of: before) && !after.contains { $0.hasPrefix("\(customer) ") })
    }

    private func access(of customers: [String], _ world: LedgerWorld) async throws -> Set<String> {
        var access: Set<String> = []
        for customer in customers {
            let query = EntitlementsOfCustomer(app: "example", customerID: customer)
            for entitlement in try await world.ledger.answer(query).entitlements where entitlement.state == .active {
                access.insert("\(customer) \(entitlement.productID) \(entitlement.balance)")
            }
        }
        return access
    }

    /// One of twelve purchases: coins, products, periods and passes, revoked now and then.
    private func purchase(
        _ number: Int, _ world: LedgerWorld, _ orders: [Order], _ generator: inout SeededGenerator
    ) throws -> (String, String, [UInt8]) {
        let id = "\(number)"
        let token = Int.random(in: 0..<4, using: &generator) == 0 ? orders.randomElement(using: &generator) : nil
        let isRevoked = Int.random(in: 0..<4, using: &generator) == 0
        let now = world.clock.now.date
        func change(_ template: inout SignedTransactionTemplate) {
            template.signedDate = now
            template.appTransactionID = number == 11 ? nil : "7\(number % 2)"
            template.appAccountToken = token?.appAccountToken.uuidString.lowercased()
            if isRevoked {
                template.revocationDate = now
                template.revocationPercentage = number % 2 == 0 ? 50_000 : nil
            }
        }
        switch number {
        case 1...4:
            let evidence = try LedgerWorld.signed(id) {
                $0.quantity = Int64(number)
                change(&$0)
            }
            return (id, LedgerWorld.coins, evidence)
        case 5, 6:
            let evidence = try LedgerWorld.signed(id, product: LedgerWorld.pro, change)
            return (id, LedgerWorld.pro, evidence)
        case 7...10:
            let product = number == 10 ? LedgerWorld.yearly : LedgerWorld.monthly
            return (
                id, product,
                try LedgerWorld.period(id, original: "7", product: product, from: Double(number - 7) * 30, change)
            )
        default:
            let evidence = try LedgerWorld.signed(
                id, product: LedgerWorld.pass
            ) {
                $0.purchaseDate = MintedWorld.moment.addingTimeInterval(Double(number - 11) * 86_400 + 3600)
                $0.originalPurchaseDate = $0.purchaseDate
                change(&$0)
            }
            return (id, LedgerWorld.pass, evidence)
        }
    }
}
