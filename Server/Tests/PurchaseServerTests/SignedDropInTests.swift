import EvidenceMint
import Foundation
import HTTPTypes
import NIOCore
import NIOFoundationCompat
import PurchaseLedger
import PurchaseServer
import PurchaseVerification
import ServerTestSupport
import TestSupport
import Testing

/// `verifyReceipt` with a signed transaction of StoreKit 2 in place of a receipt, over real HTTP.
@Suite("verifyReceipt with a signed transaction")
struct SignedDropInTests {
    var world: PurchaseServerWorld { CurrentWorld.opened() }

    private struct Reply {
        let text: String
        let json: [String: Any]
        let headers: HTTPFields

        var status: Int? { json["status"] as? Int }
        var reason: String? { header("Assay-Reason") }
        var state: String? { header("Assay-State") }
        var kind: String? { header("Assay-Evidence-Kind") }
        var receipt: [String: Any] { json["receipt"] as? [String: Any] ?? [:] }
        var inApp: [[String: String]] { receipt["in_app"] as? [[String: String]] ?? [] }
        var info: [[String: String]] { json["latest_receipt_info"] as? [[String: String]] ?? [] }
        var renewals: [[String: String]] { json["pending_renewal_info"] as? [[String: String]] ?? [] }

        private func header(_ name: String) -> String? { HTTPField.Name(name).flatMap { headers[$0] } }
    }

