import EvidenceMint
import Foundation
import PurchaseLedger
import PurchaseVerification
import TestSupport
import Testing

/// Dates, ends, shares and quantities at the edges of their ranges.
@Suite("Purchases at the edges", .ledger)
struct PurchaseEdgeTests {
    let world: LedgerWorld = CurrentWorld.opened()

    private static func day(_ days: Double) -> Date { MintedWorld.moment.addingTimeInterval(3600 + days * 86_400) }

    @Test("C.13 A claim of a period that begins later is accepted, also after a refund of the period before")
    func laterPeriod() async throws {
        let later = try LedgerWorld.period("902", from: 0.9) { $0.signedDate = Self.day(0) }
        let claim = try await world.claim("902", product: LedgerWorld.monthly, later)
        #expect(claim.code == "accepted" && claim.disposition == .granted)
        #expect(try await world.entitlement(LedgerWorld.monthly)?.reason == .notStarted)
        let refunded = try LedgerWorld.period("911", original: "910", from: -1) {
            $0.revocationDate = Self.day(-0.5)
            $0.signedDate = Self.day(0)
        }
        try await world.observe(refunded)
        let next = try LedgerWorld.period("912", original: "910", from: 0.9) { $0.signedDate = Self.day(0) }
        let claimed = try await world.claim("912", product: LedgerWorld.monthly, customer: "bob", next)
        #expect(claimed.code == "accepted" && claimed.disposition == .granted)
    }

    @Test("C.13 A restore decides the same in every order of its pieces")
    func restoreOrder() async throws {
        func pieces() throws -> [[UInt8]] {
            [
                try LedgerWorld.signed("1", product: LedgerWorld.pro),
                try LedgerWorld.signed("1", product: LedgerWorld.pro) {
                    $0.revocationDate = Self.day(0)
                    $0.signedDate = Self.day(0.01)
                },
                try LedgerWorld.period("901", from: 0),
                try LedgerWorld.period("901", from: 0, days: 40) {
                    $0.signedDate = Self.day(0.01)
                },
            ]
        }
        for order in [[0, 1, 2, 3], [1, 0, 3, 2], [3, 2, 1, 0], [2, 0, 3, 1]] {
            try await LedgerWorld.with { world in
                let pieces = try pieces()
                let restore = RestoreSubmission(app: "example", customerID: "alice", evidence: order.map { pieces[$0] })
                let first = try await world.ledger.restore(restore)
                let codes = Dictionary(uniqueKeysWithValues: first.purchases.map { ($0.transactionID, $0) })
                #expect(["purchase_revoked", "purchase_withdrawn"].contains(codes["1"]?.code), "order \(order)")
                #expect(codes["901"]?.code == "accepted", "order \(order)")
                #expect(codes["901"]?.expiresAt == Timestamp(Self.day(40)), "order \(order)")
                let entries = try await world.submissions().count
                #expect(entries == pieces.count)
                let again = try await world.ledger.restore(restore)
                #expect(again.purchases.map(\.code) == first.purchases.map(\.code))
                #expect(try await world.submissions().count == 2 * entries)
            }
        }
    }

    @Test(
        "C.13 A withdrawal or a purchase that is dated after its signature counts from the signature; a period does not"
    )
    func clamping() async throws {
        world.clock.advance(days: 10)
        let revoked = try LedgerWorld.signed("1", product: LedgerWorld.pro) {
            $0.revocationDate = Self.day(900)
            $0.signedDate = Self.day(1)
        }
        #expect(try await world.claim("1", product: LedgerWorld.pro, revoked).code == "purchase_revoked")
        #expect(try await world.entitlement(LedgerWorld.pro)?.state != .active)
        let early = try LedgerWorld.signed("2") {
            ($0.purchaseDate, $0.originalPurchaseDate) = (Self.day(900), Self.day(900))
            $0.signedDate = Self.day(1)
        }
        #expect(try await world.claim("2", early).code == "accepted")
        #expect(try await world.entitlement()?.balance == 1)
        let facts = try await world.ledger.answer(PurchasesOfTransaction(app: "example", transactionID: "2"))
        #expect(facts.first?.purchasedAt == Timestamp(Self.day(1)))
        let period = try LedgerWorld.period("901", from: 900) { $0.signedDate = Self.day(1) }
        #expect(try await world.claim("901", product: LedgerWorld.monthly, period).code == "accepted")
        #expect(try await world.entitlement(LedgerWorld.monthly)?.reason == .notStarted)
    }

