import EvidenceMint
import Foundation
import PurchaseAPI
import PurchaseLedger
import PurchaseServer
import ServerTestSupport
import TestSupport
import Testing

/// When the conditional keys of an answer are there, and when not.
@Suite("Keys of verifyReceipt", .server)
struct DropInKeyTests {
    let world: PurchaseServerWorld = CurrentWorld.opened()

    /// The expected renewal in the answer after a notification about the first period.
    private static func renewal(
        _ world: PurchaseServerWorld, on day: Double, _ change: (inout RenewalInfoTemplate) -> Void
    ) async throws -> [String: String] {
        try await DropInWorld.tell(world.client, DropInWorld.signed(1), on: day, change)
        return try #require(try await DropInWorld.ask(world.client, try DropInWorld.receipt()).renewals.first)
    }

    /// `expiration_intent` and `is_in_billing_retry_period`.
    private static func end(_ renewal: [String: String]) -> [String?] {
        [renewal["expiration_intent"], renewal["is_in_billing_retry_period"]]
    }

    @Test("30.1 An active subscription has neither intent nor retry, whatever is signed about its renewal")
    func active() async throws {
        world.clock.advance(days: 10)
        let cancelled = try await Self.renewal(world, on: 9) {
            ($0.autoRenewStatus, $0.expirationIntent, $0.isInBillingRetryPeriod) = (0, 1, false)
        }
        #expect(Self.end(cancelled) == [nil, nil] && cancelled["auto_renew_status"] == "0")
        // The store tries to collect the price from a day before the end.
        world.clock.advance(days: 19)
        world.clock.advance(seconds: 72_000)
        for (day, intent) in [(29.5, nil), (29.6, 2)] as [(Double, Int64?)] {
            let retried = try await Self.renewal(world, on: day) {
                ($0.expirationIntent, $0.isInBillingRetryPeriod) = (intent, true)
            }
            #expect(Self.end(retried) == [nil, nil], "on day \(day)")
        }
        // Extended after its end, it is active again.
        world.clock.advance(days: 1)
        let ended = try await Self.renewal(world, on: 30.3) {
            ($0.autoRenewStatus, $0.expirationIntent, $0.isInBillingRetryPeriod) = (0, 1, false)
        }
        #expect(Self.end(ended) == ["1", "0"])
        try await DropInWorld.observe(
            world.ledger,
            DropInWorld.signed(1) {
                ($0.expiresDate, $0.signedDate) = (DropInWorld.date(40), DropInWorld.date(30.5))
            })
        let extended = try await DropInWorld.ask(world.client, try DropInWorld.receipt())
        let renewal = try #require(extended.renewals.first)
        #expect(Self.end(renewal) == [nil, nil] && renewal["auto_renew_status"] == "0")
    }

