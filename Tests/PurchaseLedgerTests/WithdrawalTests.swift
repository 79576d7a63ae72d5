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
