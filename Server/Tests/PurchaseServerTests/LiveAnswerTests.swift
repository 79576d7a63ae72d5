import EvidenceMint
import Foundation
import HTTPTypes
import NIOCore
import PurchaseAPI
import PurchaseLedger
import PurchaseServer
import PurchaseVerification
import ServerTestSupport
import TestSupport
import Testing

/// The drop-in with what the ledger knows, over real HTTP.
@Suite("verifyReceipt from live state", .server)
struct LiveAnswerTests {
    let world: PurchaseServerWorld = CurrentWorld.opened()

    @Test(
        "30.1 Renewals after the signature are in the answer, newest first, in whole seconds, with what only they state"
    )
    func renewed() async throws {
        world.clock.advance(days: 31)
        let receipt = try DropInWorld.receipt()
        #expect(try await DropInWorld.ask(world.client, receipt).state == "as-of-signing")
        try await DropInWorld.tell(
            world.client,
            DropInWorld.signed(2) { $0.appAccountToken = "6F1B5B5E-3C1E-4C0F-9F0A-0D7F4C1E2A3B".lowercased() },
            on: 30.5)
        let reply = try await DropInWorld.ask(world.client, receipt)
        #expect(reply.state == "live" && reply.status == 0)
        #expect(reply.info.map { $0["transaction_id"] as? String } == ["9002", "9001"])
        let renewed = try #require(reply.info.first as? [String: String])
        let milliseconds = Int64(DropInWorld.date(30).timeIntervalSince1970) * 1000
        #expect(renewed["purchase_date_ms"] == "\(milliseconds)")
        #expect(renewed["expires_date_ms"] == "\(Int64(DropInWorld.date(60).timeIntervalSince1970) * 1000)")
        #expect(renewed["web_order_line_item_id"] == "502" && renewed["quantity"] == "1")
        #expect(renewed["is_trial_period"] == "false" && renewed["is_in_intro_offer_period"] == "false")
        #expect(renewed["subscription_group_identifier"] == "club" && renewed["in_app_ownership_type"] == "PURCHASED")
        #expect(renewed["app_account_token"] == "6f1b5b5e-3c1e-4c0f-9f0a-0d7f4c1e2a3b")
        #expect(renewed["cancellation_date"] == nil && renewed["is_upgraded"] == nil)
        #expect(
            reply.renewals == [
                [
                    "auto_renew_product_id": DropInWorld.monthly, "product_id": DropInWorld.monthly,
                    "original_transaction_id": "9001", "auto_renew_status": "1",
                ]
            ])
        // The receipt stays what was signed.
        let inApp = (reply.json["receipt"] as? [String: Any])?["in_app"] as? [[String: Any]]
        #expect(inApp?.map { $0["transaction_id"] as? String } == ["9001"])
        #expect(reply.json["latest_receipt"] as? String == Data(receipt).base64EncodedString())
        let latest = try await DropInWorld.ask(world.client, receipt, excludingOld: true)
        #expect(latest.info.map { $0["transaction_id"] as? String } == ["9002"])
        let keys = [
            "environment", "receipt", "latest_receipt_info", "latest_receipt", "pending_renewal_info", "status",
        ]
        let places = keys.compactMap { reply.text.range(of: "\"\($0)\":", options: .backwards)?.lowerBound }
        #expect(places == places.sorted() && places.count == keys.count)
    }

    @Test(
        "30.1 A refund has its date and reason, an upgrade its flag and the start of the new period, and neither otherwise"
    )
    func withdrawn() async throws {
        world.clock.advance(days: 12)
        let receipt = try DropInWorld.receipt()
        try await DropInWorld.tell(
            world.client,
            DropInWorld.signed(1) {
                $0.revocationDate = DropInWorld.date(10)
                $0.revocationReason = 1
            }, on: 10.5, status: 5)
        let refunded = try await DropInWorld.ask(world.client, receipt)
        #expect(refunded.state == "live" && refunded.info.first?["cancellation_reason"] as? String == "1")
        #expect(
            refunded.info.first?["cancellation_date_ms"] as? String
                == "\(Int64(DropInWorld.date(10).timeIntervalSince1970) * 1000)")
        try await DropInWorld.tell(world.client, DropInWorld.signed(1), on: 11, status: 1)
        let reversed = try await DropInWorld.ask(world.client, receipt)
        #expect(reversed.info.first?["cancellation_date"] == nil && reversed.info.first?["cancellation_reason"] == nil)
        try await DropInWorld.tell(world.client, DropInWorld.signed(1) { $0.isUpgraded = true }, on: 11.5)
        try await DropInWorld.tell(
            world.client,
            DropInWorld.signed(2) {
                $0.productID = "com.example.app.yearly"
                $0.purchaseDate = DropInWorld.date(11.4)
            }, on: 11.6)
        let upgraded = try await DropInWorld.ask(world.client, receipt)
        let former = upgraded.info.first { $0["transaction_id"] as? String == "9001" }
        #expect(former?["is_upgraded"] as? String == "true")
        #expect(
            former?["cancellation_date_ms"] as? String
                == "\(Int64(DropInWorld.date(11.4).timeIntervalSince1970) * 1000)")
        #expect(upgraded.info.first?["is_upgraded"] == nil)
    }

    @Test("An app that moved is temporarily unavailable, whatever is known of a receipt, until it is here again")
    func moved() async throws {
        world.clock.advance(days: 31)
        let receipt = try DropInWorld.receipt()
        try await DropInWorld.tell(world.client, DropInWorld.signed(2), on: 30.5)
        _ = try await world.ledger.perform(
            MoveApp(app: "example", origin: "example.com/game", place: "https://game.example.com"))
        let known = try await DropInWorld.ask(world.client, receipt)
        #expect(known.status == 21005 && known.state == nil && known.info.isEmpty)
        // A write reads that, and then it is known of a receipt about which nothing else can be known.
        await #expect(throws: LedgerStorageError.self) {
            try await DropInWorld.observe(world.ledger, DropInWorld.signed(2))
        }
        #expect(try await DropInWorld.ask(world.client, try DropInWorld.receipt([])).status == 21005)
        try await world.ledger.perform(ReopenApp(app: "example"))
        try await DropInWorld.observe(world.ledger, DropInWorld.signed(2))
        #expect(try await DropInWorld.ask(world.client, receipt).state == "live")
    }

    @Test("30.1 The expected renewal has the intent, the retry, the grace period and the consent where they are signed")
    func renewals() async throws {
        world.clock.advance(days: 31)
        let receipt = try DropInWorld.receipt()
        try await DropInWorld.tell(world.client, DropInWorld.signed(1), on: 30.2, status: 4) {
            $0.expirationIntent = 2
            $0.isInBillingRetryPeriod = true
            $0.gracePeriodExpiresDate = DropInWorld.date(40)
            $0.autoRenewProductID = "com.example.app.yearly"
            $0.priceIncreaseStatus = 0
            $0.offerType = 3
            $0.offerIdentifier = "spring"
        }
        let reply = try await DropInWorld.ask(world.client, receipt)
        #expect(reply.state == "live")
        let renewal = try #require(reply.renewals.first)
        #expect(renewal["expiration_intent"] == "2" && renewal["is_in_billing_retry_period"] == "1")
        #expect(
            renewal["grace_period_expires_date_ms"] == "\(Int64(DropInWorld.date(40).timeIntervalSince1970) * 1000)"
        )
        #expect(renewal["auto_renew_product_id"] == "com.example.app.yearly")
        #expect(renewal["product_id"] == DropInWorld.monthly && renewal["auto_renew_status"] == "1")
        #expect(renewal["price_consent_status"] == "0" && renewal["offer_code_ref_name"] == "spring")
        try await DropInWorld.tell(world.client, DropInWorld.signed(1), on: 31, status: 1) {
            $0.isInBillingRetryPeriod = false
        }
        let active = try #require(try await DropInWorld.ask(world.client, receipt).renewals.first)
        #expect(active["is_in_billing_retry_period"] == nil && active["expiration_intent"] == nil)
    }

    @Test("30.1 A transaction receipt of iOS 6 turns from 21006 to 0 with a renewal, and back at its end")
    func flat() async throws {
        var template = TransactionReceiptTemplate()
        template.transactionID = "9001"
        template.originalTransactionID = "9001"
        template.productID = DropInWorld.monthly
        template.bundleID = "com.example.app"
        template.purchaseDate = DropInWorld.date(0)
        template.originalPurchaseDate = DropInWorld.date(0)
        template.expiresDate = DropInWorld.date(30)
        template.webOrderLineItemID = "501"
        let receipt = try MintedWorld.mint(template, .three)
        #expect(try await DropInWorld.ask(world.client, receipt).status == 0)
        world.clock.advance(days: 31)
        let expired = try await DropInWorld.ask(world.client, receipt)
        #expect(expired.status == 21006 && expired.state == "as-of-signing")
        try await DropInWorld.tell(world.client, DropInWorld.signed(2), on: 30.5)
        let renewed = try await DropInWorld.ask(world.client, receipt)
        #expect(renewed.status == 0 && renewed.state == "live")
        let latest = try #require(renewed.json["latest_receipt_info"] as? [String: String])
        #expect(latest["transaction_id"] == "9002" && latest["web_order_line_item_id"] == "502")
        #expect(latest["expires_date"] == "\(Int64(DropInWorld.date(60).timeIntervalSince1970) * 1000)")
        #expect((renewed.json["receipt"] as? [String: String])?["transaction_id"] == "9001")
        #expect(renewed.json["auto_renew_status"] as? Int == 1 && renewed.json["expiration_intent"] == nil)
        world.clock.advance(days: 30)
        #expect(try await DropInWorld.ask(world.client, receipt).status == 21006)
        try await DropInWorld.tell(world.client, DropInWorld.signed(2), on: 60.5, status: 2) {
            $0.autoRenewStatus = 0
            $0.expirationIntent = 1
            $0.isInBillingRetryPeriod = false
        }
        let over = try await DropInWorld.ask(world.client, receipt)
        #expect(over.status == 21006 && over.state == "live")
        #expect((over.json["latest_expired_receipt_info"] as? [String: String])?["transaction_id"] == "9002")
        #expect(over.json["expiration_intent"] as? String == "1" && over.json["auto_renew_status"] as? Int == 0)
        #expect(over.json["is_in_billing_retry_period"] as? String == "0")
    }

    @Test("30.1 A refund is in the answer to a transaction receipt of a product, and a reversal takes it out again")
    func flatProduct() async throws {
        var template = TransactionReceiptTemplate()
        template.transactionID = "7001"
        template.originalTransactionID = "7001"
        template.productID = "com.example.app.pro"
        template.bundleID = "com.example.app"
        template.purchaseDate = DropInWorld.date(0)
        template.originalPurchaseDate = DropInWorld.date(0)
        let receipt = try MintedWorld.mint(template, .three)
        func signed(_ change: (inout SignedTransactionTemplate) -> Void = { _ in }) -> SignedTransactionTemplate {
            DropInWorld.signed(1) {
                ($0.transactionID, $0.originalTransactionID, $0.webOrderLineItemID) = ("7001", "7001", nil)
                ($0.productID, $0.type) = ("com.example.app.pro", .nonConsumable)
                ($0.subscriptionGroupIdentifier, $0.expiresDate) = (nil, nil)
                change(&$0)
            }
        }
        func flat() async throws -> [String: String] {
            let reply = try await DropInWorld.ask(world.client, receipt)
            #expect(reply.status == 0 && reply.state == "as-of-signing")
            return try #require(reply.json["receipt"] as? [String: String])
        }
        #expect(try await flat()["cancellation_date"] == nil)
        try await DropInWorld.tell(world.client, signed(), on: 1)
        #expect(try await flat()["cancellation_date"] == nil)
        try await DropInWorld.tell(
            world.client, signed { ($0.revocationDate, $0.revocationReason) = (DropInWorld.date(2), 1) }, on: 2)
        let refunded = try await flat()
        #expect(refunded["cancellation_date_ms"] == "\(Int64(DropInWorld.date(2).timeIntervalSince1970) * 1000)")
        #expect(refunded["cancellation_reason"] == "1" && refunded["transaction_id"] == "7001")
        try await DropInWorld.tell(world.client, signed(), on: 3)
        #expect(try await flat()["cancellation_date"] == nil)
    }

    @Test("30.1 A renewal does not inherit the cancellation of the period in the transaction receipt")
    func flatCancelled() async throws {
        var template = TransactionReceiptTemplate()
        (template.transactionID, template.originalTransactionID) = ("9001", "9001")
        (template.productID, template.bundleID) = (DropInWorld.monthly, "com.example.app")
        (template.purchaseDate, template.originalPurchaseDate) = (DropInWorld.date(0), DropInWorld.date(0))
        (template.expiresDate, template.cancellationDate) = (DropInWorld.date(30), DropInWorld.date(10))
        (template.webOrderLineItemID, template.inAppOwnershipType) = ("501", "PURCHASED")
        let receipt = try MintedWorld.mint(template, .three)
        world.clock.advance(days: 31)
        try await DropInWorld.tell(world.client, DropInWorld.signed(2) { $0.webOrderLineItemID = nil }, on: 30.5)
        let renewed = try await DropInWorld.ask(world.client, receipt)
        let latest = try #require(renewed.json["latest_receipt_info"] as? [String: String])
        #expect(renewed.status == 0 && latest["transaction_id"] == "9002")
        #expect(latest.keys.filter { $0.hasPrefix("cancellation") } == [])
        #expect(latest["web_order_line_item_id"] == nil && latest["in_app_ownership_type"] == "PURCHASED")
        // The receipt stays what was signed.
        let sent = try #require(renewed.json["receipt"] as? [String: String])
        #expect(sent["cancellation_date"] != nil && sent["web_order_line_item_id"] == "501")
    }

    @Test("30.4 An answer begins with the environment, ends with the status, and has the newest entry first")
    func order() async throws {
        world.clock.advance(days: 31)
        try await DropInWorld.tell(world.client, DropInWorld.signed(2), on: 30.5)
        let reply = try await DropInWorld.ask(world.client, try DropInWorld.receipt())
        #expect(reply.text.hasPrefix(#"{"environment":"Production","receipt":"#))
        #expect(reply.text.hasSuffix(#""status":0}"#))
        #expect(reply.info.map { $0["transaction_id"] as? String } == ["9002", "9001"])
    }

    @Test("30.1 The answer to an erased customer's receipt is 21010 only if the settings say so")
    func erased() async throws {
        for answer in DropInSettings.ErasedAnswer.allCases {
            try await PurchaseServerWorld.run {
                var settings = DropInSettings(app: "example")
                settings.erased = answer
                $0.dropIn = ["com.example.app": settings]
            } _: { world async throws in
                let receipt = try DropInWorld.receipt()
                let claim = try PurchaseServerWorld.purchase("9001", product: DropInWorld.monthly, receipt: receipt)
                #expect(try await world.send(.post, "/v1/purchases", claim, as: .client).status == 200)
                _ = try await world.ledger.perform(EraseCustomer(app: "example", customerID: "alice", reason: "asked"))
                let reply = try await DropInWorld.ask(world.client, receipt)
                #expect(reply.status == (answer == .accountNotFound ? 21010 : 0))
                #expect(reply.state == (answer == .accountNotFound ? nil : "as-of-signing"))
            }
        }
    }

    /// Keeps every connection that reads keys waiting until it is opened.
    private actor Gate {
        private var isOpen = false
        private var waiting: [CheckedContinuation<Void, Never>] = []

        func pass() async {
            if !isOpen { await withCheckedContinuation { waiting.append($0) } }
        }

        func open() {
            isOpen = true
            for continuation in waiting { continuation.resume() }
            waiting = []
        }
    }

    @Test(
        "30.3 A call that takes longer than its limit gives nothing, two late ones stop further ones until one returns")
    func deadlines() async throws {
        let uptime = TestUptime()
        let deadlines = ShortDeadlines(uptime: uptime.read)
        let gate = Gate()
        #expect(await deadlines.run(within: 0.05) { 1 } == 1)
        for number in 1...2 {
            async let late: Int? = deadlines.run(within: 0.05) {
                await gate.pass()
                return 2
            }
            // The clock that is moved decides, at the next look of the timer.
            while deadlines.waitingCount == 0, deadlines.lateCount < number { await Task.yield() }
            uptime.advance(seconds: 1)
            #expect(await late == nil)
            #expect(deadlines.lateCount == number)
        }
        // It is not even made.
        #expect(await deadlines.run(within: 0.05) { 3 } == nil)
        await gate.open()
        while deadlines.lateCount > 0 { await Task.yield() }
        #expect(await deadlines.run(within: 0.05) { 4 } == 4)
        struct Failure: Error {}
        let failed: Int? = await deadlines.run(within: 0.05) { throw Failure() }
        #expect(failed == nil)
    }

    @Test("30.6 Receipts are recorded as the settings of their app say, and those that are refused within the budget")
    func recording() async throws {
        for mode in DropInSettings.Recording.allCases {
            try await PurchaseServerWorld.run {
                var settings = DropInSettings(app: "example")
                (settings.recording, settings.acceptsSignedTransactions) = (mode, false)
                $0.dropIn = ["com.example.app": settings]
            } _: { world async throws in
                var forged = try DropInWorld.receipt()
                forged[forged.count - 5] ^= 1
                #expect(try await DropInWorld.ask(world.client, forged).status == 21003)
                #expect(try await DropInWorld.ask(world.client, try DropInWorld.receipt()).status == 0)
                let signed = try MintedWorld.mint(DropInWorld.signed(1))
                let body = try JSONSerialization.data(
                    withJSONObject: ["receipt-data": String(decoding: signed, as: UTF8.self)])
                let answer = try await world.client.execute(
                    uri: "/verifyReceipt", method: .post, body: ByteBuffer(bytes: body))
                #expect(String(buffer: answer.body) == #"{"status":21002}"#)
                let expected: Int64 = mode == .off ? 0 : mode == .refused ? 2 : 3
                var kept: Int64 = -1
                for _ in 0..<600 {
                    guard kept < expected else { break }
                    kept = try await world.database.read(.lists) { connection in
                        let row = try connection.rows("SELECT count(*) FROM evidence", []).first
                        guard case .integer(let number)? = row?.values.first else { return -1 }
                        return number
                    }
                    try await Task.sleep(for: .milliseconds(20))
                }
                #expect(kept == expected, "\(mode)")
            }
        }
    }
}

