import AppStoreSimulator
import Foundation
import PurchaseLedger
import PurchaseVerification
import TestSupport
import Testing

/// What the App Store took back is never granted, and taken from whoever has it, whatever comes first.
@Suite("Withdrawals and extensions")
struct WithdrawalTests {
    /// The minted purchases, with some of them cancelled.
    private func receipt(cancelling indices: Set<Int>) throws -> [UInt8] {
        var purchases = MintedWorld.purchases()
        for index in indices { purchases[index].cancellationDate = MintedWorld.moment }
        return try LedgerWorld.evidence(purchases)
    }

    private let claims = [
        ("2000000000000001", "com.example.app.coins"), ("2000000000000002", "com.example.app.pro"),
        ("2000000000000004", "com.example.app.monthly"),
    ]

    @Test(
        "A refund that is seen before the purchase was ever granted keeps older evidence from granting it",
        arguments: Engine.allCases)
    func refundFirst(engine: Engine) async throws {
        try await engine.withDatabase { database in
            let world = try await LedgerWorld(database)
            for (index, (transaction, product)) in claims.enumerated() {
                let refunded = try await world.ledger.submit(
                    world.submission(transaction, product: product, evidence: try receipt(cancelling: [index])))
                #expect(refunded.code == "purchase_cancelled")
                for customer in ["alice", "bob"] {
                    let older = try await world.ledger.submit(
                        world.submission(
                            transaction, product: product, customer: customer, evidence: try receipt(cancelling: [])))
                    #expect(older.code == "purchase_withdrawn", "\(product)")
                }
            }
            #expect(try await world.entitlements(of: "alice").isEmpty)
            #expect(try await Audit(database).verify().findings.isEmpty)
        }
    }

