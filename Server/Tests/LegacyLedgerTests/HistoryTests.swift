import EvidenceMint
import Foundation
import LegacyLedger
import PurchaseVerification
import TestSupport
import Testing

/// Random histories: what happens to the ledger happens to a simple model, and both agree at each step.
@Suite("Random histories")
struct HistoryTests {
    static let customers = ["alice", "bob", "carol"]
    static let steps = 10_000
    /// When everything that is refunded was refunded: in the middle of some passes.
    static let cancelled = MintedWorld.moment.addingTimeInterval(50 * 86_400)

    /// Something that can be submitted: genuine evidence, and the same purchase once cancelled.
    struct Purchase {
        let thing: LedgerModel.Thing
        let template: PurchaseTemplate
        let genuine: [UInt8]
        let cancelled: [UInt8]
    }

    /// What the App Store sold: coins, products with restored copies, subscriptions with periods and copies, passes.
    static func catalogue(_ generator: inout SeededGenerator) throws -> [Purchase] {
        var templates: [(PurchaseTemplate, ProductKind)] = []
        let moment = MintedWorld.moment
        for number in 0..<400 {
            templates.append(
                (
                    .consumable(
                        productID: "com.example.app.coins", transactionID: "c\(number)", purchaseDate: moment,
                        quantity: UInt64.random(in: 1...5, using: &generator)), .consumable
                ))
        }
        for number in 0..<40 {
            for copy in 0..<3 {
                for (product, kind) in [("pro", ProductKind.nonConsumable), ("pass", .nonRenewing)] {
                    let id = "\(product)\(number)"
                    var template = PurchaseTemplate.nonConsumable(
                        productID: "com.example.app.\(product)", transactionID: copy == 0 ? id : "\(id).\(copy)",
                        purchaseDate: moment.addingTimeInterval(Double(copy) * 500))
                    template.originalTransactionID = id
                    // Passes are bought one after the other, and some of them are over before anybody claims them.
                    let bought = kind == .nonRenewing ? Double(number % 10) * 20 * 86_400 : 0
                    template.purchaseDate = moment.addingTimeInterval(bought + Double(copy) * 500)
                    template.originalPurchaseDate = moment.addingTimeInterval(bought)
                    template.productType = kind == .nonRenewing ? .nonRenewingSubscription : .nonConsumable
                    templates.append((template, kind))
                }
            }
        }
        for number in 0..<12 {
            for period in 0..<5 {
                for copy in 0..<2 {
                    let start = moment.addingTimeInterval(Double(period) * 30 * 86_400)
                    let id = "s\(number).\(period)"
                    templates.append(
                        (
                            .subscription(
                                productID: "com.example.app.monthly", transactionID: copy == 0 ? id : "\(id).copy",
                                originalTransactionID: "s\(number).0", purchaseDate: start,
                                originalPurchaseDate: moment, expiresDate: start.addingTimeInterval(30 * 86_400)),
                            .autoRenewable
                        ))
                }
            }
        }
        return try templates.map { template, kind in
            var cancelled = template
            cancelled.cancellationDate = Self.cancelled
            let purchased = (kind == .autoRenewable ? template.purchaseDate : template.originalPurchaseDate) ?? moment
            let thing = LedgerModel.Thing(
                transaction: template.transactionID ?? "", original: template.originalTransactionID ?? "",
                product: template.productID ?? "", kind: kind, quantity: Int64(template.quantity ?? 0),
                purchased: Int64(purchased.timeIntervalSince1970 * 1000),
                expires: template.expiresDate.map { Int64($0.timeIntervalSince1970 * 1000) })
            return Purchase(
                thing: thing, template: template, genuine: try LedgerWorld.evidence([template]),
                cancelled: try LedgerWorld.evidence([cancelled]))
        }
    }