/// A notification of a grace period without `gracePeriodExpiresDate`, over HTTP.
@Suite("Grace without its end")
struct GraceWithoutEndTests {
    /// A server whose customer alice has a period of 30 days.
    private static func run(
        _ body: @escaping @Sendable (PurchaseServerWorld) async throws -> Void
    ) async throws {
        try await PurchaseServerWorld.run { world async throws in
            world.clock.advance(days: 1)
            let payload = String(decoding: try MintedWorld.mint(DropInWorld.signed(1)), as: UTF8.self)
            let request = PurchaseRequest(
                signedTransaction: payload, productID: DropInWorld.monthly, transactionID: "9001", customerID: "alice")
            let claimed = try await world.send(.post, "/v1/purchases", request)
            #expect(claimed.status == 200, "\(claimed.text)")
            world.clock.advance(seconds: 2_548_800)
            try await body(world)
        }
    }

    private static func entitlement(_ world: PurchaseServerWorld) async throws -> EntitlementMessage {
        try #require(try await world.entitlements(of: "alice").first { $0.productID == DropInWorld.monthly })
    }

    private static func fail(_ info: inout RenewalInfoTemplate) {
        (info.autoRenewStatus, info.isInBillingRetryPeriod, info.gracePeriodExpiresDate) = (1, true, nil)
    }