    @Test("A revocation that a signed transaction shows keeps a receipt from granting it", arguments: Engine.allCases)
    func otherEvidence(engine: Engine) async throws {
        try await engine.withDatabase { database in
            let world = try await LedgerWorld(database)
            let revoked = try LedgerWorld.signed { $0.revocationDate = MintedWorld.moment }
            #expect(
                try await world.ledger.submit(world.submission(customer: "mallory", evidence: revoked)).code
                    == "purchase_revoked")
            let receipt = try await world.ledger.submit(world.submission(evidence: try receipt(cancelling: [])))
            #expect(receipt.code == "purchase_withdrawn")
        }
    }

    @Test(
        "A receipt takes back everything that it shows as cancelled, whichever purchase is claimed with it",
        arguments: Engine.allCases)
    func besides(engine: Engine) async throws {
        try await engine.withDatabase { database in
            let world = try await LedgerWorld(database)
            for (transaction, product) in claims.dropFirst() {
                let bought = try await world.ledger.submit(
                    world.submission(transaction, product: product, evidence: try receipt(cancelling: [])))
                #expect(bought.verdict == .accepted)
            }
            // One claim is accepted, one is for a transaction that is not there: both tell of the refunds.
            let coins = try await world.ledger.submit(
                world.submission(customer: "mallory", evidence: try receipt(cancelling: [1])))
            #expect(coins.verdict == .accepted)
            let nothing = try await world.ledger.submit(
                world.submission("9", customer: "mallory", evidence: try receipt(cancelling: [1, 2])))
            #expect(nothing.code == "transaction_not_found")
            let states = try await world.entitlements(of: "alice").map { $0.state(at: world.clock.now) }
            #expect(states == [.withdrawn, .withdrawn])
            let taken = try await world.ledger.read { try $0.events(of: "alice", app: "example") }
                .filter { $0.kind == .purchaseWithdrawn }
            #expect(taken.map(\.submissionID) == [coins.submissionID, nothing.submissionID])
            #expect(try await Audit(database).verify().findings.isEmpty)
        }
    }

    @Test("A cancelled period leaves the others of the subscription", arguments: Engine.allCases)
    func period(engine: Engine) async throws {
        try await engine.withDatabase { database in
            let world = try await LedgerWorld(database)
            let month: TimeInterval = 30 * 86_400
            var periods = (0..<2).map { number in
                PurchaseTemplate.subscription(
                    productID: "com.example.app.monthly", transactionID: "s\(number)", originalTransactionID: "s0",
                    purchaseDate: MintedWorld.moment.addingTimeInterval(Double(number) * month),
                    originalPurchaseDate: MintedWorld.moment,
                    expiresDate: MintedWorld.moment.addingTimeInterval(Double(number + 1) * month))
            }
            periods[0].cancellationDate = MintedWorld.moment
            let second = try await world.ledger.submit(
                world.submission(
                    "s1", product: "com.example.app.monthly", evidence: try LedgerWorld.evidence(periods)))
            #expect(second.verdict == .accepted)
            periods[0].cancellationDate = nil
            let first = try await world.ledger.submit(
                world.submission(
                    "s0", product: "com.example.app.monthly", evidence: try LedgerWorld.evidence(periods)))
            #expect(first.code == "purchase_withdrawn")
            let monthly = try await world.entitlement(of: "alice", to: "com.example.app.monthly")
            #expect(monthly?.state(at: world.clock.now) == .active)
        }
    }

    @Test(
        "A period that the App Store made longer lasts longer, and older evidence does not shorten it",
        arguments: Engine.allCases)
    func extended(engine: Engine) async throws {
        try await engine.withDatabase { database in
            let world = try await LedgerWorld(database)
            var purchases = MintedWorld.purchases()
            let end = try #require(purchases[2].expiresDate)
            func submit() async throws -> PurchaseOutcome {
                try await world.ledger.submit(
                    world.submission(
                        "2000000000000004", product: "com.example.app.monthly",
                        evidence: try LedgerWorld.evidence(purchases)))
            }
            #expect(try await submit().entitlement?.until == Timestamp(end))
            for (seconds, until) in [(86_400.0, 86_400.0), (0, 86_400), (172_800, 172_800)] {
                purchases[2].expiresDate = end.addingTimeInterval(seconds)
                let again = try await submit()
                #expect(again.isReplayed && again.verdict == .accepted)
                #expect(again.entitlement?.until == Timestamp(end.addingTimeInterval(until)))
                #expect(again.purchase?.expiresAt == again.entitlement?.until)
            }
            #expect(
                try await world.events(of: "alice") == [.purchaseGranted, .purchaseExtended, .purchaseExtended])
            #expect(try await Audit(database).verify().findings.isEmpty)
        }
    }

    /// A period of a month in the sandbox, and a copy of it that restoring made.
    private func period(
        _ transaction: String, until days: Double, isCancelled: Bool = false,
        product: String = "com.example.app.monthly"
    ) throws -> [UInt8] {
        var template = PurchaseTemplate.subscription(
            productID: product, transactionID: transaction, originalTransactionID: "s0",
            purchaseDate: MintedWorld.moment, originalPurchaseDate: MintedWorld.moment,
            expiresDate: MintedWorld.moment.addingTimeInterval(days * 86_400))
        if isCancelled { template.cancellationDate = MintedWorld.moment }
        return try LedgerWorld.evidence([template])
    }

    private func claim(
        _ world: LedgerWorld, _ transaction: String, customer: String = "alice", order: String? = nil,
        _ evidence: [UInt8], product: String = "com.example.app.monthly"
    ) async throws -> PurchaseOutcome {
        try await world.ledger.submit(
            world.submission(transaction, product: product, customer: customer, order: order, evidence: evidence))
    }

    @Test(
        "A period that was made longer is still the one that its copies are of: it pays one order and is refunded whole",
        arguments: Engine.allCases)
    func extendedCopies(engine: Engine) async throws {
        try await engine.withDatabase { database in
            let world = try await LedgerWorld(database)
            let orders = [
                try await world.order(product: "com.example.app.monthly", quantity: 1),
                try await world.order(product: "com.example.app.monthly", quantity: 1),
            ]
            let first = try await claim(world, "s0", order: orders[0].id, try period("s0", until: 30))
            #expect(first.verdict == .accepted)
            let copy = try await claim(world, "copy", try period("copy", until: 30))
            #expect(copy.purchase?.kind == .restored)
            #expect(try await claim(world, "s0", try period("s0", until: 40)).isReplayed)
            for (transaction, days) in [("older", 30.0), ("newer", 40)] {
                let second = try await claim(
                    world, transaction, order: orders[1].id, try period(transaction, until: days))
                #expect(second.code == "already_claimed", "a copy pays no order")
            }
            let refund = try await claim(
                world, "s0", customer: "mallory", try period("s0", until: 40, isCancelled: true))
            #expect(refund.code == "purchase_cancelled")
            let monthly = try await world.entitlement(of: "alice", to: "com.example.app.monthly")
            #expect(monthly?.state(at: world.clock.now) == .withdrawn)
            for (transaction, days) in [("older", 30.0), ("newer", 40), ("copy", 30)] {
                let again = try await claim(world, transaction, try period(transaction, until: days))
                #expect(again.code == "purchase_withdrawn", "\(transaction)")
            }
            #expect(try await Audit(database).verify().findings.isEmpty)
        }
    }

    @Test(
        "A copy is told by the App Store's number of the period, whatever ends the ledger saw of it",
        arguments: Engine.allCases)
    func lineItems(engine: Engine) async throws {
        try await engine.withDatabase { database in
            let world = try await LedgerWorld(database)
            let orders = [
                try await world.order(product: "com.example.app.monthly", quantity: 1),
                try await world.order(product: "com.example.app.monthly", quantity: 1),
            ]
            func period(_ transaction: String, until days: Double, isCancelled: Bool = false) throws -> [UInt8] {
                var template = PurchaseTemplate.subscription(
                    productID: "com.example.app.monthly", transactionID: transaction, originalTransactionID: "s0",
                    purchaseDate: MintedWorld.moment, originalPurchaseDate: MintedWorld.moment,
                    expiresDate: MintedWorld.moment.addingTimeInterval(days * 86_400), webOrderLineItemID: 77)
                if isCancelled { template.cancellationDate = MintedWorld.moment }
                return try LedgerWorld.evidence([template])
            }
            #expect(try await claim(world, "s0", order: orders[0].id, try period("s0", until: 30)).verdict == .accepted)
            let copy = try await claim(world, "copy", order: orders[1].id, try period("copy", until: 33))
            #expect(copy.code == "already_claimed")
            let restored = try await claim(world, "copy", try period("copy", until: 33))
            #expect(restored.purchase?.kind == .restored)
            _ = try await claim(world, "s0", try period("s0", until: 40, isCancelled: true))
            let monthly = try await world.entitlement(of: "alice", to: "com.example.app.monthly")
            #expect(monthly?.state(at: world.clock.now) == .withdrawn)
            for (transaction, days) in [("s0", 30.0), ("copy", 33), ("other", 50)] {
                let again = try await claim(world, transaction, try period(transaction, until: days))
                #expect(again.code == "purchase_withdrawn")
            }
            #expect(try await Audit(database).verify().findings.isEmpty)
        }
    }

    @Test("A refund that follows an upgrade refunds the order, too, whichever comes first", arguments: Engine.allCases)
    func refundAfterUpgrade(engine: Engine) async throws {
        try await engine.withDatabase { database in
            let world = try await LedgerWorld(database)
            let order = try await world.order(product: "com.example.app.monthly", quantity: 1)
            func signed(_ change: (inout SignedTransactionTemplate) -> Void = { _ in }) throws -> [UInt8] {
                try LedgerWorld.signed(2, change)
            }
            let paid = try await claim(world, "2000000000000004", order: order.id, try signed())
            #expect(paid.order?.recordedStatus == .paid)
            let upgraded = try await claim(world, "2000000000000004", try signed { $0.isUpgraded = true })
            #expect(upgraded.code == "purchase_upgraded")
            // A receipt has a cancellation date for it, which is no refund.
            var cancelled = MintedWorld.purchases()
            cancelled[2].cancellationDate = MintedWorld.moment
            let receipt = try await claim(world, "2000000000000004", try LedgerWorld.evidence(cancelled))
            #expect(receipt.code == "purchase_cancelled")
            #expect(try await world.existingOrder(order.id)?.recordedStatus == .paid)
            let revoked = try signed { $0.revocationDate = MintedWorld.moment }
            for _ in 0..<2 {
                #expect(try await claim(world, "2000000000000004", revoked).code == "purchase_revoked")
                #expect(try await world.existingOrder(order.id)?.recordedStatus == .refunded)
            }
            #expect(try await world.events(of: "alice").count { $0 == .orderRefunded } == 1)
            #expect(try await Audit(database).verify().findings.isEmpty)
        }
    }

    @Test(
        "What moves after an upgrade leaves nothing wrong in the books, and the new owner does not see the old order",
        arguments: Engine.allCases)
    func movedAfterUpgrade(engine: Engine) async throws {
        try await engine.withDatabase { database in
            var world = try await LedgerWorld(database)
            let yearly = "com.example.app.yearly"
            world.app.products[yearly] = RegisteredProduct(kind: .autoRenewable)
            world.app.transfer = .move
            let order = try await world.order(product: yearly, quantity: 1)
            _ = try await claim(world, "s0", try period("s0", until: 30))
            _ = try await claim(world, "s0", try period("s0", until: 30, isCancelled: true))
            let paid = try await claim(
                world, "s1", order: order.id, try period("s1", until: 365, product: yearly), product: yearly)
            #expect(paid.order?.id == order.id)
            let restored = try period("s2", until: 365, product: yearly)
            let moved = try await claim(world, "s2", customer: "bob", restored, product: yearly)
            #expect(moved.verdict == .accepted && moved.order == nil)
            let replay = try await claim(
                world, "s1", customer: "bob", try period("s1", until: 365, product: yearly), product: yearly)
            #expect(replay.isReplayed && replay.purchase?.customerID == "bob" && replay.order == nil)
            #expect(try await Audit(database).verify().findings.isEmpty)
            _ = try await claim(
                world, "s1", customer: "bob", try period("s1", until: 365, isCancelled: true, product: yearly),
                product: yearly)
            #expect(try await world.existingOrder(order.id)?.recordedStatus == .refunded)
            #expect(try await world.events(of: "alice").last == .orderRefunded)
            #expect(try await Audit(database).verify().findings.isEmpty)
        }
    }

    @Test("A product that the operator calls something else later keeps its balance", arguments: Engine.allCases)
    func otherKind(engine: Engine) async throws {
        try await engine.withDatabase { database in
            var world = try await LedgerWorld(database)
            let coins = "com.example.app.coins"
            func bought(_ transaction: String, isCancelled: Bool = false) throws -> [UInt8] {
                var template = PurchaseTemplate.consumable(
                    productID: coins, transactionID: transaction, purchaseDate: MintedWorld.moment, quantity: 2)
                if isCancelled { template.cancellationDate = MintedWorld.moment }
                return try LedgerWorld.evidence([template])
            }
            world.app.products[coins] = RegisteredProduct(kind: .nonConsumable)
            _ = try await claim(world, "1", try bought("1"), product: coins)
            for (number, kind) in [("2", ProductKind.consumable), ("3", .nonConsumable), ("4", .consumable)] {
                world.app.products[coins] = RegisteredProduct(kind: kind)
                #expect(try await claim(world, number, try bought(number), product: coins).verdict == .accepted)
                #expect(try await Audit(database).verify().findings.isEmpty, "\(number)")
            }
            let app = world.app
            let sold = try await world.ledger.read { try $0.productsSoldAsAnotherKind(app).map(\.sold) }
            #expect(sold == [.nonConsumable])
            #expect(try await world.entitlement(of: "alice", to: coins)?.balance == 4)
            _ = try await claim(world, "1", try bought("1", isCancelled: true), product: coins)
            #expect(try await world.entitlement(of: "alice", to: coins)?.balance == 4)
            #expect(try await Audit(database).verify().findings.isEmpty)
        }
    }

    @Test(
        "Two passes that are claimed late are worth the same in either order, with one receipt or two",
        arguments: Engine.allCases)
    func latePasses(engine: Engine) async throws {
        for order in [["a", "b"], ["b", "a"]] {
            try await engine.withDatabase { database in
                let world = try await LedgerWorld(database)
                let passes = [("a", 0.0), ("b", 4)].map { id, days in
                    PurchaseTemplate.nonRenewingSubscription(
                        productID: "com.example.app.pass", transactionID: id,
                        purchaseDate: MintedWorld.moment.addingTimeInterval(days * 86_400))
                }
                world.clock.advance(seconds: 32 * 86_400)
                let evidence = try LedgerWorld.evidence(passes)
                for transaction in order {
                    let outcome = try await claim(world, transaction, evidence, product: "com.example.app.pass")
                    #expect(outcome.verdict == .accepted, "\(order) \(transaction)")
                }
                let pass = try await world.entitlement(of: "alice", to: "com.example.app.pass")
                #expect(pass?.until == Timestamp(MintedWorld.moment.addingTimeInterval(60 * 86_400)))
                #expect(try await Audit(database).verify().findings.isEmpty)
            }
        }
    }

    @Test("A refund of an app is none of another app's", arguments: Engine.allCases)
    func apps(engine: Engine) async throws {
        try await engine.withDatabase { database in
            var world = try await LedgerWorld(database)
            _ = try await world.ledger.submit(world.submission(evidence: try receipt(cancelling: [0])))
            world.app.id = "another"
            let other = try await world.ledger.submit(world.submission(evidence: try receipt(cancelling: [])))
            #expect(other.verdict == .accepted)
        }
    }
}
