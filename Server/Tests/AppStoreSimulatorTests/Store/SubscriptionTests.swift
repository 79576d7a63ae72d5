import AppStoreSimulator
import Foundation
import Testing

@Suite("A subscription in the store")
struct SubscriptionTests {
    private let app = StoreWorld.app

    private func date(_ text: String) throws -> Date {
        try Date(text, strategy: .iso8601)
    }

    private func told(_ store: AppStore) -> [String] {
        store.events.compactMap { event in
            event.notification.map { [$0.type, $0.subtype].compactMap(\.self).joined(separator: " ") }
        }
    }

    @Test("is renewed each month at its due time and in order when the clock moves a year")
    func aYear() throws {
        var store = try StoreWorld.store(trial: true)
        let first = try store.buy("gold", of: app, by: "ada")
        #expect(first.isTrialPeriod)
        #expect(first.expiresDate == (try date("2026-02-07T12:00:00Z")))
        try store.moveClock(to: try date("2027-01-31T12:00:00Z"))
        let periods = store.transactions
        #expect(periods.count == 13)
        for (period, next) in zip(periods, periods.dropFirst()) {
            #expect(period.expiresDate == next.purchaseDate)
            #expect(next.originalTransactionID == first.transactionID)
        }
        #expect(store.events.map(\.date) == store.events.map(\.date).sorted())
        #expect(told(store) == ["SUBSCRIBED INITIAL_BUY"] + [String](repeating: "DID_RENEW", count: 12))
    }

    @Test("54.8 of a tester with a renewal rate is accelerated, and ends after twelve renewals of each purchase")
    func accelerated() throws {
        for (rate, minutes) in [
            (SandboxRenewalRate.threeMinutes, 3.0), (.fiveMinutes, 5), (.fifteenMinutes, 15), (.thirtyMinutes, 30),
            (.oneHour, 60),
        ] {
            var store = try StoreWorld.store()
            try store.addCustomer("tess", renewalRate: rate)
            let first = try store.buy("gold", of: app, by: "tess")
            #expect(first.expiresDate == first.purchaseDate + minutes * 60)
            try store.moveClock(to: first.purchaseDate + 86_400)
            let subscription = try store.subscription(first.transactionID)
            #expect(store.transactions.count == 13 && subscription.status == .expired)
            #expect(subscription.expiresDate == first.purchaseDate + 13 * minutes * 60)
            #expect(subscription.expirationIntent == 1 && told(store).last == "EXPIRED VOLUNTARY")
            try store.buy("gold", of: app, by: "tess")
            try store.moveClock(to: store.now + 86_400)
            #expect(store.transactions.count == 26)
        }
        var store = try StoreWorld.store(gracePeriodDays: 16)
        #expect(throws: StoreError.self) { try store.addCustomer("p", environment: .production, renewalRate: .oneHour) }
        try store.addCustomer("t", renewalRate: .fiveMinutes)
        let name = try store.buy("gold", of: app, by: "t").transactionID
        try store.setBilling(works: false, for: name)
        let start = store.now
        for (status, minutes) in [
            (StoreSubscription.Status.gracePeriod, 5.0), (.billingRetry, 8), (.expired, 15),
        ] {
            #expect(try store.letFallDue(name).status == status)
            #expect(store.now == start + minutes * 60)
        }
    }

