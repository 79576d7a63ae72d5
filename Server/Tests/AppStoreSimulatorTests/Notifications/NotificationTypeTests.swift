import AppStoreSimulator
import EvidenceMint
import Foundation
import PurchaseVerification
import ServerTestSupport
import Testing

@Suite("28.4 Every type of notification can be caused")
struct NotificationTypeTests {
    /// The types and subtypes that a server must expect.
    private static let all: Set<String> = [
        "SUBSCRIBED INITIAL_BUY", "SUBSCRIBED RESUBSCRIBE", "DID_CHANGE_RENEWAL_PREF",
        "DID_CHANGE_RENEWAL_PREF UPGRADE",
        "DID_CHANGE_RENEWAL_PREF DOWNGRADE", "DID_CHANGE_RENEWAL_STATUS AUTO_RENEW_ENABLED",
        "DID_CHANGE_RENEWAL_STATUS AUTO_RENEW_DISABLED",
        "DID_RENEW", "DID_RENEW BILLING_RECOVERY", "EXPIRED VOLUNTARY", "EXPIRED BILLING_RETRY",
        "EXPIRED PRICE_INCREASE", "EXPIRED PRODUCT_NOT_FOR_SALE", "DID_FAIL_TO_RENEW", "DID_FAIL_TO_RENEW GRACE_PERIOD",
        "GRACE_PERIOD_EXPIRED", "PRICE_INCREASE PENDING", "PRICE_INCREASE ACCEPTED", "REFUND", "REFUND SEATS",
        "REFUND_DECLINED", "REFUND_REVERSED", "CONSUMPTION_REQUEST", "RENEWAL_EXTENDED", "RENEWAL_EXTENSION SUMMARY",
        "RENEWAL_EXTENSION FAILURE", "REVOKE", "ONE_TIME_CHARGE",
    ]
    /// Those that only a tester sends.
    private static let byHand = [
        "TEST", "EXTERNAL_PURCHASE_TOKEN UNREPORTED", "EXTERNAL_PURCHASE_TOKEN CREATED",
        "EXTERNAL_PURCHASE_TOKEN ACTIVE_TOKEN_REMINDER", "RESCIND_CONSENT", "METADATA_UPDATE", "MIGRATION", "MIGRATE",
        "PRICE_CHANGE", "UNCLAIM_SEATS", "DID_CHANGE_RENEWAL_PREF INCREASE_QUANTITY",
        "DID_CHANGE_RENEWAL_PREF DECREASE_QUANTITY", "OFFER_REDEEMED INITIAL_BUY",
        "OFFER_REDEEMED RESUBSCRIBE", "OFFER_REDEEMED UPGRADE", "OFFER_REDEEMED DOWNGRADE",
        "OFFER_REDEEMED", "EXPIRED", "SOMETHING_NEW SOMETIMES",
    ]

    private static func words(_ event: StoreEvent) -> String? {
        event.notification.map { [$0.type, $0.subtype].compactMap(\.self).joined(separator: " ") }
    }

    /// A store with a life that causes all of them.
    private static func life() throws -> AppStore {
        let app = StoreWorld.app
        var store = AppStore(startingAt: StoreWorld.start)
        try store.addApp(bundleID: app, gracePeriodDays: 3, environmentNames: .apple)
        try store.addApp(bundleID: "com.example.strict", environmentNames: .apple)
        let month = try #require(StorePeriod("P1M"))
        let offer = StoreOffer(offerID: "back", kind: .offerCode, mode: .payAsYouGo, period: month, price: 100)
        for (index, product) in ["gold", "silver", "bronze"].enumerated() {
            for bundleID in [app, "com.example.strict"] {
                try store.addProduct(
                    bundleID: bundleID, productID: product, kind: .autoRenewable, price: 5000, isFamilyShareable: true,
                    subscription: .init(groupID: "club", level: index + 1, period: month, offers: [offer]))
            }
        }
        try store.addProduct(bundleID: app, productID: "coins", kind: .consumable)
        try store.addProduct(
            bundleID: app, productID: "team", kind: .autoRenewable,
            subscription: .init(groupID: "teams", period: month, invitations: .developer))
        for customer in ["ada", "bea", "cia", "dea", "eva"] {
            try store.addCustomer(customer, environment: .production)
        }
        func buy(_ product: String, _ customer: String, _ offer: String? = nil, of bundleID: String = app) throws
            -> String
        {
            try store.buy(product, of: bundleID, by: customer, options: .init(offerID: offer)).originalTransactionID
        }
        let coins = try buy("coins", "ada")
        try store.askForRefund(of: coins)
        try store.declineRefund(of: coins)
        try store.refund(coins)
        try store.reverseRefund(of: coins)
        let ada = try buy("silver", "ada")
        try store.revokeSharing(of: try store.share(ada, with: "bea").transactionID)
        try store.setAutoRenewal(false, for: ada)
        try store.setAutoRenewal(true, for: ada)
        try store.changeProduct(of: ada, to: "bronze")
        try store.changeProduct(of: ada, to: "silver")
        try store.changeProduct(of: ada, to: "gold")
        try store.letFallDue(ada)
        // The grace period, recovery; then grace and retry to the end.
        try store.setBilling(works: false, for: ada)
        try store.letFallDue(ada)
        try store.extendRenewals(of: "gold", of: app, days: 3)
        try store.setBilling(works: true, for: ada)
        try store.extendRenewals(of: "gold", of: app, days: 3)
        try store.setBilling(works: false, for: ada)
        for _ in 1...3 { try store.letFallDue(ada) }
        _ = try buy("gold", "ada")
        // No grace period; a cancelled one, and one with an offer.
        let bea = try buy("gold", "bea", of: "com.example.strict")
        try store.setBilling(works: false, for: bea)
        try store.letFallDue(bea)
        let cia = try buy("gold", "cia", "back")
        try store.setAutoRenewal(false, for: cia)
        try store.letFallDue(cia)
        _ = try buy("gold", "cia", "back")
        let dea = try buy("silver", "dea")
        try store.changePrice(of: "silver", of: app, to: 6000, needsConsent: true)
        try store.letFallDue(dea)
        let eva = try buy("bronze", "eva")
        try store.changePrice(of: "bronze", of: app, to: 7000, needsConsent: true)
        try store.acceptPrice(of: eva)
        try store.setForSale(false, "bronze", of: app)
        try store.letFallDue(eva)
        let team = try store.buy("team", of: app, by: "ada", options: .init(quantity: 5))
        try store.refundSeats(2, of: team.transactionID)
        return store
    }