    @Test("30.1 The retry is there exactly with the intent, for 21006 too")
    func ended() async throws {
        world.clock.advance(days: 32)
        var template = TransactionReceiptTemplate()
        (template.transactionID, template.originalTransactionID) = ("9001", "9001")
        (template.productID, template.bundleID) = (DropInWorld.monthly, "com.example.app")
        (template.purchaseDate, template.originalPurchaseDate) = (DropInWorld.date(0), DropInWorld.date(0))
        (template.expiresDate, template.webOrderLineItemID) = (DropInWorld.date(30), "501")
        let flat = try MintedWorld.mint(template, .three)
        let cases: [(day: Double, intent: Int64?, retry: Bool?, expected: [String?])] = [
            (30.1, nil, true, [nil, nil]), (30.2, 2, true, ["2", "1"]), (30.3, 1, nil, ["1", "0"]),
            (30.4, 1, false, ["1", "0"]), (30.5, nil, false, [nil, nil]), (30.6, 5, false, ["5", "0"]),
        ]
        for (day, intent, retry, expected) in cases {
            let renewal = try await Self.renewal(world, on: day) {
                ($0.expirationIntent, $0.isInBillingRetryPeriod) = (intent, retry)
            }
            #expect(Self.end(renewal) == expected, "on day \(day)")
            let reply = try await DropInWorld.ask(world.client, flat)
            #expect(reply.status == 21006)
            #expect(
                [reply.json["expiration_intent"] as? String, reply.json["is_in_billing_retry_period"] as? String]
                    == expected, "on day \(day)")
        }
    }

    @Test("30.1 A subscription in its grace period has its end, the intent and the retry")
    func grace() async throws {
        world.clock.advance(days: 31)
        let renewal = try await Self.renewal(world, on: 30.2) {
            ($0.expirationIntent, $0.isInBillingRetryPeriod) = (2, true)
            $0.gracePeriodExpiresDate = DropInWorld.date(46)
        }
        #expect(Self.end(renewal) == ["2", "1"])
        #expect(renewal.keys.filter { $0.hasPrefix("grace_period_expires_date") }.count == 3)
        let over = try await Self.renewal(world, on: 30.4) {
            ($0.expirationIntent, $0.isInBillingRetryPeriod) = (2, true)
        }
        #expect(over.keys.filter { $0.hasPrefix("grace_period_expires_date") } == [])
    }

    @Test("30.1 The price consent is there only while it is needed, the price increase if it is 0 or 1")
    func price() async throws {
        world.clock.advance(days: 10)
        let cases: [(status: Int64?, consent: String?, increase: String?)] = [
            (nil, nil, nil), (0, "0", "0"), (1, nil, "1"), (2, nil, nil), (0, "0", "0"),
        ]
        for (place, (status, consent, increase)) in cases.enumerated() {
            let renewal = try await Self.renewal(world, on: 5 + Double(place) / 10) {
                $0.priceIncreaseStatus = status
            }
            #expect(renewal["price_consent_status"] == consent, "\(status ?? -1)")
            #expect(renewal["price_increase_status"] == increase)
            // Neither depends on the other conditional keys.
            #expect(Self.end(renewal) == [nil, nil])
        }
    }

    @Test("30.1 An expected renewal has the offer of its period by its kind, and its product beside the next one")
    func offers() async throws {
        world.clock.advance(days: 10)
        for type in Int64(1)...4 {
            let renewal = try await Self.renewal(world, on: 5 + Double(type) / 10) {
                ($0.offerType, $0.offerIdentifier) = (type, "spring")
                $0.autoRenewProductID = type == 4 ? nil : "com.example.app.yearly"
            }
            #expect(renewal["promotional_offer_id"] == (type == 2 ? "spring" : nil))
            #expect(renewal["offer_code_ref_name"] == (type == 3 ? "spring" : nil))
            #expect(renewal["product_id"] == DropInWorld.monthly && renewal["original_transaction_id"] == "9001")
            #expect(renewal["auto_renew_product_id"] == (type == 4 ? DropInWorld.monthly : "com.example.app.yearly"))
        }
    }

    @Test("30.4 An empty offer of a receipt has no key")
    func emptyOffer() async throws {
        var period = DropInWorld.period(1)
        period.promotionalOfferID = ""
        let reply = try await DropInWorld.ask(world.client, try DropInWorld.receipt([period]))
        #expect(reply.status == 0 && reply.info.count == 1)
        #expect(!reply.text.contains("promotional_offer_id") && !reply.text.contains(#":"""#))
    }

    @Test("30.4 An empty version of a receipt has no key")
    func emptyVersions() async throws {
        var template = AppReceiptTemplate.production(
            bundleID: "com.example.app", creationDate: MintedWorld.moment, purchases: [DropInWorld.period(1)])
        (template.applicationVersion, template.originalApplicationVersion) = ("", "")
        let reply = try await DropInWorld.ask(world.client, try MintedWorld.mint(template))
        #expect(reply.status == 0 && reply.info.count == 1)
        #expect(!reply.text.contains("application_version") && !reply.text.contains(#":"""#))
    }

    @Test("30.1 An offer is known from another receipt, until signed data says of which type it is")
    func offerOfAnotherReceipt() async throws {
        world.clock.advance(days: 31)
        var period = DropInWorld.period(2)
        period.promotionalOfferID = "spring"
        let newer = try MintedWorld.mint(
            .production(bundleID: "com.example.app", creationDate: DropInWorld.date(30.1), purchases: [period]))
        let outcome = try await world.ledger.observe(
            EvidenceSubmission(app: "example", source: "notification", evidence: newer))
        #expect(outcome.code == "accepted")
        func renewed() async throws -> [String: Any] {
            let reply = try await DropInWorld.ask(world.client, try DropInWorld.receipt())
            return try #require(reply.info.first { $0["transaction_id"] as? String == "9002" })
        }
        let told = try await renewed()
        #expect(told["promotional_offer_id"] as? String == "spring" && told["offer_code_ref_name"] == nil)
        try await DropInWorld.observe(
            world.ledger, DropInWorld.signed(2) { ($0.offerType, $0.offerIdentifier) = (3, "code") })
        let signed = try await renewed()
        #expect(signed["promotional_offer_id"] == nil && signed["offer_code_ref_name"] as? String == "code")
    }

    @Test("30.1 A renewal in the answer to a transaction receipt has the offer that another receipt states")
    func flatOffer() async throws {
        world.clock.advance(days: 31)
        var template = TransactionReceiptTemplate()
        (template.transactionID, template.originalTransactionID) = ("9001", "9001")
        (template.productID, template.bundleID) = (DropInWorld.monthly, "com.example.app")
        (template.purchaseDate, template.originalPurchaseDate) = (DropInWorld.date(0), DropInWorld.date(0))
        template.expiresDate = DropInWorld.date(30)
        template.extraEntries = [TransactionReceiptTemplate.Entry("promotional-offer-id", "winter")]
        var period = DropInWorld.period(2)
        period.promotionalOfferID = "spring"
        let newer = try MintedWorld.mint(
            .production(bundleID: "com.example.app", creationDate: DropInWorld.date(30.1), purchases: [period]))
        _ = try await world.ledger.observe(EvidenceSubmission(app: "example", source: "notification", evidence: newer))
        let reply = try await DropInWorld.ask(world.client, try MintedWorld.mint(template, .three))
        let latest = try #require(reply.json["latest_receipt_info"] as? [String: String])
        #expect(latest["transaction_id"] == "9002" && latest["promotional_offer_id"] == "spring")
        let sent = try #require(reply.json["receipt"] as? [String: String])
        #expect(sent["promotional_offer_id"] == "winter")
    }

    @Test(
        "30.1 The identifier of an offer is a receipt's promotional_offer_id, unless it is an offer code or a win-back",
        arguments: [nil, 1, 2, 3, 4] as [Int64?])
    func receiptOfferID(type: Int64?) throws {
        let offer = try #require(PurchaseOffer(type: type, identifier: "spring"))
        #expect(offer.receiptOfferID == (type == 3 || type == 4 ? nil : "spring"))
        #expect(offer.promotionalOfferID == (type == 2 ? "spring" : nil))
        #expect(PurchaseOffer(type: 1, discountType: "FREE_TRIAL")?.receiptOfferID == nil)
    }
}
