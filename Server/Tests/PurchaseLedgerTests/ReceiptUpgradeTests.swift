import EvidenceMint
import Foundation
import PurchaseLedger
import PurchaseVerification
import TestSupport
import Testing

/// Cancellations of receipts and of answers of `verifyReceipt` that are upgrades.
@Suite("An upgrade that a receipt reports")
struct ReceiptUpgradeTests {
    var world: LedgerWorld { CurrentWorld.opened() }

    private static func date(_ day: Double) -> Date { MintedWorld.moment.addingTimeInterval(day * 86_400) }

    private static func period(
        _ id: String, _ product: String = LedgerWorld.monthly, original: String = "1", on day: Double,
        cancelled: Double? = nil
    ) -> PurchaseTemplate {
        var period = PurchaseTemplate.subscription(
            productID: product, transactionID: id, originalTransactionID: original, purchaseDate: date(day),
            originalPurchaseDate: date(0), expiresDate: date(day + 30))
        period.webOrderLineItemID = UInt64(id)
        period.cancellationDate = cancelled.map(date)
        return period
    }

    private static func told(_ world: LedgerWorld) async throws -> [String] {
        try await world.events().filter { ["granted", "renewed", "revoked", "reversed", "upgraded"].contains($0) }
    }

    private static let (second, minute) = (1.0 / 86_400, 1.0 / 1440)

    @Test(
        "A receipt with the later product's period of the same original tells an upgrade, to the minute",
        .ledger({ $0.sandboxAccess = .everyone }),
        arguments: [
            (10.0, LedgerWorld.yearly, "1", true), (10 + 59 * second, LedgerWorld.yearly, "1", true),
            (10 - 59 * second, LedgerWorld.yearly, "1", true), (10 + 2 * minute, LedgerWorld.yearly, "1", false),
            (10, LedgerWorld.monthly, "1", false), (10, LedgerWorld.yearly, "2", false),
        ])
    func receipt(start: Double, product: String, original: String, isUpgrade: Bool) async throws {
        world.clock.advance(days: 1)
        let order = try await world.order(product: LedgerWorld.monthly)
        let first = try LedgerWorld.receipt([Self.period("1", on: 1.1)])
        world.clock.advance(days: 1)
        let bought = try await world.claim("1", product: LedgerWorld.monthly, order: order.id, first)
        #expect(bought.code == "accepted")
        world.clock.advance(days: 9)
        let second = try LedgerWorld.receipt([
            Self.period("1", on: 1.1, cancelled: 10), Self.period("2", product, original: original, on: start),
        ])
        try await world.observe(second)
        let told = try await Self.told(world)
        #expect(told.contains("revoked") == !isUpgrade && told.contains("upgraded") == isUpgrade, "\(told)")
        let monthly = try #require(try await world.entitlement(LedgerWorld.monthly, environment: .sandbox))
        if isUpgrade {
            #expect(monthly.state == .upgraded && monthly.reason == .upgraded)
            #expect(try await world.entitlement(LedgerWorld.yearly, environment: .sandbox)?.state == .active)
        }
        #expect(try await world.order(order.id).status == .paid)
        let query = PurchasesOfCustomer(app: "example", customerID: LedgerWorld.customer, limit: 10)
        let purchase = try #require(try await world.ledger.answer(query).entries.first { $0.transactionID == "1" })
        #expect((purchase.withdrawal == nil) == isUpgrade)
        #expect(purchase.upgradedAt == (isUpgrade ? Timestamp(Self.date(10)) : nil))
        let again = try await world.claim("1", product: LedgerWorld.monthly, second)
        #expect(isUpgrade ? again.code == "purchase_upgraded" : again.code != "purchase_upgraded")
    }