    @Test("of an app with a grace period continues while it cannot be paid, then is in billing retry, then ends")
    func unpaid() throws {
        var store = try StoreWorld.store(gracePeriodDays: 16)
        let name = try store.buy("gold", of: app, by: "ada").transactionID
        try store.setBilling(works: false, for: name)
        try store.letFallDue(name)
        #expect(try store.subscription(name).status == .gracePeriod)
        #expect(try store.subscription(name).isUsable)
        try store.letFallDue(name)
        #expect(try store.subscription(name).status == .billingRetry)
        try store.letFallDue(name)
        #expect(try store.subscription(name).status == .expired)
        #expect(try store.subscription(name).expirationIntent == 2)
        #expect(
            told(store) == [
                "SUBSCRIBED INITIAL_BUY", "DID_FAIL_TO_RENEW GRACE_PERIOD", "GRACE_PERIOD_EXPIRED",
                "EXPIRED BILLING_RETRY",
            ])
        let again = try store.buy("gold", of: app, by: "ada")
        #expect(again.originalTransactionID == name)
        #expect(told(store).last == "SUBSCRIBED RESUBSCRIBE")
    }

    @Test(
        "continues without a gap if it recovers in the grace period, and starts a new period later", arguments: [16, 0])
    func recovery(graceDays: Int) throws {
        var store = try StoreWorld.store(gracePeriodDays: graceDays)
        let name = try store.buy("gold", of: app, by: "ada").transactionID
        try store.setBilling(works: false, for: name)
        let ended = try store.letFallDue(name).expiresDate
        try store.moveClock(to: ended.addingTimeInterval(86_400))
        try store.setBilling(works: true, for: name)
        let present = try store.transaction(try store.subscription(name).transactionID)
        #expect(present.purchaseDate == (graceDays > 0 ? ended : store.now))
        #expect(told(store).last == "DID_RENEW BILLING_RECOVERY")
    }

    @Test("is upgraded at once, and downgraded with the next period")
    func levels() throws {
        var store = try StoreWorld.store()
        let silver = try store.buy("silver", of: app, by: "ada")
        let gold = try store.buy("gold", of: app, by: "ada")
        #expect(gold.originalTransactionID == silver.transactionID)
        #expect(try store.transaction(silver.transactionID).isUpgraded)
        try store.changeProduct(of: silver.transactionID, to: "silver")
        #expect(try store.subscription(silver.transactionID).productID == "gold")
        try store.letFallDue(silver.transactionID)
        #expect(try store.subscription(silver.transactionID).productID == "silver")
        #expect(store.transactions.last?.price == 4990)
        #expect(
            told(store) == [
                "SUBSCRIBED INITIAL_BUY", "DID_CHANGE_RENEWAL_PREF UPGRADE", "DID_CHANGE_RENEWAL_PREF DOWNGRADE",
                "DID_RENEW",
            ])
    }

    @Test("ends if it is cancelled, no longer for sale, or its higher price was not agreed to", arguments: [1, 3, 4])
    func endings(intent: Int) throws {
        var store = try StoreWorld.store()
        let name = try store.buy("gold", of: app, by: "ada").transactionID
        switch intent {
        case 1: try store.setAutoRenewal(false, for: name)
        case 3: try store.changePrice(of: "gold", of: app, to: 12_990, needsConsent: true)
        default: try store.setForSale(false, "gold", of: app)
        }
        try store.letFallDue(name)
        #expect(try store.subscription(name).status == .expired)
        #expect(try store.subscription(name).expirationIntent == intent)
    }

    @Test("costs the higher price after the customer agreed")
    func price() throws {
        var store = try StoreWorld.store()
        let name = try store.buy("gold", of: app, by: "ada").transactionID
        try store.changePrice(of: "gold", of: app, to: 12_990, needsConsent: true)
        try store.acceptPrice(of: name)
        try store.letFallDue(name)
        #expect(store.transactions.map(\.price) == [9990, 12_990])
        #expect(told(store).contains("PRICE_INCREASE PENDING"))
        #expect(told(store).contains("PRICE_INCREASE ACCEPTED"))
    }

    @Test("is renewed for family members as well, and ends for them at the same time")
    func family() throws {
        var store = try StoreWorld.store()
        let name = try store.buy("gold", of: app, by: "ada").transactionID
        let shared = try store.share(name, with: "grace")
        try store.letFallDue(name)
        let follower = try store.subscription(shared.transactionID)
        #expect(follower.expiresDate == (try store.subscription(name).expiresDate))
        #expect(try store.transaction(follower.transactionID).ownership == .familyShared)
        try store.refund(try store.subscription(name).transactionID)
        #expect(try store.subscription(name).status == .revoked)
        #expect(try store.subscription(shared.transactionID).status == .revoked)
    }

    @Test("whose payment fails is in billing retry for family members as well")
    func familyInGrace() throws {
        var store = try StoreWorld.store(gracePeriodDays: 16)
        let name = try store.buy("gold", of: app, by: "ada").transactionID
        let shared = try store.share(name, with: "grace").transactionID
        try store.setBilling(works: false, for: name)
        let graceEnd = try store.letFallDue(name).gracePeriodExpiresDate
        #expect(try store.subscription(shared).gracePeriodExpiresDate == graceEnd)
        try store.addCustomer("lin", environment: .production)
        let sharedInGrace = try store.share(name, with: "lin").transactionID
        #expect(try store.subscription(sharedInGrace).gracePeriodExpiresDate == graceEnd)
        let copy = try #require(try store.restore(app, for: "lin").first).transactionID
        try store.revokeSharing(of: sharedInGrace)
        #expect(try store.transaction(copy).revocation?.kind == .familySharing)
        #expect(try store.subscription(sharedInGrace).status == .revoked)
        try store.letFallDue(name)
        let toldGrace = store.events.filter { $0.customerID == "grace" }.compactMap { $0.notification?.type }
        #expect(toldGrace == ["SUBSCRIBED", "DID_FAIL_TO_RENEW", "GRACE_PERIOD_EXPIRED"])
    }

    @Test("that is refunded continues if the refund is reversed in time")
    func reversal() throws {
        var store = try StoreWorld.store()
        let name = try store.buy("gold", of: app, by: "ada").transactionID
        try store.refund(name)
        #expect(try store.subscription(name).status == .revoked)
        try store.reverseRefund(of: name)
        #expect(try store.subscription(name).status == .active)
    }

    @Test("that was refunded in its grace period returns to it when the refund is reversed")
    func reversalInGrace() throws {
        var store = try StoreWorld.store(gracePeriodDays: 16)
        let name = try store.buy("gold", of: app, by: "ada").transactionID
        try store.setBilling(works: false, for: name)
        let graceEnd = try store.letFallDue(name).gracePeriodExpiresDate
        try store.refund(name)
        #expect(try store.subscription(name).gracePeriodExpiresDate == nil)
        try store.reverseRefund(of: name)
        #expect(try store.subscription(name).status == .gracePeriod)
        #expect(try store.subscription(name).gracePeriodExpiresDate == graceEnd)
    }

    @Test("is extended by the developer, with its copies and for family members, and is renewed at the new end")
    func outage() throws {
        var store = try StoreWorld.store()
        let name = try store.buy("gold", of: app, by: "ada").transactionID
        let shared = try store.share(name, with: "grace").transactionID
        let copy = try #require(try store.restore(app, for: "ada").first).transactionID
        let end = try store.subscription(name).expiresDate.addingTimeInterval(30 * 86_400)
        try store.extendRenewal(of: name, days: 30)
        for transaction in [name, copy, shared] {
            #expect(try store.transaction(transaction).expiresDate == end)
        }
        #expect(told(store).suffix(2) == ["RENEWAL_EXTENDED", "RENEWAL_EXTENDED"])
        #expect(throws: StoreError.self) { try store.extendRenewal(of: name, days: 91) }
        #expect(throws: StoreError.self) { try store.extendRenewal(of: shared, days: 30) }
        try store.letFallDue(name)
        #expect(store.now == end)
        #expect(try store.transaction(try store.subscription(name).transactionID).purchaseDate == end)
        try store.setAutoRenewal(false, for: name)
        try store.letFallDue(name)
        #expect(throws: StoreError.self) { try store.extendRenewal(of: name, days: 30) }
    }

    @Test("with an offer has the offer's price for the offer's number of periods")
    func offers() throws {
        var store = AppStore(startingAt: StoreWorld.start)
        try store.addApp(bundleID: app)
        let month = try #require(StorePeriod("P1M"))
        let offers = [
            StoreOffer(offerID: "go", kind: .introductory, mode: .payAsYouGo, period: month, periods: 2, price: 990),
            StoreOffer(offerID: "back", kind: .promotional, mode: .payUpFront, period: month, periods: 3, price: 5990),
        ]
        try store.addProduct(
            bundleID: app, productID: "gold", kind: .autoRenewable, price: 9990,
            subscription: StoreProduct.Terms(groupID: "club", period: month, offers: offers))
        try store.addCustomer("ada")
        let back = AppStore.PurchaseOptions(offerID: "back")
        #expect(throws: StoreError.self) { try store.buy("gold", of: app, by: "ada", options: back) }
        let name = try store.buy("gold", of: app, by: "ada").transactionID
        try store.letFallDue(name)
        try store.letFallDue(name)
        #expect(store.transactions.map(\.price) == [990, 990, 9990])
        #expect(store.transactions.map(\.isInIntroOfferPeriod) == [true, true, false])
        try store.setAutoRenewal(false, for: name)
        try store.letFallDue(name)
        let upFront = try store.buy("gold", of: app, by: "ada", options: back)
        #expect(upFront.price == 5990)
        #expect(upFront.expiresDate == month.end(from: upFront.purchaseDate, periods: 3))
    }
}