    @Test("A signed status 4 keeps the customer's access, marked in the entitlement, in renewal and in the event")
    func marked() async throws {
        try await Self.run { world in
            #expect(try await Self.entitlement(world).graceEndUnknown == nil)
            try await DropInWorld.tell(world.client, DropInWorld.signed(1), on: 30.2, status: 4, Self.fail)
            let entitlement = try await Self.entitlement(world)
            #expect(entitlement.state == .active && entitlement.reason == .inGrace)
            #expect(entitlement.graceEndUnknown == true && entitlement.renewal?.graceEndUnknown == true)
            #expect(entitlement.until == "\(Timestamp(DropInWorld.date(46).addingTimeInterval(0.345)))")
            let listed = try await world.send(.get, "/v1/customers/alice/purchases", as: .backend)
                .message(TransactionPage.self)
            #expect(listed.purchases.first?.renewal?.graceEndUnknown == true)
            let events = try await world.send(.get, "/v1/events?limit=100", as: .backend).message(EventPage.self).events
            let told = try #require(events.first { $0.type == .renewalChanged })
            #expect(told.renewal?.graceEndUnknown == true && told.changed?.contains(.graceUntil) == true)
            world.clock.advance(days: 15)
            #expect(try await Self.entitlement(world).state == .active)
            world.clock.advance(days: 1)
            let over = try await Self.entitlement(world)
            #expect(over.state == .expired && over.reason == .billingRetry && over.graceEndUnknown == nil)
        }
    }