    @Test("An answer of verifyReceipt that says is_upgraded tells no revocation; one that does not, tells one")
    func answer() async throws {
        for isUpgrade in [true, false] {
            try await LedgerWorld.with({ ($0.mode, $0.sandboxAccess) = (.both, .everyone) }) { world in
                world.clock.advance(days: 11)
                let claim = try await world.claim(
                    "1", product: LedgerWorld.monthly, try LedgerWorld.receipt([Self.period("1", on: 0)]))
                #expect(claim.code == "accepted")
                let answer = LedgerWorld.agreement {
                    let at = Timestamp(Self.date(10))
                    $0.cancellations = [.init(LedgerWorld.key("1"), at: at, isUpgrade: isUpgrade)]
                }
                try await world.answer(claim.submissionID, answer)
                #expect(try await Self.told(world) == ["granted", isUpgrade ? "upgraded" : "revoked"])
                let entitlement = try #require(try await world.entitlement(LedgerWorld.monthly, environment: .sandbox))
                #expect(entitlement.reason == (isUpgrade ? .upgraded : .cancelled))
            }
        }
    }

    @Test("In the mode apple, a claim of the upgraded period is refused as upgraded")
    func waiting() async throws {
        try await LedgerWorld.with({ ($0.mode, $0.sandboxAccess) = (.apple, .everyone) }) { world in
            world.clock.advance(days: 11)
            let claim = try await world.claim(
                "1", product: LedgerWorld.monthly, try LedgerWorld.receipt([Self.period("1", on: 0)]))
            #expect(claim.code == "app_store_pending")
            let decided = try await world.decision(
                claim.submissionID,
                LedgerWorld.agreement {
                    $0.cancellations = [
                        .init(LedgerWorld.key("1"), at: Timestamp(Self.date(10)), isUpgrade: true)
                    ]
                })
            #expect(decided.code == "purchase_upgraded")
            #expect(try await Self.told(world).contains("revoked") == false)
        }
    }

    @Test("Newer signed data decides, whichever comes first, also about another copy of the period")
    func signedLater() {
        var receipt = TransactionStatement.receipt(
            "1", "monthly", .autoRenewable, on: 0, original: "1", until: 30, cancelled: 10)
        receipt.isUpgraded = true
        func signed(_ id: String, stamp: Double, revoked: Double? = nil, isUpgraded: Bool = false)
            -> TransactionStatement
        {
            var statement = TransactionStatement.signed(
                id, "monthly", .autoRenewable, on: 0, original: "1", until: 30, stamp: stamp, revoked: revoked,
                isUpgraded: isUpgraded)
            statement.lineItemID = "line-1"
            return statement
        }
        let rows: [(TransactionStatement?, NoAccessReason?)] = [
            (nil, .upgraded), (signed("1", stamp: 9), .upgraded), (signed("1", stamp: 11), nil),
            (signed("7", stamp: 11), nil), (signed("1", stamp: 11, isUpgraded: true), .upgraded),
            (signed("1", stamp: 11, revoked: 11), .revoked), (signed("7", stamp: 12, revoked: 12), .revoked),
        ]
        for (other, reason) in rows {
            let statements = [receipt] + [other].compactMap(\.self)
            for order in [statements, statements.reversed()] {
                var story = PurchaseStory()
                story.claim("1", PurchaseStory.alice)
                story.statements = order
                #expect(story.denial(PurchaseStory.alice, "monthly", day: 15) == reason, "\(order)")
                #expect(story.isActive(PurchaseStory.alice, "monthly", day: 5))
                for facts in story.facts.values {
                    #expect((try? ObservedTransaction(key: facts.key, encoded: facts.encoded)) == facts)
                }
            }
        }
        // A cancellation that is later than the upgrade withdraws; within a minute it is the same.
        for (cancelled, reason) in [(12, NoAccessReason.cancelled), (10 + 30.0 / 86_400, .upgraded)] {
            var story = PurchaseStory()
            story.claim("1", PurchaseStory.alice)
            story.statements = [
                receipt,
                .receipt("1", "monthly", .autoRenewable, on: 0, original: "1", until: 30, cancelled: cancelled),
            ]
            #expect(story.denial(PurchaseStory.alice, "monthly", day: 15) == reason, "\(cancelled)")
        }
    }
}