    @Test(
        "10,000 steps of orders, purchases, restores, refunds, replays and consumption: ledger and model agree at each",
        arguments: Engine.allCases, [TransferPolicy.deny, .move])
    func history(engine: Engine, transfer: TransferPolicy) async throws {
        var generator = SeededGenerator(seed: transfer == .deny ? 2026 : 2027)
        let catalogue = try Self.catalogue(&generator)
        try await engine.withDatabase { database in
            var world = try await LedgerWorld(database)
            world.app.transfer = transfer
            world.app.orderLifetime = 5 * 86_400_000
            var model = LedgerModel(isMoving: transfer == .move)
            var (orderIDs, counts): ([String], [String: Int]) = ([], [:])
            for step in 0..<Self.steps {
                let customer = Self.customers.randomElement(using: &generator) ?? ""
                let now = world.clock.now.millisecondsSince1970
                switch Int.random(in: 0..<100, using: &generator) {
                case 0..<15:
                    let thing = catalogue.randomElement(using: &generator)?.thing
                    let order = try await world.order(
                        customer, product: thing?.product ?? "", quantity: thing?.quantity ?? 1)
                    orderIDs.append(order.id)
                    model.orders[order.id] = .init(
                        customer: customer, product: order.productID, quantity: order.quantity,
                        expires: order.expiresAt.millisecondsSince1970)
                    counts["orders", default: 0] += 1
                case 15..<75:
                    guard let purchase = catalogue.randomElement(using: &generator) else { continue }
                    let isCancelled = Int.random(in: 0..<25, using: &generator) == 0
                    let isMisnamed = Int.random(in: 0..<30, using: &generator) == 0
                    let product = isMisnamed ? "com.example.app.other" : purchase.thing.product
                    let order =
                        Bool.random(using: &generator) ? self.order(purchase, orderIDs, model, &generator) : nil
                    let named = order == nil || Bool.random(using: &generator) ? customer : nil
                    // Some receipts tell of another purchase besides, that it was taken back.
                    let other =
                        Int.random(in: 0..<40, using: &generator) == 0
                        ? catalogue.randomElement(using: &generator) : nil
                    var evidence = isCancelled ? purchase.cancelled : purchase.genuine
                    if let other {
                        var templates = [purchase.template, other.template]
                        if isCancelled { templates[0].cancellationDate = Self.cancelled }
                        templates[1].cancellationDate = Self.cancelled
                        evidence = try LedgerWorld.evidence(templates)
                        counts["refunds besides", default: 0] += 1
                    }
                    let outcome = try await world.ledger.submit(
                        world.submission(
                            purchase.thing.transaction, product: product, customer: named, order: order,
                            evidence: evidence))
                    let expected = model.submit(
                        purchase.thing, isCancelled: isCancelled, alsoCancelled: other?.thing, product: product,
                        customer: named, order: order, now: now,
                        cancelledAt: Int64(Self.cancelled.timeIntervalSince1970 * 1000))
                    let found: LedgerModel.Verdict =
                        outcome.verdict == .rejected ? .rejected : outcome.isReplayed ? .replayed : .accepted
                    // What follows a difference differs, too.
                    try #require(found == expected, "step \(step): \(outcome.code), \(purchase.thing)")
                    counts[outcome.isReplayed ? "replayed" : outcome.code, default: 0] += 1
                case 75..<85:
                    let quantity = Int64.random(in: 1...4, using: &generator)
                    let expected = model.consume(quantity, customer: customer)
                    #expect(try await consume(quantity, customer, "\(step)", world) == expected, "step \(step)")
                    counts[expected ? "consumed" : "not consumed", default: 0] += 1
                case 85..<95:
                    guard let id = orderIDs.randomElement(using: &generator) else { continue }
                    let isPaid = [.paid, .fulfilled].contains(model.orders[id]?.status)
                    #expect(try await fulfil(id, world) == isPaid, "step \(step)")
                    if isPaid { model.orders[id]?.status = .fulfilled }
                default: world.clock.advance(seconds: Int64.random(in: 0...43_200, using: &generator))
                }
                try await compare(world, model, step)
                // Those of late at each step, and now and then all of them.
                try await compareOrders(world, model, step % 100 == 99 ? orderIDs : orderIDs.suffix(8))
            }
            let report = try await Audit(database).verify()
            #expect(report.findings.isEmpty)
            for code in [
                "accepted", "replayed", "already_claimed", "purchase_cancelled", "purchase_withdrawn", "order_expired",
                "order_already_paid", "subscription_expired", "consumed", "refunds besides",
            ] {
                #expect(counts[code, default: 0] > 0, "no step came to \(code)")
            }
            print("\(Self.steps) steps, transfer \(transfer): \(counts.sorted { $0.key < $1.key })")
        }
    }

    /// Mostly an order that fits, so that some are paid.
    private func order(
        _ purchase: Purchase, _ ids: [String], _ model: LedgerModel, _ generator: inout SeededGenerator
    ) -> String? {
        let candidates = ids.suffix(60).filter { id in
            model.orders[id]?.product == purchase.thing.product
                && model.orders[id]?.quantity == purchase.thing.quantity
        }
        return Int.random(in: 0..<10, using: &generator) == 0
            ? ids.randomElement(using: &generator) : candidates.randomElement(using: &generator)
    }

    private func consume(_ quantity: Int64, _ customer: String, _ id: String, _ world: LedgerWorld) async throws -> Bool
    {
        let app = world.app.id
        do {
            _ = try await world.ledger.write {
                try $0.consume(
                    quantity, of: "com.example.app.coins", customerID: customer, app: app, consumptionID: id,
                    environment: nil)
            }
            return true
        } catch is LedgerRefusal {
            return false
        }
    }

    private func fulfil(_ id: String, _ world: LedgerWorld) async throws -> Bool {
        let app = world.app.id
        do {
            _ = try await world.ledger.write { try $0.fulfil(id, app: app) }
            return true
        } catch is LedgerRefusal {
            return false
        }
    }

    private func compare(_ world: LedgerWorld, _ model: LedgerModel, _ step: Int) async throws {
        let (app, now) = (world.app.id, world.clock.now)
        let found = try await world.ledger.read { reader in
            try Self.customers.map { try reader.entitlements(of: $0, app: app) }
        }
        for (customer, entitlements) in zip(Self.customers, found) {
            var rights: [String: LedgerModel.Right] = [:]
            for entitlement in entitlements {
                let isKept = entitlement.recordedState == .active
                rights[entitlement.key.productID] = LedgerModel.Right(
                    isActive: entitlement.state(at: now) == .active, balance: entitlement.balance,
                    until: isKept ? entitlement.until?.millisecondsSince1970 : nil)
            }
            let expected = model.entitlements(of: customer, now: now.millisecondsSince1970)
            try #require(rights == expected, "step \(step), \(customer)")
        }
    }

    private func compareOrders(_ world: LedgerWorld, _ model: LedgerModel, _ ids: [String]) async throws {
        let (app, now) = (world.app.id, world.clock.now)
        let found = try await world.ledger.read { reader in
            try ids.map { try reader.order($0, app: app)?.status(at: now) }
        }
        for (id, status) in zip(ids, found) {
            let expected = model.orders[id].map { order in
                order.status == .created && order.expires <= now.millisecondsSince1970 ? .expired : order.status
            }
            try #require(status == expected)
        }
    }
}