    @Test("It ends with a newer status, and with the renewal, whichever comes first", arguments: [1, 2, 3])
    func ended(status: Int64) async throws {
        try await Self.run { world in
            try await DropInWorld.tell(world.client, DropInWorld.signed(1), on: 30.2, status: 4, Self.fail)
            world.clock.advance(days: 2)
            // A repetition with another stamp leaves it, and so does a status that was signed before.
            try await DropInWorld.tell(world.client, DropInWorld.signed(1), on: 31, status: 4, Self.fail)
            try await DropInWorld.tell(world.client, DropInWorld.signed(1), on: 29, status: 1)
            #expect(try await Self.entitlement(world).reason == .inGrace)
            if status == 1 {
                try await DropInWorld.tell(world.client, DropInWorld.signed(2), on: 32, status: 1)
                let renewed = try await Self.entitlement(world)
                #expect(renewed.state == .active && renewed.reason == nil && renewed.graceEndUnknown == nil)
            } else {
                try await DropInWorld.tell(world.client, DropInWorld.signed(1), on: 32, status: status) {
                    ($0.autoRenewStatus, $0.isInBillingRetryPeriod) = (1, status == 3)
                    $0.expirationIntent = 2
                }
                let ended = try await Self.entitlement(world)
                #expect(ended.reason == (status == 3 ? .billingRetry : .expired) && ended.graceEndUnknown == nil)
            }
            let path = "/v1/customers/alice/entitlements?at=\(DropInWorld.date(31).formatted(.iso8601))"
            let before = try await world.send(.get, path, as: .backend).message(EntitlementList.self)
            #expect(before.entitlements.first?.state == .active)
        }
    }
}
