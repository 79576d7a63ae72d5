import EvidenceMint
import Foundation
import GRDB
import PurchaseLedger
import PurchaseVerification
import TestSupport
import Testing

@Suite("Importing the receipts of another system", .ledger)
struct ImportTests {
    var folder: URL { CurrentWorld.opened() }
    let world: LedgerWorld = CurrentWorld.opened()

    private func run(
        _ rows: [ImportSubmission], isAnnounced: Bool = false, consumables: ImportedConsumables? = .balance,
        _ world: LedgerWorld
    ) async throws -> [ImportOutcome] {
        let examined = rows.map { world.ledger.examine($0, app: "example") }
        return try await world.ledger.perform(
            ImportPurchases(app: "example", isAnnounced: isAnnounced, consumables: consumables, examined))
    }

    private func row(_ evidence: [UInt8], order: UUID? = nil) -> ImportSubmission {
        row("alice", order: order, evidence)
    }

    private func row(_ customer: String, order: UUID? = nil, _ evidence: [UInt8]...) -> ImportSubmission {
        ImportSubmission(
            customerID: customer, evidence: evidence, orderID: order?.uuidString,
            importedAt: Timestamp("2020-01-31T12:00:00Z"))
    }

    private func refunded(_ transaction: String) throws -> [UInt8] {
        try LedgerWorld.signed(transaction, product: LedgerWorld.pro) {
            $0.refund(at: MintedWorld.moment.addingTimeInterval(7200))
        }
    }

    /// A receipt of Production.
    private func receipt(_ purchases: [PurchaseTemplate]) throws -> [UInt8] {
        let template = AppReceiptTemplate.production(
            bundleID: "com.example.app", creationDate: MintedWorld.moment, purchases: purchases)
        return Array(Data(try MintedWorld.mint(template)).base64EncodedString().utf8)
    }

    /// A receipt with two consumables and an ended period.
    private func receipt(_ number: Int) throws -> [UInt8] {
        let bought = MintedWorld.moment
        return try receipt([
            .consumable(productID: LedgerWorld.coins, transactionID: "\(number)0", purchaseDate: bought),
            .consumable(productID: LedgerWorld.coins, transactionID: "\(number)1", purchaseDate: bought),
            .subscription(
                productID: LedgerWorld.monthly, transactionID: "\(number)2",
                purchaseDate: bought.addingTimeInterval(-90 * 86_400),
                expiresDate: bought.addingTimeInterval(-60 * 86_400)),
        ])
    }

