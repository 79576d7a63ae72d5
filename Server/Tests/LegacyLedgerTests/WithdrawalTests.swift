import EvidenceMint
import Foundation
import LegacyLedger
import PurchaseVerification
import TestSupport
import Testing

/// What the App Store took back is never granted, and taken from whoever has it, whatever comes first.
@Suite("Withdrawals")
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

    @Test("A refund that follows an upgrade refunds the order, too, whichever comes first", arguments: Engine.allCases)
    func refundAfterUpgrade(engine: Engine) async throws {
        try await engine.withDatabase { database in
            let world = try await LedgerWorld(database)
            let order = try await world.order(product: "com.example.app.monthly", quantity: 1)
            func signed(_ change: (inout SignedTransactionTemplate) -> Void = { _ in }) throws -> [UInt8] {
                try LedgerWorld.signed(2, change)
            }
            let paid = try await world.claim("2000000000000004", order: order.id, try signed())
            #expect(paid.order?.recordedStatus == .paid)
            let upgraded = try await world.claim("2000000000000004", try signed { $0.isUpgraded = true })
            #expect(upgraded.code == "purchase_upgraded")
            // A receipt has a cancellation date for it, which is no refund.
            var cancelled = MintedWorld.purchases()
            cancelled[2].cancellationDate = MintedWorld.moment
            let receipt = try await world.claim("2000000000000004", try LedgerWorld.evidence(cancelled))
            #expect(receipt.code == "purchase_cancelled")
            #expect(try await world.existingOrder(order.id)?.recordedStatus == .paid)
            let revoked = try signed { $0.revocationDate = MintedWorld.moment }
            for _ in 0..<2 {
                #expect(try await world.claim("2000000000000004", revoked).code == "purchase_revoked")
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
            _ = try await world.claim("s0", try LedgerWorld.period("s0", until: 30))
            _ = try await world.claim("s0", try LedgerWorld.period("s0", until: 30, isCancelled: true))
            let paid = try await world.claim(
                "s1", order: order.id, try LedgerWorld.period("s1", until: 365, product: yearly), product: yearly)
            #expect(paid.order?.id == order.id)
            let restored = try LedgerWorld.period("s2", until: 365, product: yearly)
            let moved = try await world.claim("s2", customer: "bob", restored, product: yearly)
            #expect(moved.verdict == .accepted && moved.order == nil)
            let replay = try await world.claim(
                "s1", customer: "bob", try LedgerWorld.period("s1", until: 365, product: yearly), product: yearly)
            #expect(replay.isReplayed && replay.purchase?.customerID == "bob" && replay.order == nil)
            #expect(try await Audit(database).verify().findings.isEmpty)
            _ = try await world.claim(
                "s1", customer: "bob", try LedgerWorld.period("s1", until: 365, isCancelled: true, product: yearly),
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
            _ = try await world.claim("1", try bought("1"), product: coins)
            for (number, kind) in [("2", ProductKind.consumable), ("3", .nonConsumable), ("4", .consumable)] {
                world.app.products[coins] = RegisteredProduct(kind: kind)
                #expect(try await world.claim(number, try bought(number), product: coins).verdict == .accepted)
                #expect(try await Audit(database).verify().findings.isEmpty, "\(number)")
            }
            let app = world.app
            let sold = try await world.ledger.read { try $0.productsSoldAsAnotherKind(app).map(\.sold) }
            #expect(sold == [.nonConsumable])
            #expect(try await world.entitlement(of: "alice", to: coins)?.balance == 4)
            _ = try await world.claim("1", try bought("1", isCancelled: true), product: coins)
            #expect(try await world.entitlement(of: "alice", to: coins)?.balance == 4)
            #expect(try await Audit(database).verify().findings.isEmpty)
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