    @Test("28.4 A life of the store causes every type and subtype that belongs to an act")
    func acts() throws {
        let caused = Set(try Self.life().events.compactMap(Self.words))
        #expect(Self.all.subtracting(caused).isEmpty, "missing: \(Self.all.subtracting(caused).sorted())")
        #expect(caused.subtracting(Self.all).isEmpty, "further: \(caused.subtracting(Self.all).sorted())")
    }

    @Test("28.4 Every type and subtype can be sent by hand, and all notifications verify with their parts")
    func byHand() throws {
        var store = try Self.life()
        let gold = try #require(store.transactions.last { $0.productID == "gold" && $0.customerID == "cia" })
        for words in Self.byHand + Self.all.sorted() {
            let parts = words.split(separator: " ").map(String.init)
            var request = NotificationRequest(
                type: parts[0], subtype: parts.count > 1 ? parts[1] : nil, bundleID: StoreWorld.app)
            if parts[0] == "UNCLAIM_SEATS" { request.seatIDs = [UUID().uuidString, UUID().uuidString] }
            if !["TEST", "EXTERNAL_PURCHASE_TOKEN", "UNCLAIM_SEATS", "SOMETHING_NEW"].contains(parts[0]) {
                request.transactionID = gold.transactionID
            }
            let event = try store.notify(request)
            #expect(Self.words(event) == words)
        }
        let verifier = try DeliveryWorld.verifier()
        let evidence = StoreEvidence(authority: try StoreWorld.authority())
        var verified = 0
        for event in store.events where event.notification != nil {
            let signed = try #require(try evidence.notification(of: event, in: store))
            guard case .notification(let notification) = try verifier.verify(Array(signed.utf8), policies: []) else {
                Issue.record("\(event.summary) is no notification")
                continue
            }
            #expect(notification.notificationType?.rawValue == event.notification?.type)
            #expect(notification.subtype?.rawValue == event.notification?.subtype)
            #expect(notification.notificationUUID == event.notification?.notificationUUID)
            #expect(notification.bundleID == event.bundleID)
            let isSandbox = event.customerID == nil && event.notification?.environment == .sandbox
            #expect(notification.environment?.name == (isSandbox ? "Sandbox" : "Production"), "\(event.summary)")
            if event.notification?.object == nil, let transaction = event.transaction {
                #expect(notification.transaction?.transactionID == transaction.transactionID)
                #expect((notification.renewalInfo != nil) == (event.subscription != nil))
            }
            switch event.notification?.object {
            case .appData: #expect(notification.appTransaction?.bundleID == StoreWorld.app)
            case .unclaimInfo: #expect(notification.unclaimInfo?.unclaimSeatIDs?.count == 2)
            case .summary: #expect(notification.summary?.requestIdentifier != nil)
            case .externalPurchaseToken: #expect(notification.externalPurchaseToken?.externalPurchaseID != nil)
            case nil: break
            }
            verified += 1
        }
        #expect(verified > 80)
    }

    @Test("28.4 An extension for all subscribers tells each of them, and sums up")
    func massExtension() throws {
        let store = try Self.life()
        let events = store.events.filter { [.renewalExtended, .extensionFailed].contains($0.kind) }
        #expect(events.map(\.kind) == [.extensionFailed, .renewalExtended])
        let summaries = store.events.compactMap { $0.notification?.summary }
        #expect(summaries.map(\.succeededCount) == [0, 1] && summaries.map(\.failedCount) == [1, 0])
    }

    @Test(
        "28.4 A notification by hand that Apple could not send is refused",
        arguments: [
            ("REFUND", nil, "transaction_id"), ("RESCIND_CONSENT", nil, "customer_id"),
            ("UNCLAIM_SEATS", nil, "seat_ids"), ("did_renew", nil, "capital letters"),
            ("TEST", "a b", "capital letters"),
        ] as [(String, String?, String)])
    func refusals(type: String, subtype: String?, words: String) throws {
        var store = try StoreWorld.store()
        let error = #expect(throws: StoreError.self) {
            try store.notify(NotificationRequest(type: type, subtype: subtype, bundleID: StoreWorld.app))
        }
        #expect(error?.code == .invalidValue && error?.message.contains(words) == true, "\(error?.message ?? "")")
    }
}
