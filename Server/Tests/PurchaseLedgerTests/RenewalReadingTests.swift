import EvidenceMint
import Foundation
import PurchaseLedger
import PurchaseVerification
import TestSupport
import Testing

@Suite("Renewal info of an entitlement")
struct RenewalReadingTests {
    /// Renewal info of the subscription, signed on a day.
    private static func renewal(
        on day: Double, product: String = LedgerWorld.monthly, _ change: (inout RenewalInfoTemplate) -> Void = { _ in }
    ) throws -> [UInt8] {
        let period = LedgerWorld.template("901", product: product, kind: .autoRenewableSubscription) {
            $0.originalTransactionID = "900"
        }
        var template = RenewalInfoTemplate(transaction: period)
        template.signedDate = MintedWorld.moment.addingTimeInterval(3600 + day * 86_400)
        template.renewalDate = MintedWorld.moment.addingTimeInterval(3600 + 30 * 86_400)
        change(&template)
        return try MintedWorld.mint(template)
    }

    private static func day(_ day: Double) -> Timestamp {
        Timestamp(MintedWorld.moment.addingTimeInterval(3600 + day * 86_400))
    }

    @Test("3 An entitlement shows the renewal as it was signed, in the answers to claims, restores and queries")
    func everyAnswer() async throws {
        try await LedgerWorld.with { world in
            try await world.observe(
                try Self.renewal(on: 0.1) {
                    $0.autoRenewStatus = 0
                    $0.autoRenewProductID = LedgerWorld.yearly
                    $0.renewalPrice = 4990
                    $0.currency = "EUR"
                    $0.priceIncreaseStatus = 0
                    $0.offerType = 2
                    $0.offerIdentifier = "spring"
                })
            world.clock.advance(days: 1)
            let period = try LedgerWorld.period("901", from: 0)
            for _ in 0..<2 {
                let claimed = try await world.claim("901", product: LedgerWorld.monthly, period)
                let renewal = try #require(claimed.entitlement?.renewal)
                #expect(renewal.stamp == Self.day(0.1))
                #expect(renewal.info.autoRenewStatus == 0 && renewal.info.renewalDate == Self.day(30))
                #expect(renewal.info.nextProductID?.string == LedgerWorld.yearly)
                #expect(renewal.info.renewalPrice?.milliunits == 4990 && renewal.info.priceIncreaseStatus == 0)
                #expect(renewal.info.offer?.identifier?.string == "spring")
                let restored = try await world.ledger.restore(
                    RestoreSubmission(app: "example", customerID: LedgerWorld.customer, evidence: [period]))
                #expect(restored.entitlements.map(\.renewal) == [renewal])
                #expect(try await world.entitlement(LedgerWorld.monthly)?.renewal == renewal)
                #expect(try await world.entitlement(LedgerWorld.monthly, at: Self.day(0.5))?.renewal == renewal)
            }
        }
    }

    @Test("3 Without signed renewal info, and for every other product, an entitlement shows none")
    func nothingSigned() async throws {
        try await LedgerWorld.with { world in
            world.clock.advance(days: 1)
            let claimed = try await world.claim(
                "901", product: LedgerWorld.monthly, try LedgerWorld.period("901", from: 0))
            #expect(claimed.entitlement?.state == .active && claimed.entitlement?.renewal == nil)
            let pro = try await world.claim(
                "2", product: LedgerWorld.pro,
                try LedgerWorld.signed("2", product: LedgerWorld.pro, kind: .nonConsumable))
            #expect(pro.entitlement?.state == .active && pro.entitlement?.renewal == nil)
            #expect(try await world.entitlement(LedgerWorld.monthly)?.renewal == nil)
        }
    }

    @Test("3 Renewal info is shown with the period that it is about, and never with a later one or another product")
    func aboutItsPeriod() async throws {
        try await LedgerWorld.with { world in
            world.clock.advance(days: 1)
            _ = try await world.claim("901", product: LedgerWorld.monthly, try LedgerWorld.period("901", from: 0))
            try await world.observe(try Self.renewal(on: 0.5) { $0.autoRenewStatus = 1 })
            try await world.observe(try Self.renewal(on: 0.7) { $0.autoRenewStatus = 0 })
            #expect(try await world.entitlement(LedgerWorld.monthly)?.renewal?.info.autoRenewStatus == 0)
            // The App Store signs the next period before it begins: the present one still counts.
            world.clock.advance(days: 28)
            try await world.observe(
                try LedgerWorld.period("902", from: 30) {
                    $0.signedDate = MintedWorld.moment.addingTimeInterval(3600 + 28.9 * 86_400)
                })
            #expect(try await world.entitlement(LedgerWorld.monthly)?.renewal?.info.autoRenewStatus == 0)
            // The next period: nothing is signed about what follows it.
            world.clock.advance(days: 3)
            #expect(try await world.entitlement(LedgerWorld.monthly)?.renewal == nil)
            #expect(
                try await world.entitlement(LedgerWorld.monthly, at: Self.day(10))?.renewal?.info.autoRenewStatus == 0)
            // A payment fails.
            world.clock.advance(days: 30)
            try await world.observe(
                try Self.renewal(on: 60.1) {
                    $0.isInBillingRetryPeriod = true
                    $0.gracePeriodExpiresDate = MintedWorld.moment.addingTimeInterval(3600 + 67 * 86_400)
                })
            let inGrace = try #require(try await world.entitlement(LedgerWorld.monthly))
            #expect(inGrace.state == .active && inGrace.reason == .inGrace)
            #expect(inGrace.renewal?.info.graceEnd == Self.day(67) && inGrace.renewal?.info.isInBillingRetry == true)
            // Another product takes its place.
            world.clock.advance(days: 3)
            try await world.observe(try LedgerWorld.period("903", product: LedgerWorld.yearly, from: 63, days: 365))
            try await world.observe(
                try Self.renewal(on: 63.5, product: LedgerWorld.yearly) { $0.autoRenewStatus = 1 })
            #expect(try await world.entitlement(LedgerWorld.yearly)?.renewal?.stamp == Self.day(63.5))
            let former = try #require(try await world.entitlement(LedgerWorld.monthly))
            #expect(former.state != .active && former.renewal?.stamp != Self.day(63.5))
        }
    }

    @Test("3 Another customer's renewal is not shown")
    func otherCustomer() async throws {
        try await LedgerWorld.with({ $0.transfer = .move }) { world in
            world.clock.advance(days: 1)
            let period = try LedgerWorld.period("901", from: 0)
            _ = try await world.claim("901", product: LedgerWorld.monthly, period)
            try await world.observe(try Self.renewal(on: 0.5))
            let moved = try await world.claim("901", product: LedgerWorld.monthly, customer: "bob", period)
            #expect(moved.entitlement?.renewal != nil)
            let former = try #require(try await world.entitlement(LedgerWorld.monthly))
            #expect(former.state == .moved && former.renewal == nil)
        }
    }
}