    private static func ask(
        _ client: LiveClient, _ text: String, at path: String = "/verifyReceipt", _ more: [String: Any] = [:]
    ) async throws -> Reply {
        let body = try JSONSerialization.data(withJSONObject: more.merging(["receipt-data": text]) { $1 })
        let answer = try await client.execute(uri: path, method: .post, body: ByteBuffer(data: body))
        let json = try JSONSerialization.jsonObject(with: Data(buffer: answer.body)) as? [String: Any]
        return Reply(text: String(buffer: answer.body), json: try #require(json), headers: answer.headers)
    }

    private static func jws(_ template: any SignedPayloadTemplate, fault: SignedPayloadFault? = nil) throws -> String {
        String(decoding: try MintedWorld.mint(template, fault: fault), as: UTF8.self)
    }

    /// Purchases of the three kinds, by which a receipt and a signed transaction are compared.
    private static var purchases: [PurchaseTemplate] {
        var trial = DropInWorld.period(1)
        (trial.isTrialPeriod, trial.isInIntroOfferPeriod) = (true, false)
        var offered = DropInWorld.period(2)
        offered.promotionalOfferID = "back"
        var refunded = PurchaseTemplate.nonConsumable(
            productID: "com.example.app.pro", transactionID: "9102", purchaseDate: DropInWorld.date(0))
        refunded.cancellationDate = DropInWorld.date(1)
        refunded.extraAttributes = [.integer(1720, 0)]
        return [
            DropInWorld.period(1), trial, offered, refunded,
            .consumable(
                productID: "com.example.app.coins", transactionID: "9101", purchaseDate: DropInWorld.date(0),
                quantity: 3),
        ]
    }

    @Test(
        "54.1 A purchase as a receipt and as a signed transaction has the same answer, where the latter states it",
        .server)
    func equal() async throws {
        for purchase in Self.purchases {
            var template = AppReceiptTemplate.production(
                bundleID: "com.example.app", creationDate: DropInWorld.date(31), purchases: [purchase])
            template.downloadID = 77
            let receipt = try await Self.ask(world.client, Data(try MintedWorld.mint(template)).base64EncodedString())
            let signed = try await Self.ask(
                world.client,
                Self.jws(
                    SignedTransactionTemplate(
                        purchase: purchase, bundleID: "com.example.app", environment: "Production",
                        signedDate: DropInWorld.date(31))))
            #expect(signed.status == 0 && signed.state == "as-of-signing", "\(signed.text)")
            #expect(signed.kind == "signed_transaction" && receipt.kind == nil)
            #expect(signed.json["environment"] as? String == "Production")
            let entry = try #require(signed.inApp.first)
            #expect(entry["cancellation_reason"] == entry["cancellation_date"].map { _ in "0" })
            #expect(receipt.inApp == [entry])
            var info = try #require(signed.info.first)
            info["subscription_group_identifier"] = nil
            #expect(receipt.info == [info] && signed.info.count == 1)
            #expect(signed.renewals == [] && signed.json["latest_receipt"] == nil)
            let stated = [
                "receipt_type", "bundle_id", "in_app", "receipt_creation_date", "receipt_creation_date_ms",
                "receipt_creation_date_pst", "request_date", "request_date_ms", "request_date_pst",
            ]
            #expect(Set(signed.receipt.keys) == Set(stated))
            for key in stated where !key.hasPrefix("request") && key != "in_app" {
                #expect(signed.receipt[key] as? String == receipt.receipt[key] as? String, "\(key)")
            }
        }
    }

    @Test(
        "54.1 Renewals and refunds of the named original are in the answer, and nothing else of the customer",
        .server)
    func live() async throws {
        let first = try Self.jws(DropInWorld.signed(1) { $0.appTransactionID = "7" })
        // A receipt of the same download is recorded, and must not be handed out.
        let claim = try PurchaseServerWorld.purchase(
            "9001", product: DropInWorld.monthly, receipt: try DropInWorld.receipt())
        #expect(try await world.send(.post, "/v1/purchases", claim, as: .client).status == 200)
        world.clock.advance(days: 31)
        try await DropInWorld.observe(
            world.ledger,
            DropInWorld.signed(1) {
                ($0.transactionID, $0.originalTransactionID, $0.appTransactionID) = ("9901", "9901", "7")
            })
        // Nor is the same original of another environment.
        try await DropInWorld.observe(
            world.ledger,
            DropInWorld.signed(3) {
                ($0.environment, $0.appTransactionID, $0.purchaseDate) = ("Sandbox", "7", DropInWorld.date(30.2))
            })
        try await DropInWorld.tell(world.client, DropInWorld.signed(2) { $0.appTransactionID = "7" }, on: 30.5)
        let renewed = try await Self.ask(world.client, first)
        #expect(renewed.state == "live" && renewed.info.map { $0["transaction_id"] } == ["9002", "9001"])
        #expect(renewed.inApp.map { $0["transaction_id"] } == ["9001"])
        #expect(renewed.inApp.first?["subscription_group_identifier"] == nil)
        #expect(renewed.renewals.map { $0["auto_renew_status"] } == ["1"] && renewed.json["latest_receipt"] == nil)
        let latest = try await Self.ask(world.client, first, ["exclude-old-transactions": true])
        #expect(latest.info.map { $0["transaction_id"] } == ["9002"])
        try await DropInWorld.tell(
            world.client,
            DropInWorld.signed(2) {
                ($0.revocationDate, $0.revocationReason, $0.appTransactionID) = (DropInWorld.date(30.7), 1, "7")
            }, on: 30.8, status: 5)
        let refunded = try await Self.ask(world.client, first)
        #expect(refunded.info.map { $0["cancellation_reason"] } == ["1", nil] && refunded.state == "live")
    }

    @Test("54.1 A revoked transaction shows its cancellation, and an upgraded one no date that it does not state")
    func revoked() async throws {
        try await PurchaseServerWorld.run { world async throws in
            let revoked = try await Self.ask(
                world.client,
                Self.jws(
                    DropInWorld.signed(1) {
                        ($0.revocationDate, $0.revocationReason, $0.signedDate) =
                            (DropInWorld.date(3), 1, DropInWorld.date(4))
                    }))
            let milliseconds = "\(Int64(DropInWorld.date(3).timeIntervalSince1970) * 1000)"
            for entry in try [#require(revoked.inApp.first), #require(revoked.info.first)] {
                #expect(entry["cancellation_date_ms"] == milliseconds && entry["cancellation_reason"] == "1")
            }
            let upgraded = try await Self.ask(world.client, Self.jws(DropInWorld.signed(1) { $0.isUpgraded = true }))
            let keys = upgraded.inApp.first?.keys.filter { $0.hasPrefix("cancellation") || $0 == "is_upgraded" }
            #expect(keys == [] && upgraded.info.first?["is_upgraded"] == "true")
            // The next period, whose start it would be, is not known.
            #expect(upgraded.info.first?["cancellation_date"] == nil)
        }
    }

    @Test("54.1 Only a transaction is accepted, in its exact form, and every fault is refused as of a receipt", .server)
    func refused() async throws {
        let transaction = MintedWorld.transaction(environment: "Production")
        let text = try Self.jws(transaction)
        let parts = text.split(separator: ".").map(String.init)
        var refusals: [(name: String, sent: String, status: Int, reason: String?)] = [
            ("renewal info", try Self.jws(MintedWorld.renewalInfo(environment: "Production")), 21002, "jws"),
            ("an app transaction", try Self.jws(MintedWorld.appTransaction(environment: "Production")), 21002, "jws"),
            ("a notification", try Self.jws(MintedWorld.notification(environment: "Production")), 21002, "jws"),
            ("a test", try Self.jws(MintedWorld.testNotification(environment: "Production")), 21002, "jws"),
            (
                "a realtime request",
                try Self.jws(
                    RealtimeRequestTemplate(
                        originalTransactionID: "9001", productID: "gold", environment: "Production",
                        signedDate: MintedWorld.moment)), 21002, "jws"
            ),
            ("forged renewal info", try Self.jws(MintedWorld.renewalInfo(), fault: .wrongRoot), 21002, "jws"),
            (
                "no transaction", try Self.jws(DropInWorld.signed(1) { ($0.transactionID, $0.productID) = (nil, nil) }),
                21002, "jws"
            ),
            ("base64", Data(text.utf8).base64EncodedString(), 21002, "evidence_unrecognized"),
            ("in quotation marks", "\"\(text)\"", 21002, nil),
            ("a line break inside", "\(parts[0]).\n\(parts[1]).\(parts[2])", 21002, "jws_malformed"),
            ("padding", text + "=", 21002, "jws_malformed"),
            ("a fourth part", text + ".e30", 21002, "jws_malformed"),
            ("two parts", parts[0] + "." + parts[1], 21002, nil),
            ("no signature", parts[0] + "." + parts[1] + ".", 21002, "jws_malformed"),
            ("no header", "." + parts[1] + "." + parts[2], 21002, nil),
            ("two transactions", text + " " + text, 21002, nil),
            ("the payload alone", parts[1], 21002, nil),
            ("another alphabet", text.replacing("-", with: "+").replacing("_", with: "/") + "+", 21002, nil),
        ]
        for fault in SignedPayloadFault.applicable(to: transaction) {
            let status =
                switch fault {
                case .truncated, .fourthPart, .paddedBase64, .oversized, .derSignature, .longSignature: 21002
                // Answered as of another app, or of no app.
                case .wrongBundleID, .missingBundleID: 0
                default: 21003
                }
            refusals.append((fault.rawValue, try Self.jws(transaction, fault: fault), status, nil))
        }
        let cases = refusals
        for item in cases {
            let reply = try await Self.ask(world.client, item.sent)
            #expect(reply.status == item.status, "\(item.name): \(reply.reason ?? "")")
            if item.status != 0 { #expect(reply.text == "{\"status\":\(item.status)}" && reply.kind == nil) }
            if let reason = item.reason {
                #expect(reply.reason == (reason == "jws" ? "jws_instead_of_receipt" : reason), "\(item.name)")
            }
        }
        for sent in [text, " \(text)", "\(text)\n", "\r\n\t\(text) \r\n"] {
            #expect(try await Self.ask(world.client, sent).status == 0)
        }
    }

    @Test(
        "54.1 Its environment decides between the addresses, and the shared secret counts as for receipts",
        .server { $0.sharedSecrets = ["com.example.app": "right"] })
    func addresses() async throws {
        let (production, sandbox) = (
            try Self.jws(MintedWorld.transaction(environment: "Production")), try Self.jws(MintedWorld.transaction())
        )
        let coins = try Self.jws(
            DropInWorld.signed(1) {
                ($0.productID, $0.type) = ("com.example.app.coins", .consumable)
                ($0.expiresDate, $0.subscriptionGroupIdentifier, $0.webOrderLineItemID) = (nil, nil, nil)
            })
        func status(_ text: String, _ path: String, _ password: String?) async throws -> Int? {
            let reply = try await Self.ask(world.client, text, at: path, password.map { ["password": $0] } ?? [:])
            #expect(reply.kind == "signed_transaction")
            return reply.status
        }
        #expect(try await status(production, "/verifyReceipt", "right") == 0)
        #expect(try await status(production, "/sandbox/verifyReceipt", "right") == 21008)
        #expect(try await status(sandbox, "/verifyReceipt", "right") == 21007)
        #expect(try await status(sandbox, "/sandbox/verifyReceipt", "right") == 0)
        #expect(try await status(production, "/verifyReceipt", nil) == 21004)
        #expect(try await status(production, "/verifyReceipt", "wrong") == 21004)
        #expect(try await status(coins, "/verifyReceipt", nil) == 0)
        #expect(try await status(coins, "/verifyReceipt", "wrong") == 21004)
    }

    @Test("54.1 An app can turn it off, for its own transactions alone")
    func turnedOff() async throws {
        try await PurchaseServerWorld.run {
            var settings = DropInSettings(app: "example")
            settings.acceptsSignedTransactions = false
            $0.dropIn = ["com.example.app": settings]
        } _: { world async throws in
            let refused = try await Self.ask(world.client, Self.jws(DropInWorld.signed(1)))
            #expect(refused.text == #"{"status":21002}"# && refused.reason == "signed_transaction_not_accepted")
            let forged = try await Self.ask(world.client, Self.jws(DropInWorld.signed(1), fault: .wrongRoot))
            #expect(forged.status == 21003 && forged.reason == "issuer_unknown")
            let foreign = try await Self.ask(
                world.client, Self.jws(DropInWorld.signed(1) { $0.bundleID = "com.example.other" }))
            #expect(foreign.status == 0 && foreign.state == "as-of-signing")
            #expect(foreign.receipt["bundle_id"] as? String == "com.example.other")
            #expect(try await DropInWorld.ask(world.client, try DropInWorld.receipt()).status == 0)
        }
    }
}
