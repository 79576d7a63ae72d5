import EvidenceMint
import Foundation
import PurchaseLedger
import PurchaseVerification
import TestSupport
import Testing

@Suite("Renewal info of an entitlement", .ledger)
struct RenewalReadingTests {
    let world: LedgerWorld = CurrentWorld.opened()

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
            let restored = try await world.restore(of: LedgerWorld.customer, [period])
            #expect(restored.entitlements.map(\.renewal) == [renewal])
            #expect(try await world.entitlement(LedgerWorld.monthly)?.renewal == renewal)
            #expect(try await world.entitlement(LedgerWorld.monthly, at: Self.day(0.5))?.renewal == renewal)
        }
    }

    @Test("3 Without signed renewal info, and for every other product, an entitlement shows none")
    func nothingSigned() async throws {
        world.clock.advance(days: 1)
        let claimed = try await world.claim("901", try LedgerWorld.period("901", from: 0))
        #expect(claimed.entitlement?.state == .active && claimed.entitlement?.renewal == nil)
        let pro = try await world.claim("2", try LedgerWorld.signed("2", product: LedgerWorld.pro))
        #expect(pro.entitlement?.state == .active && pro.entitlement?.renewal == nil)
        #expect(try await world.entitlement(LedgerWorld.monthly)?.renewal == nil)
    }

    @Test("3 Renewal info is shown with the period that it is about, and never with a later one or another product")
    func aboutItsPeriod() async throws {
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
        #expect(try await world.entitlement(LedgerWorld.monthly, at: Self.day(10))?.renewal?.info.autoRenewStatus == 0)
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
        try await world.observe(try Self.renewal(on: 63.5, product: LedgerWorld.yearly) { $0.autoRenewStatus = 1 })
        #expect(try await world.entitlement(LedgerWorld.yearly)?.renewal?.stamp == Self.day(63.5))
        let former = try #require(try await world.entitlement(LedgerWorld.monthly))
        #expect(former.state != .active && former.renewal?.stamp != Self.day(63.5))
    }

    @Test("3 Another customer's renewal is not shown", .ledger({ $0.transfer = .move }))
    func otherCustomer() async throws {
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

@Suite("Signed data of purchases and entitlements", .ledger)
struct SignedDataReadingTests {
    let world: LedgerWorld = CurrentWorld.opened()

    private static func date(_ day: Double) -> Date { MintedWorld.moment.addingTimeInterval(3600 + day * 86_400) }

    private static func renewal(on day: Double, status: Int64) throws -> [UInt8] {
        let period = LedgerWorld.template("901", product: LedgerWorld.monthly) {
            $0.originalTransactionID = "900"
        }
        var template = RenewalInfoTemplate(transaction: period)
        (template.signedDate, template.autoRenewStatus) = (date(day), status)
        return try MintedWorld.mint(template)
    }

    @Test("28.2 Each purchase of a subscription shows the renewal info about its own period")
    func purchases() async throws {
        for (number, start) in [("901", 0.0), ("902", 30), ("903", 60)] {
            _ = try await world.claim(number, try LedgerWorld.period(number, from: start))
        }
        _ = try await world.claim("1", try LedgerWorld.signed("1"))
        for (number, start, day, status) in [("901", 0.0, 10.0, Int64(0)), ("902", 30, 40, 1)] {
            let period = LedgerWorld.template(
                number, product: LedgerWorld.monthly
            ) {
                $0.originalTransactionID = "900"
                ($0.purchaseDate, $0.expiresDate) = (Self.date(start), Self.date(start + 30))
                $0.signedDate = Self.date(day)
            }
            var renewal = RenewalInfoTemplate(transaction: period)
            renewal.autoRenewStatus = status
            try await world.observe(
                try NotificationTests.notification("DID_CHANGE_RENEWAL_STATUS", period) {
                    $0.data?.renewalInfo = renewal
                })
        }
        world.clock.advance(days: 70)
        let page = try await world.ledger.answer(
            PurchasesOfCustomer(app: "example", customerID: LedgerWorld.customer, limit: 10))
        let renewals = Dictionary(uniqueKeysWithValues: page.entries.map { ($0.transactionID, $0.renewal) })
        #expect(renewals["901"]??.info.autoRenewStatus == 0 && renewals["902"]??.info.autoRenewStatus == 1)
        #expect(renewals["903"] == .some(nil) && renewals["1"] == .some(nil))
        let one = try await world.ledger.answer(PurchasesOfTransaction(app: "example", transactionID: "902"))
        #expect(one.first?.renewal == renewals["902"] ?? nil)
    }

    @Test("28.2 An entitlement says when it was last confirmed and why it was revoked, only as far as that is signed")
    func confirmation() async throws {
        world.clock.advance(days: 5)
        _ = try await world.claim("901", product: LedgerWorld.monthly, try LedgerWorld.period("901", from: 0))
        #expect(try await world.entitlement(LedgerWorld.monthly)?.lastConfirmedAt == Timestamp(Self.date(0)))
        try await world.observe(try Self.renewal(on: 3, status: 1))
        let confirmed = try await world.entitlement(LedgerWorld.monthly)
        #expect(confirmed?.lastConfirmedAt == Timestamp(Self.date(3)) && confirmed?.cancelReason == nil)
        for (reason, day) in [(Int64?.some(1), 4.0), (0, 4.1), (nil, 4.2)] {
            try await world.observe(
                try LedgerWorld.period("901", from: 0) {
                    ($0.signedDate, $0.revocationDate) = (Self.date(day), Self.date(4))
                    $0.revocationReason = reason.map { Int64($0) }
                })
            let revoked = try await world.entitlement(LedgerWorld.monthly)
            #expect(revoked?.state == .withdrawn && revoked?.cancelReason == reason)
            #expect(revoked?.lastConfirmedAt == Timestamp(Self.date(day)))
        }
        // A non-consumable shows only the reason.
        func pro(revoked: Bool) throws -> [UInt8] {
            try LedgerWorld.signed("2", product: LedgerWorld.pro) {
                guard revoked else { return }
                ($0.revocationDate, $0.revocationReason) = (Self.date(1), 1)
                $0.signedDate = Self.date(1)
            }
        }
        _ = try await world.claim("2", product: LedgerWorld.pro, try pro(revoked: false))
        let owned = try await world.entitlement(LedgerWorld.pro)
        #expect(owned?.lastConfirmedAt == nil && owned?.cancelReason == nil)
        try await world.observe(try pro(revoked: true))
        #expect(try await world.entitlement(LedgerWorld.pro)?.cancelReason == 1)
    }
}
