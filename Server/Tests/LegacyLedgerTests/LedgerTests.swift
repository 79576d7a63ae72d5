import EvidenceMint
import Foundation
import LegacyLedger
import PurchaseVerification
import TestSupport
import Testing

/// What the ledger promises, on every engine.
@Suite("The ledger")
struct LedgerTests {
    @Test(
        "An order is paid by a purchase, fulfilled once, and the customer has what was bought",
        arguments: Engine.allCases)
    func flow(engine: Engine) async throws {
        try await engine.withDatabase { database in
            let world = try await LedgerWorld(database)
            let order = try await world.order()
            #expect(order.status(at: world.clock.now) == .created)
            #expect(UUID(uuidString: order.appAccountToken) != nil)
            let outcome = try await world.ledger.submit(
                world.submission(customer: nil, order: order.id, evidence: try LedgerWorld.evidence()))
            #expect(outcome.verdict == .accepted && outcome.code == "accepted" && !outcome.isReplayed)
            #expect(outcome.order?.recordedStatus == .paid)
            #expect(outcome.order?.transactionID == "2000000000000001")
            #expect(outcome.entitlement?.balance == 3)
            let app = world.app.id
            for _ in 0..<2 {
                let fulfilled = try await world.ledger.write { try $0.fulfil(order.id, app: app) }
                #expect(fulfilled.recordedStatus == .fulfilled)
            }
            #expect(
                try await world.events(of: "alice") == [.orderCreated, .purchaseGranted, .orderPaid, .orderFulfilled])
            #expect(try await Audit(database).verify().findings.isEmpty)
        }
    }

    @Test("The same claim again has the first answer, and grants nothing", arguments: Engine.allCases)
    func replay(engine: Engine) async throws {
        try await engine.withDatabase { database in
            let world = try await LedgerWorld(database)
            let evidence = try LedgerWorld.evidence()
            let first = try await world.ledger.submit(world.submission(evidence: evidence))
            let second = try await world.ledger.submit(world.submission(evidence: evidence))
            #expect(second.isReplayed && second.verdict == .accepted && second.code == first.code)
            #expect(second.purchase == first.purchase)
            #expect(second.submissionID != first.submissionID)
            let other = try await world.ledger.submit(world.submission(customer: "bob", evidence: evidence))
            #expect(other.code == "already_claimed" && other.status == 409 && other.purchase == nil)
            #expect(try await world.entitlement(of: "alice", to: "com.example.app.coins")?.balance == 3)
            #expect(try await world.entitlements(of: "bob").isEmpty)
            #expect(try await world.submissions().map(\.code) == ["already_claimed", "accepted", "accepted"])
        }
    }

    @Test("What is missing or malformed is named, and recorded", arguments: Engine.allCases)
    func flaws(engine: Engine) async throws {
        try await engine.withDatabase { database in
            let world = try await LedgerWorld(database)
            let evidence = try LedgerWorld.evidence()
            let flaws: [(PurchaseSubmission, DecisionCode, String)] = [
                (world.submission(evidence: nil), .fieldMissing, "receipt_data or signed_transaction"),
                (world.submission(evidence: []), .fieldMissing, "receipt_data or signed_transaction"),
                (world.submission(product: "", evidence: evidence), .fieldMissing, "product_id"),
                (world.submission(nil, evidence: evidence), .fieldMissing, "transaction_id"),
                (world.submission(customer: nil, evidence: evidence), .fieldMissing, "order_id or customer_id"),
                (world.submission(customer: "", evidence: evidence), .fieldMissing, "customer_id"),
                (world.submission(customer: " \u{A0}", evidence: evidence), .fieldMalformed, "customer_id"),
                (world.submission("a\u{0}b", evidence: evidence), .fieldMalformed, "transaction_id"),
                (
                    world.submission(customer: String(repeating: "x", count: 10_000), evidence: evidence),
                    .fieldMalformed, "customer_id"
                ),
                (world.submission(quantity: 0, evidence: evidence), .fieldMalformed, "quantity"),
            ]
            for (submission, code, name) in flaws {
                let outcome = try await world.ledger.submit(submission)
                #expect(outcome.code == code.rawValue && outcome.status == 400)
                #expect(outcome.expected?.contains(name) == true, "\(outcome.expected ?? "nothing")")
            }
            let recorded = try await world.submissions()
            #expect(recorded.count == flaws.count && recorded.allSatisfy { $0.verdict == .rejected })
            #expect(recorded.allSatisfy { ($0.customerID?.utf8.count ?? 0) <= 520 })
        }
    }

    @Test(
        "Wrong app, version and environment have the core's codes; the environment is recorded",
        arguments: Engine.allCases)
    func policies(engine: Engine) async throws {
        try await engine.withDatabase { database in
            var world = try await LedgerWorld(database)
            let evidence = try LedgerWorld.evidence()
            world.app.bundleIDs = ["com.example.other"]
            #expect(try await world.ledger.submit(world.submission(evidence: evidence)).code == "bundle_id_mismatch")
            world.app = LedgerWorld.app()
            world.app.versions = ["2"]
            #expect(
                try await world.ledger.submit(world.submission(evidence: evidence)).code
                    == "application_version_mismatch")
            world.app = LedgerWorld.app()
            world.app.environments = [.production]
            #expect(
                try await world.ledger.submit(world.submission(evidence: evidence)).code == "environment_not_accepted")
            world.app = LedgerWorld.app()
            #expect(
                try await world.ledger.submit(world.submission(evidence: evidence)).purchase?.environment == .sandbox)
            #expect(try await world.submissions().first?.environment == "Sandbox")
        }
    }

    @Test("A purchase of production that is called one of the sandbox is granted once", arguments: Engine.allCases)
    func environments(engine: Engine) async throws {
        try await engine.withDatabase { database in
            let world = try await LedgerWorld(database)
            let encoder = TransactionReceiptEncoder(authority: try LedgerWorld.store.get())
            let purchase = PurchaseTemplate.consumable(
                productID: "com.example.app.coins", transactionID: "700000000000001",
                purchaseDate: MintedWorld.moment)
            let evidence = try ["Production", "Sandbox"].map { environment in
                Array(
                    try encoder.encodeBase64(
                        TransactionReceiptTemplate(
                            purchase: purchase, bundleID: "com.example.app", environment: environment), version: .two
                    ).utf8)
            }
            let first = try await world.ledger.submit(world.submission("700000000000001", evidence: evidence[1]))
            #expect(first.verdict == .accepted && first.purchase?.environment == .sandbox)
            let second = try await world.ledger.submit(world.submission("700000000000001", evidence: evidence[0]))
            #expect(second.isReplayed && second.purchase == first.purchase)
            let other = try await world.ledger.submit(
                world.submission("700000000000001", customer: "bob", evidence: evidence[0]))
            #expect(other.code == "already_claimed")
            #expect(try await world.entitlements(of: "alice").map(\.balance) == [1])
            #expect(try await Audit(database).verify().findings.isEmpty)
        }
    }

    @Test(
        "A token binds a signed transaction to its order, even if the claim does not name it",
        arguments: Engine.allCases)
    func tokens(engine: Engine) async throws {
        try await engine.withDatabase { database in
            let world = try await LedgerWorld(database)
            let order = try await world.order()
            let signed = try LedgerWorld.signed { $0.appAccountToken = order.appAccountToken }
            let stranger = try await world.ledger.submit(world.submission(customer: "bob", evidence: signed))
            #expect(stranger.code == "app_account_token_mismatch")
            let owner = try await world.ledger.submit(world.submission(evidence: signed))
            #expect(owner.verdict == .accepted && owner.order?.id == order.id)
            #expect(try await world.existingOrder(order.id)?.recordedStatus == .paid)
            #expect(try await world.submissions().map(\.evidenceKind) == ["signed_transaction", "signed_transaction"])
        }
    }

    @Test("A refund is recorded whoever brings it, takes back what was granted, and stays", arguments: Engine.allCases)
    func refund(engine: Engine) async throws {
        try await engine.withDatabase { database in
            let world = try await LedgerWorld(database)
            let evidence = try LedgerWorld.evidence()
            var purchases = MintedWorld.purchases()
            for index in purchases.indices { purchases[index].cancellationDate = MintedWorld.moment }
            let refunded = try LedgerWorld.evidence(purchases)
            let coins = try await world.order()
            let claims = [
                world.submission(customer: nil, order: coins.id, evidence: evidence),
                world.submission("2000000000000002", product: "com.example.app.pro", evidence: evidence),
                world.submission("2000000000000004", product: "com.example.app.monthly", evidence: evidence),
            ]
            for claim in claims { #expect(try await world.ledger.submit(claim).verdict == .accepted) }
            for var claim in claims {
                claim.evidence = refunded
                claim.customerID = "mallory"
                claim.orderID = nil
                #expect(try await world.ledger.submit(claim).code == "purchase_cancelled")
            }
            #expect(try await world.existingOrder(coins.id)?.recordedStatus == .refunded)
            let states = try await world.entitlements(of: "alice").map { $0.state(at: world.clock.now) }
            #expect(states == [.consumed, .withdrawn, .withdrawn])
            for claim in claims {
                #expect(try await world.ledger.submit(claim).code == "purchase_withdrawn")
            }
            #expect(try await world.entitlements(of: "alice").map(\.balance) == [0, 0, 0])
            #expect(try await world.entitlements(of: "mallory").isEmpty)
            #expect(try await Audit(database).verify().findings.isEmpty)
        }
    }

    @Test("What was used up before the refund leaves a balance of nothing, not less", arguments: Engine.allCases)
    func refundAfterUse(engine: Engine) async throws {
        try await engine.withDatabase { database in
            let world = try await LedgerWorld(database)
            _ = try await world.ledger.submit(world.submission(evidence: try LedgerWorld.evidence()))
            let app = world.app.id
            _ = try await world.ledger.write {
                try $0.consume(
                    2, of: "com.example.app.coins", customerID: "alice", app: app, consumptionID: "1", environment: nil)
            }
            var purchases = MintedWorld.purchases()
            purchases[0].cancellationDate = MintedWorld.moment
            _ = try await world.ledger.submit(world.submission(evidence: try LedgerWorld.evidence(purchases)))
            #expect(try await world.entitlement(of: "alice", to: "com.example.app.coins")?.balance == 0)
            let events = try await world.ledger.read { try $0.events(of: "alice", app: app) }
            #expect(events.last?.detail == "cancelled \(Timestamp(MintedWorld.moment)), 2 of 3 were used up already")
        }
    }

    @Test(
        "A restored product belongs to its recorded owner, and moves only where the app says so",
        arguments: Engine.allCases)
    func restore(engine: Engine) async throws {
        try await engine.withDatabase { database in
            var world = try await LedgerWorld(database)
            let pro = "com.example.app.pro"
            func restored(_ transaction: String) throws -> [UInt8] {
                var purchase = PurchaseTemplate.nonConsumable(
                    productID: pro, transactionID: transaction,
                    purchaseDate: MintedWorld.moment.addingTimeInterval(60))
                purchase.originalTransactionID = "2000000000000002"
                purchase.originalPurchaseDate = MintedWorld.moment
                return try LedgerWorld.evidence([purchase])
            }
            _ = try await world.ledger.submit(
                world.submission("2000000000000002", product: pro, evidence: try LedgerWorld.evidence()))
            let own = try await world.ledger.submit(
                world.submission("31", product: pro, evidence: try restored("31")))
            #expect(own.verdict == .accepted && own.purchase?.kind == .restored && !own.isReplayed)
            #expect(own.entitlement?.since == Timestamp(MintedWorld.moment))
            let denied = try await world.ledger.submit(
                world.submission("32", product: pro, customer: "bob", evidence: try restored("32")))
            #expect(denied.code == "already_claimed")
            let order = try await world.order(product: pro, quantity: 1)
            let paid = try await world.ledger.submit(
                world.submission("33", product: pro, order: order.id, evidence: try restored("33")))
            #expect(paid.code == "already_claimed", "a restored copy pays no order")
            world.app.transfer = .move
            let moved = try await world.ledger.submit(
                world.submission("32", product: pro, customer: "bob", evidence: try restored("32")))
            #expect(moved.verdict == .accepted && moved.entitlement?.reason == "moved")
            #expect(try await world.entitlement(of: "bob", to: pro)?.state(at: world.clock.now) == .active)
            #expect(try await world.entitlement(of: "alice", to: pro)?.state(at: world.clock.now) == .moved)
            #expect(try await world.events(of: "bob") == [.purchaseMoved, .purchaseMoved, .purchaseGranted])
            #expect(try await Audit(database).verify().findings.isEmpty)
        }
    }

    @Test(
        "Subscriptions last until the end of the last period, passes until their days are over",
        arguments: Engine.allCases)
    func periods(engine: Engine) async throws {
        try await engine.withDatabase { database in
            let world = try await LedgerWorld(database)
            let (monthly, pass) = ("com.example.app.monthly", "com.example.app.pass")
            func period(_ number: Int) -> PurchaseTemplate {
                let start = MintedWorld.moment.addingTimeInterval(Double(number) * 2_592_000)
                return .subscription(
                    productID: monthly, transactionID: "4\(number)", originalTransactionID: "40", purchaseDate: start,
                    originalPurchaseDate: MintedWorld.moment, expiresDate: start.addingTimeInterval(2_592_000))
            }
            let evidence = try LedgerWorld.evidence((0..<3).map(period))
            for (number, kind) in [(2, AcceptanceKind.bought), (0, .renewed)] {
                let outcome = try await world.ledger.submit(
                    world.submission("4\(number)", product: monthly, evidence: evidence))
                #expect(outcome.purchase?.kind == kind)
                #expect(outcome.entitlement?.until == Timestamp(MintedWorld.moment.addingTimeInterval(3 * 2_592_000)))
            }
            for number in 1...2 {
                let evidence = try LedgerWorld.evidence([
                    .nonRenewingSubscription(
                        productID: pass, transactionID: "5\(number)", purchaseDate: MintedWorld.moment)
                ])
                _ = try await world.ledger.submit(world.submission("5\(number)", product: pass, evidence: evidence))
            }
            let stacked = try await world.entitlement(of: "alice", to: pass)
            #expect(stacked?.until == Timestamp(MintedWorld.moment.addingTimeInterval(60 * 86_400)))
            world.clock.advance(seconds: 91 * LedgerWorld.day)
            #expect(
                try await world.entitlements(of: "alice").map { $0.state(at: world.clock.now) } == [.expired, .expired])
        }
    }

    @Test("A balance is never below nothing, and the same consumption is made once", arguments: Engine.allCases)
    func consume(engine: Engine) async throws {
        try await engine.withDatabase { database in
            let world = try await LedgerWorld(database)
            _ = try await world.ledger.submit(world.submission(evidence: try LedgerWorld.evidence()))
            let app = world.app.id
            func consume(_ quantity: Int64, _ id: String) async throws -> Consumption {
                try await world.ledger.write {
                    try $0.consume(
                        quantity, of: "com.example.app.coins", customerID: "alice", app: app, consumptionID: id,
                        environment: nil)
                }
            }
            #expect(try await consume(2, "a").balance == 1)
            let again = try await consume(2, "a")
            #expect(again.balance == 1 && again.isReplayed)
            await #expect(throws: LedgerRefusal.self) { try await consume(1, "a") }
            await #expect(throws: LedgerRefusal.self) { try await consume(2, "b") }
            #expect(try await consume(1, "c").balance == 0)
            await #expect(throws: LedgerRefusal.self) { try await consume(1, "d") }
            let made = try await withThrowingTaskGroup(of: Bool.self) { group in
                _ = try await world.ledger.submit(
                    world.submission(
                        "77",
                        evidence: try LedgerWorld.evidence([
                            .consumable(
                                productID: "com.example.app.coins", transactionID: "77",
                                purchaseDate: MintedWorld.moment, quantity: 10)
                        ])))
                for number in 0..<64 {
                    group.addTask {
                        do {
                            _ = try await consume(1, "race \(number)")
                            return true
                        } catch is LedgerRefusal {
                            return false
                        }
                    }
                }
                return try await group.reduce(0) { $0 + ($1 ? 1 : 0) }
            }
            #expect(made == 10)
            #expect(try await world.entitlement(of: "alice", to: "com.example.app.coins")?.balance == 0)
        }
    }

    @Test("An order that nobody pays expires; one that is cancelled stays so", arguments: Engine.allCases)
    func orders(engine: Engine) async throws {
        try await engine.withDatabase { database in
            let world = try await LedgerWorld(database)
            let (late, dropped) = (try await world.order(), try await world.order())
            let app = world.app
            _ = try await world.ledger.write { try $0.cancel(dropped.id, app: app.id) }
            let evidence = try LedgerWorld.evidence()
            let refused = try await world.ledger.submit(
                world.submission(customer: nil, order: dropped.id, evidence: evidence))
            #expect(refused.code == "order_cancelled")
            await #expect(throws: LedgerRefusal.self) {
                try await world.ledger.write { try $0.fulfil(late.id, app: app.id) }
            }
            world.clock.advance(seconds: LedgerWorld.day)
            let expired = try await world.ledger.submit(
                world.submission(customer: nil, order: late.id, evidence: evidence))
            #expect(expired.code == "order_expired")
            await #expect(throws: LedgerRefusal.self) {
                try await world.ledger.write {
                    try $0.createOrder(OrderDraft(customerID: "alice", productID: "nothing"), app: app)
                }
            }
            let listed = try await world.ledger.read {
                try $0.orders(.expired, customerID: nil, app: app.id, limit: 10).orders.map(\.id)
            }
            #expect(listed == [late.id])
            #expect(try await world.ledger.read { try $0.order(late.id, app: "another app") } == nil)
        }
    }
}
