import EvidenceMint
import Foundation
import LegacyLedger
import PurchaseVerification
import TestSupport
import Testing

/// What a period or a pass is worth: its copies, its end, and what follows it.
@Suite("Paid time")
struct PeriodTests {
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
            let first = try await world.claim("s0", order: orders[0].id, try LedgerWorld.period("s0", until: 30))
            #expect(first.verdict == .accepted)
            let copy = try await world.claim("copy", try LedgerWorld.period("copy", until: 30))
            #expect(copy.purchase?.kind == .restored)
            #expect(try await world.claim("s0", try LedgerWorld.period("s0", until: 40)).isReplayed)
            for (transaction, days) in [("older", 30.0), ("newer", 40)] {
                let second = try await world.claim(
                    transaction, order: orders[1].id, try LedgerWorld.period(transaction, until: days))
                #expect(second.code == "already_claimed", "a copy pays no order")
            }
            let refund = try await world.claim(
                "s0", customer: "mallory", try LedgerWorld.period("s0", until: 40, isCancelled: true))
            #expect(refund.code == "purchase_cancelled")
            let monthly = try await world.entitlement(of: "alice", to: "com.example.app.monthly")
            #expect(monthly?.state(at: world.clock.now) == .withdrawn)
            for (transaction, days) in [("older", 30.0), ("newer", 40), ("copy", 30)] {
                let again = try await world.claim(transaction, try LedgerWorld.period(transaction, until: days))
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
            #expect(
                try await world.claim("s0", order: orders[0].id, try LedgerWorld.period("s0", until: 30, lineItem: 77))
                    .verdict == .accepted)
            let copy = try await world.claim(
                "copy", order: orders[1].id, try LedgerWorld.period("copy", until: 33, lineItem: 77))
            #expect(copy.code == "already_claimed")
            let restored = try await world.claim("copy", try LedgerWorld.period("copy", until: 33, lineItem: 77))
            #expect(restored.purchase?.kind == .restored)
            _ = try await world.claim("s0", try LedgerWorld.period("s0", until: 40, isCancelled: true, lineItem: 77))
            let monthly = try await world.entitlement(of: "alice", to: "com.example.app.monthly")
            #expect(monthly?.state(at: world.clock.now) == .withdrawn)
            for (transaction, days) in [("s0", 30.0), ("copy", 33), ("other", 50)] {
                let again = try await world.claim(
                    transaction, try LedgerWorld.period(transaction, until: days, lineItem: 77))
                #expect(again.code == "purchase_withdrawn")
            }
            #expect(try await Audit(database).verify().findings.isEmpty)
        }
    }

    @Test(
        "A pass that is over is not prolonged by one that was taken back, or that somebody else has",
        arguments: Engine.allCases)
    func strangePasses(engine: Engine) async throws {
        for isWithdrawn in [true, false] {
            try await engine.withDatabase { database in
                let world = try await LedgerWorld(database)
                let passes = [("a", 0.0), ("b", 4)].map { id, days in
                    PurchaseTemplate.nonRenewingSubscription(
                        productID: "com.example.app.pass", transactionID: id,
                        purchaseDate: MintedWorld.moment.addingTimeInterval(days * 86_400))
                }
                let evidence = try LedgerWorld.evidence(passes)
                if isWithdrawn {
                    var refunded = passes[0]
                    refunded.cancellationDate = MintedWorld.moment
                    let refund = try await world.claim(
                        "a", try LedgerWorld.evidence([refunded]), product: "com.example.app.pass")
                    #expect(refund.code == "purchase_cancelled")
                } else {
                    let other = try await world.claim("a", customer: "bob", evidence, product: "com.example.app.pass")
                    #expect(other.verdict == .accepted)
                }
                world.clock.advance(seconds: 40 * 86_400)
                let late = try await world.claim("b", evidence, product: "com.example.app.pass")
                #expect(late.code == "subscription_expired", "\(isWithdrawn)")
            }
        }
    }

    @Test(
        "A period whose end differs by less than a second is the same, and not made longer", arguments: Engine.allCases)
    func milliseconds(engine: Engine) async throws {
        try await engine.withDatabase { database in
            let world = try await LedgerWorld(database)
            let monthly = "com.example.app.monthly"
            let end = try #require(MintedWorld.purchases()[2].expiresDate)
            _ = try await world.claim("2000000000000004", try LedgerWorld.evidence())
            let signed = try LedgerWorld.signed(2) { $0.expiresDate = end.addingTimeInterval(0.75) }
            let again = try await world.claim("2000000000000004", signed)
            #expect(again.isReplayed && again.verdict == .accepted)
            let entitlement = try await world.entitlement(of: "alice", to: monthly)
            #expect(entitlement?.until == Timestamp(end) && entitlement?.reason == "bought")
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
                    let outcome = try await world.claim(transaction, evidence, product: "com.example.app.pass")
                    #expect(outcome.verdict == .accepted, "\(order) \(transaction)")
                }
                let pass = try await world.entitlement(of: "alice", to: "com.example.app.pass")
                #expect(pass?.until == Timestamp(MintedWorld.moment.addingTimeInterval(60 * 86_400)))
                #expect(try await Audit(database).verify().findings.isEmpty)
            }
        }
    }
}