    @Test("All purchases of a row belong to its customer afterwards, including expired and refunded ones")
    func history() async throws {
        world.clock.advance(days: 40)
        let outcomes = try await run(
            [
                row(try receipt(7)), row("bob", try refunded("50")),
                row("carol", try LedgerWorld.signed("60"), try receipt(8)),
            ], world)
        #expect(outcomes.allSatisfy { $0.rejection == nil && !$0.isKnown })
        #expect(
            outcomes.map(\.purchases) == [
                ["accepted", "accepted", "subscription_expired"], ["purchase_revoked"],
                ["accepted", "accepted", "accepted", "subscription_expired"],
            ])
        #expect(try await world.entitlement()?.balance == 2)
        #expect(try await world.entitlement(of: "carol")?.balance == 3)
        #expect(try await world.entitlement(LedgerWorld.monthly)?.state == .expired)
        #expect(try await world.entitlement(LedgerWorld.pro, of: "bob")?.reason == .revoked)
        // No other customer can claim them.
        let late = try await world.claim("50", product: LedgerWorld.pro, customer: "mallory", try refunded("50"))
        #expect(late.code == "already_claimed")
    }

    @Test("A repeated import changes nothing, even in part, in other batches, and after claims")
    func again() async throws {
        let order = try await world.order("dave")
        let paying = try LedgerWorld.signed("700") { $0.purchaseDate = MintedWorld.moment.addingTimeInterval(3700) }
        let rows = [
            row(try receipt(7)), row("bob", try refunded("50")), row("carol", try receipt(7)),
            row("dave", order: order.id, paying), row(try receipt(7)), row("erin", Array("forged".utf8)),
            row("erin", try receipt([])), row("alice", try LedgerWorld.signed("80"), try receipt(9)),
            row("dave", order: UUID(), paying), row("alice", order: order.id, paying), row(" ", try receipt(7)),
        ]
        let first = try await run(rows, world)
        #expect(
            first.map(\.code) == [
                "accepted", "accepted", "already_claimed", "accepted", "accepted", "evidence_unrecognized",
                "no_purchases", "accepted", "order_unknown", "order_of_another_customer", "field_malformed",
            ])
        #expect(first.map(\.isKnown) == rows.indices.map { $0 == 4 })
        #expect(try await world.order(order.id).status == .paid)
        _ = try await world.claim("701", customer: "alice", try LedgerWorld.signed("701"))
        let content = try await DatabaseContent(world.database)
        let second = try await run(rows, world)
        for row in rows.reversed() { _ = try await run([row], world) }
        #expect(second.map(\.code) == first.map(\.code) && second.map(\.purchases) == first.map(\.purchases))
        #expect(second.map(\.isKnown) == first.map { !$0.purchases.isEmpty })
        #expect(try await DatabaseContent(world.database).differences(from: content) == [])
    }

    @Test("After a batch failed, its committed rows are recognised and the others are imported")
    func resume() async throws {
        let rows = try (0..<40).map { row("customer \($0 % 7)", try LedgerWorld.signed("\(100 + $0)")) }
        _ = try await run(Array(rows[..<23]), world)
        let outcomes = try await run(rows, world)
        #expect(outcomes.map(\.isKnown) == rows.indices.map { $0 < 23 })
        #expect(outcomes.allSatisfy { $0.code == "accepted" })
        #expect(try await world.submissions().count == 40)
        #expect(try await world.events() == Array(repeating: "granted", count: 40))
    }

    @Test("An import never transfers a purchase, whatever the transfer policy is", .ledger({ $0.transfer = .move }))
    func owners() async throws {
        let period = try LedgerWorld.period("901", from: 0)
        _ = try await world.claim("901", product: LedgerWorld.monthly, period)
        let stale = try await run([row("bob", period), row(period)], world)
        #expect(stale.map(\.code) == ["already_claimed", "accepted"])
        #expect(try await world.entitlement(LedgerWorld.monthly)?.state == .active)
        // The purchase belongs to the first row of the file, and a token takes precedence over any row.
        let token = UUID()
        try await world.assign(token, to: "erin")
        let tokened = try LedgerWorld.signed("2") { $0.appAccountToken = token.uuidString.lowercased() }
        let codes = try await run(
            [
                row("bob", try LedgerWorld.signed("1")), row("carol", try LedgerWorld.signed("1")),
                row("bob", tokened),
            ],
            world
        ).map(\.code)
        #expect(codes == ["accepted", "already_claimed", "app_account_token_mismatch"])
        #expect(try await world.entitlement(of: "bob")?.balance == 1)
        #expect(try await world.entitlement(of: "erin")?.balance == 1)
    }

    @Test("A row's order is paid by the purchase of its receipt that matches, and only by that")
    func orders() async throws {
        let order = try await world.order(product: LedgerWorld.pro)
        let bought = MintedWorld.moment.addingTimeInterval(3700)
        let evidence = try receipt([
            .consumable(productID: LedgerWorld.coins, transactionID: "1", purchaseDate: bought),
            .nonConsumable(productID: LedgerWorld.pro, transactionID: "2", purchaseDate: bought),
            .consumable(productID: LedgerWorld.coins, transactionID: "3", purchaseDate: bought),
        ])
        let outcome = try await run([row(evidence, order: order.id)], world)
        #expect(outcome.map(\.code) == ["accepted"])
        let paid = try await world.order(order.id)
        #expect(paid.status == .paid && paid.payment?.transactionID == "2")
        let unpaid = try await world.order(quantity: 5)
        let refused = try await run([row(evidence, order: unpaid.id)], world)
        #expect(refused.map(\.code) == ["quantity_mismatch"])
        #expect(try await world.order(unpaid.id).status == .created)
        #expect(try await world.entitlement()?.balance == 2)
        #expect(try await run([row(evidence, order: order.id)], world).map(\.isKnown) == [true])
        #expect(try await run([row(evidence, order: unpaid.id)], world).map(\.code) == ["quantity_mismatch"])
    }

    @Test("C.5 With delivered consumables, an import adds nothing to a balance, and a refund shows a shortfall")
    func delivered() async throws {
        let coins = try LedgerWorld.signed("1") { $0.quantity = 3 }
        let rows = [row(coins), row(try receipt(7)), row("bob", try LedgerWorld.signed("2"))]
        let outcomes = try await run(rows, consumables: .delivered, world)
        #expect(outcomes.allSatisfy { $0.rejection == nil })
        #expect(try await world.entitlement()?.balance == 0)
        #expect(try await world.entitlement(of: "bob")?.balance == 0)
        #expect(try await world.events().count { $0 == "consumed" } == 4)
        // The same again changes nothing, whatever is said about consumables.
        let content = try await DatabaseContent(world.database)
        for choice in ImportedConsumables.allCases { _ = try await run(rows, consumables: choice, world) }
        #expect(try await DatabaseContent(world.database).differences(from: content) == [])
        func state(_ seconds: Double, isRefunded: Bool) throws -> [UInt8] {
            try LedgerWorld.signed("1") {
                $0.quantity = 3
                $0.sign($0.purchaseDate?.addingTimeInterval(seconds), isRevoked: isRefunded)
            }
        }
        try await world.observe(try state(60, isRefunded: true))
        #expect(try await world.entitlement()?.shortfall == 3)
        #expect(try await world.entitlement()?.balance == 0)
        try await world.observe(try state(120, isRefunded: false))
        #expect(try await world.entitlement()?.shortfall == 0)
        #expect(try await world.entitlement()?.balance == 0)
        // What is bought later is the ledger's to deliver.
        _ = try await world.claim("9", try LedgerWorld.signed("9"))
        #expect(try await world.entitlement()?.balance == 1)
    }

    @Test(
        "C.5 Delivered units of a refunded purchase are a shortfall at once, and its reversal gives none of them again",
        .ledger({ $0.refundShortfall = .debt }))
    func deliveredThenRefunded() async throws {
        func coins(_ seconds: Double, isRefunded: Bool) throws -> [UInt8] {
            try LedgerWorld.signed("1") {
                $0.quantity = 3
                $0.sign($0.purchaseDate?.addingTimeInterval(seconds), isRevoked: isRefunded)
            }
        }
        _ = try await run([row(try coins(60, isRefunded: true))], consumables: .delivered, world)
        #expect(try await world.entitlement()?.shortfall == 3)
        try await world.observe(try coins(120, isRefunded: false))
        #expect(try await world.entitlement()?.shortfall == 0)
        #expect(try await world.entitlement()?.balance == 0)
    }

    @Test("C.5 Delivered consumables of a product that is registered later add nothing to a balance either")
    func deliveredUnregistered() async throws {
        let gems = "com.example.app.gems"
        let rows = [row(try LedgerWorld.signed("1", product: gems) { $0.quantity = 5 })]
        #expect(try await run(rows, consumables: .delivered, world).map(\.code) == ["product_unknown"])
        var app = LedgerWorld.app()
        app.products[gems] = RegisteredProduct(kind: .consumable)
        let later = try await world.restarted([app])
        #expect(try await later.entitlement(gems)?.balance == 0)
        #expect(try await run(rows, consumables: .delivered, later).map(\.code) == ["accepted"])
        try await later.requireConsistency()
    }

    @Test("C.5 Delivered consumables leave alone what the customer has in the ledger, and what pays an order")
    func deliveredElsewhere() async throws {
        _ = try await world.claim("1", try LedgerWorld.signed("1"))
        _ = try await run([row(try LedgerWorld.signed("1"))], consumables: .delivered, world)
        #expect(try await world.entitlement()?.balance == 1)
        let order = try await world.order()
        _ = try await run([row(try LedgerWorld.signed("2"), order: order.id)], consumables: .delivered, world)
        #expect(try await world.entitlement()?.balance == 2)
        #expect(try await world.fulfil(order.id).units == 1)
        #expect(try await world.entitlement()?.balance == 1)
        // A rejected row takes nothing.
        let rejected = try await run([row("bob", try LedgerWorld.signed("1"))], consumables: .delivered, world)
        #expect(rejected.map(\.code) == ["already_claimed"])
        #expect(try await world.entitlement()?.balance == 1)
    }

    @Test("C.5 An import into an app with consumables says what became of them")
    func unstated() async throws {
        try await LedgerWorld.with { world in
            let rows = [row(try LedgerWorld.signed("1"))]
            let refused = await #expect(throws: LedgerRefusal.self) {
                _ = try await run(rows, consumables: nil, world)
            }
            #expect(refused?.code == .consumablesUnstated && refused?.expected == "delivered or balance")
            #expect(try await world.submissions().isEmpty)
        }
        try await LedgerWorld.with({ $0.products[LedgerWorld.coins] = nil }) { world in
            let evidence = try LedgerWorld.signed("1", product: LedgerWorld.pro)
            #expect(try await run([row(evidence)], consumables: nil, world).map(\.code) == ["accepted"])
        }
    }

    @Test("C.5 Delivered consumables of an erased customer, and of one whose purchase was transferred, are replayed")
    func deliveredAndGone() async throws {
        let rows = [row(try LedgerWorld.signed("1")), row("carol", try LedgerWorld.signed("2"))]
        _ = try await run(rows, consumables: .delivered, world)
        try await world.move("2", to: "dora")
        #expect(try await world.entitlement(of: "dora")?.balance == 1)
        #expect(try await world.entitlement(of: "carol")?.shortfall == 1)
        try await world.requireConsistency()
        try await world.erase("alice")
    }

    @Test("C.11 An import has the clock tolerance of a claim: a purchase half a second before its order pays it")
    func tolerance() async throws {
        let order = try await world.order()
        let created = Date(timeIntervalSince1970: Double(order.createdAt.millisecondsSince1970) / 1000)
        let evidence = try receipt([
            .consumable(
                productID: LedgerWorld.coins, transactionID: "1", purchaseDate: created.addingTimeInterval(-301)),
            .consumable(
                productID: LedgerWorld.coins, transactionID: "2", purchaseDate: created.addingTimeInterval(-0.5)),
            .consumable(productID: LedgerWorld.coins, transactionID: "3", purchaseDate: created),
        ])
        let outcomes = try await run([row(evidence, order: order.id)], world)
        #expect(outcomes.map(\.code) == ["accepted"])
        let paid = try await world.order(order.id)
        #expect(paid.status == .paid && paid.payment?.transactionID == "2")
    }

    @Test("C.11 A repeated import reports the present outcome, and writes nothing")
    func presentOutcome() async throws {
        let rows = [
            row("alice", try LedgerWorld.signed("1", product: LedgerWorld.pro)),
            row("bob", try LedgerWorld.signed("2")), row("carol", try LedgerWorld.signed("2")),
            row("dave", try LedgerWorld.signed("3", product: "com.example.app.gems")),
        ]
        let first = try await run(rows, world)
        #expect(first.map(\.code) == ["accepted", "accepted", "already_claimed", "product_unknown"])
        try await world.observe(try refunded("1"))
        try await world.move("2", to: "carol")
        var app = LedgerWorld.app()
        app.products["com.example.app.gems"] = RegisteredProduct(kind: .consumable)
        let later = try await world.restarted([app])
        let content = try await DatabaseContent(world.database)
        let second = try await run(rows, later)
        #expect(second.map(\.isKnown) == [true, true, true, true])
        #expect(second.map(\.purchases) == [["purchase_withdrawn"], ["already_claimed"], ["accepted"], ["accepted"]])
        #expect(second.map(\.code) == ["accepted", "already_claimed", "accepted", "accepted"])
        #expect(try await DatabaseContent(world.database).differences(from: content) == [])
        try await later.requireConsistency()
    }

    @Test("C.11 A row with a receipt and a signed transaction of one purchase pays its order once, also after a refund")
    func bothKinds() async throws {
        let order = try await world.order(product: LedgerWorld.pro)
        let signed = try LedgerWorld.signed("1", product: LedgerWorld.pro)
        let bought = MintedWorld.moment.addingTimeInterval(3600)
        let rows = [
            row(
                "alice", order: order.id, signed,
                try receipt([.nonConsumable(productID: LedgerWorld.pro, transactionID: "1", purchaseDate: bought)]))
        ]
        #expect(try await run(rows, world).map(\.code) == ["accepted"])
        #expect(try await world.order(order.id).status == .paid)
        #expect(try await run(rows, world).map(\.isKnown) == [true])
        // The order is refunded, and both are history.
        try await world.observe(try refunded("1"))
        let repeated = try await run(rows, world)
        #expect(repeated.map(\.code) == ["accepted"] && repeated.map(\.isKnown) == [true])
        #expect(repeated.map(\.purchases) == [["purchase_withdrawn"]])
    }

    @Test("C.11 A repeated row whose order can be paid now pays it")
    func orderPaidLater() async throws {
        let order = try await world.order("tess")
        let rows = [
            row("tess", order: order.id, try LedgerWorld.signed("1") { $0.environment = "Sandbox" })
        ]
        #expect(try await run(rows, world).map(\.code) == ["order_environment_mismatch"])
        let repeated = try await run(rows, world)
        #expect(repeated.map(\.code) == ["order_environment_mismatch"] && repeated.map(\.isKnown) == [true])
        try await world.tester("tess", true)
        let paying = try await run(rows, world)
        #expect(paying.map(\.code) == ["accepted"] && paying.map(\.isKnown) == [false])
        #expect(try await world.order(order.id).status == .paid)
        #expect(try await run(rows, world).map(\.isKnown) == [true])
    }

    @Test("Events of an import are listed, and webhooks pass over them unless they are announced")
    func announcement() async throws {
        func outgoing(after cursor: Int64, limit: Int = 100) async throws -> [OutgoingEvent] {
            try await world.ledger.answer(OutgoingEvents(app: "example", after: cursor, limit: limit))
        }
        _ = try await run(try (1...9).map { row(try LedgerWorld.signed("\($0)")) }, world)
        let passed = try await outgoing(after: 0)
        #expect(passed.map(\.isAnnounced) == [false])
        #expect(try await world.events().count == 9)
        #expect(try await outgoing(after: try #require(passed.last?.key)) == [])
        _ = try await world.claim("10", try LedgerWorld.signed("10"))
        _ = try await run([row(try LedgerWorld.signed("11"))], isAnnounced: true, world)
        _ = try await run([row(try LedgerWorld.signed("12"))], world)
        for limit in [1, 2, 3, 100] {
            var cursor: Int64 = 0
            var delivered = 0
            while let last = try await outgoing(after: cursor, limit: limit).last {
                let events = try await outgoing(after: cursor, limit: limit)
                #expect(events.dropLast().allSatisfy(\.isAnnounced) && events.count <= limit)
                delivered += events.count { $0.isAnnounced }
                #expect(last.key > cursor)
                cursor = last.key
            }
            #expect(delivered == 2, "read \(limit) at a time")
        }
    }

    @Test("Imported purchases of an erased customer stay claimed, and the rebuild agrees")
    func erased() async throws {
        let rows = [row(try receipt(7)), row("bob", try receipt(7)), row("bob", try receipt(8))]
        _ = try await run(rows, world)
        try await world.erase("alice")
        try await world.requireConsistency()
        let again = try await run(rows, world)
        #expect(again.map(\.code) == ["purchase_erased", "purchase_erased", "accepted"])
        #expect(again.map(\.isKnown) == [false, true, true])
    }

    @Test("A row that was imported before is found among many of its customer without reading them", .folder)
    func cost() async throws {
        let file = folder.appending(path: "assay.sqlite").path
        let database = RecordingDatabase(try SQLiteDatabase(path: file))
        let world = try await LedgerWorld(database)
        let rows = try (0..<400).map { row(try LedgerWorld.signed("\(1000 + $0)")) }
        func steps() async throws -> Int {
            _ = database.takeCalls()
            #expect(try await run([rows[0]], world).map(\.isKnown) == [true])
            return try StatementCost(of: database.takeCalls(), in: DatabaseQueue(path: file)).steps
        }
        _ = try await run(Array(rows[..<4]), world)
        let few = try await steps()
        _ = try await run(rows, world)
        let many = try await steps()
        #expect(many < 2 * few, "\(few) steps among 4 rows, \(many) among 400")
        try await database.close()
    }
}