    @Test("C.13 The newest signature decides when a period ends, in every order of arrival")
    func ends() async throws {
        let stamps: [(Double, Double)] = [(0, 30), (2, 50), (4, 35)]
        for order in [[0, 1, 2], [2, 1, 0], [1, 2, 0], [2, 0, 1]] {
            try await LedgerWorld.with { world in
                for place in order {
                    try await world.observe(
                        try LedgerWorld.period("901", from: 0, days: stamps[place].1) {
                            $0.signedDate = Self.day(stamps[place].0)
                        })
                }
                // A receipt states no end of a period that is signed.
                let receipt = AppReceiptTemplate.production(
                    bundleID: "com.example.app", creationDate: Self.day(0),
                    purchases: [
                        .subscription(
                            productID: LedgerWorld.monthly, transactionID: "901", originalTransactionID: "900",
                            purchaseDate: Self.day(0), expiresDate: Self.day(99))
                    ])
                try await world.observe(Array(Data(try MintedWorld.mint(receipt)).base64EncodedString().utf8))
                let claim = try await world.claim("901", try LedgerWorld.period("901", from: 0))
                #expect(claim.expiresAt == Timestamp(Self.day(35)), "order \(order)")
            }
        }
    }

    @Test("C.13 A period without an end is period_unknown, and the app tries again")
    func noEnd() async throws {
        let open = try LedgerWorld.period("901", from: 0) { $0.expiresDate = nil }
        let claim = try await world.claim("901", product: LedgerWorld.monthly, open)
        #expect(claim.code == "period_unknown" && claim.disposition == .retry)
        #expect(try await world.entitlement(LedgerWorld.monthly)?.reason == .periodUnknown)
        let known = try await world.claim("901", try LedgerWorld.period("901", from: 0))
        #expect(known.code == "accepted")
    }

    @Test(
        "C.13 A refund of 0 percent withdraws nothing, whatever the kind",
        arguments: [
            (LedgerWorld.coins, SignedTransactionTemplate.ProductType.consumable),
            (LedgerWorld.pro, .nonConsumable), (LedgerWorld.pass, .nonRenewingSubscription),
            (LedgerWorld.monthly, .autoRenewableSubscription),
        ])
    func nothingRefunded(product: String, kind: SignedTransactionTemplate.ProductType) async throws {
        let evidence = try LedgerWorld.signed("1", product: product, kind: kind) {
            $0.revocationDate = Self.day(0)
            $0.revocationPercentage = 0
            if kind == .autoRenewableSubscription { $0.expiresDate = Self.day(30) }
        }
        let claim = try await world.claim("1", product: product, evidence)
        #expect(claim.code == "accepted" && claim.disposition == .granted)
        #expect(try await world.entitlement(product)?.state == .active)
    }

    @Test(
        "C.13 A quantity below 1 or above a billion is claims_malformed", arguments: [0, -1, 1_000_000_001, Int64.min])
    func quantity(_ quantity: Int64) async throws {
        let evidence = try LedgerWorld.signed("1") { $0.quantity = quantity }
        #expect(try await world.claim("1", evidence).code == "claims_malformed")
        #expect(try await world.entitlement() == nil)
        let most = try LedgerWorld.signed("2") { $0.quantity = 1_000_000_000 }
        #expect(try await world.claim("2", most).code == "accepted")
    }
}
