import AppStoreSimulator
import EvidenceMint
import Foundation
import PurchaseAPI
import PurchaseServer
import PurchaseVerification
import TestSupport
import Testing

@Suite("verifyReceipt of the simulator")
struct SimulatorVerifyReceiptTests {
    /// The keys of the objects that a JSON text has at a place, in their order.
    private func keys(_ object: [String: Any]) -> Set<String> { Set(object.keys) }

    private func recorded(_ path: String) throws -> [String: Any] {
        try #require(try JSONSerialization.jsonObject(with: try Corpus.read(path)) as? [String: Any])
    }

    private func first(_ object: [String: Any], _ key: String) throws -> [String: Any] {
        try #require((object[key] as? [[String: Any]])?.first)
    }

    private func isInOrder(_ names: [String], _ text: String) -> Bool {
        var rest = text[...]
        for name in names {
            guard let range = rest.range(of: "\"\(name)\":") else { return false }
            rest = rest[range.upperBound...]
        }
        return true
    }

    @Test(
        "answers for a subscription with the same keys as Apple", .enabled(if: Corpus.isPresent, "\(Corpus.absence)"))
    func keysOfASubscription() async throws {
        try await SimulatorClient.run { client in
            let recorded = try recorded("responses/xiachufang-production-2023.json")
            try await client.openShop()
            let bought = try await client.buy("gold")
            let answer = try await client.verify(try bought.text("evidence", "app_receipt"))
            let object = try answer.object
            #expect(keys(object) == keys(recorded))
            #expect(
                isInOrder(
                    [
                        "environment", "receipt", "latest_receipt_info", "latest_receipt", "pending_renewal_info",
                        "status",
                    ],
                    answer.text))
            let receipt = try #require(object["receipt"] as? [String: Any])
            let recordedReceipt = try #require(recorded["receipt"] as? [String: Any])
            #expect(keys(receipt) == keys(recordedReceipt))
            #expect(try keys(first(receipt, "in_app")) == keys(first(recordedReceipt, "in_app")))
            #expect(
                try keys(first(object, "latest_receipt_info")) == keys(first(recorded, "latest_receipt_info")))
            #expect(
                try keys(first(object, "pending_renewal_info")) == keys(first(recorded, "pending_renewal_info")))
        }
    }

    @Test("28.4 answers for a receipt without subscriptions with the latest receipt and its purchases, as Apple does")
    func latestReceiptWithoutSubscriptions() async throws {
        try await SimulatorClient.run { client in
            try await client.openShop(secret: "s3cret")
            let receipt = try await client.buy("coins").text("evidence", "app_receipt")
            let later = try await client.buy("coins").text("transaction", "transaction_id")
            // The secret is needed for subscriptions only.
            let answer = try await client.verify(receipt)
            let object = try answer.object
            #expect(object["status"] as? Int == 0)
            let latest = try #require(object["latest_receipt_info"] as? [[String: Any]])
            #expect(latest.count == 2 && latest.first?["transaction_id"] as? String == later)
            #expect(object["pending_renewal_info"] == nil)
            #expect(
                isInOrder(["environment", "receipt", "latest_receipt_info", "latest_receipt", "status"], answer.text))
            let newer = try #require(object["latest_receipt"] as? String)
            let again = try await client.verify(newer).object
            #expect(((again["receipt"] as? [String: Any])?["in_app"] as? [Any])?.count == 2)
        }
    }

    @Test(
        "answers for a transaction receipt with a flat object, and for an expired subscription with 21006",
        .enabled(if: Corpus.isPresent, "\(Corpus.absence)"))
    func transactionReceipts() async throws {
        try await SimulatorClient.run { client in
            let version4 = try recorded("verify-receipt-pairs/topwidgets-production-v4/response.json")
            let expired = try recorded("responses/transaction-expired-cancelled-21006.json")
            try await client.openShop()
            let bought = try await client.buy("gold")
            let receipt = try bought.text("evidence", "transaction_receipt")
            let running = try await client.verify(receipt).object
            #expect(keys(running) == keys(version4))
            #expect(
                (running["receipt"] as? [String: Any]).map(keys) == (version4["receipt"] as? [String: Any]).map(keys))
            #expect(running["auto_renew_status"] as? Int == 1)
            let coins = try await client.buy("coins")
            #expect(
                try await client.verify(try coins.text("evidence", "transaction_receipt")).object.keys.sorted()
                    == ["receipt", "status"])
            let name = try bought.text("transaction", "original_transaction_id")
            try await client.post("/control/subscriptions/\(name)/cancel")
            try await client.post("/control/clock", ["advance": "P2M"])
            let over = try await client.verify(receipt).object
            #expect(over["status"] as? Int == 21006)
            #expect(keys(over) == keys(expired))
        }
    }

    @Test("includes events after the receipt was signed: renewals, refunds, and the state of the subscription")
    func later() async throws {
        try await SimulatorClient.run { client in
            try await client.openShop()
            let bought = try await client.buy("gold")
            let receipt = try bought.text("evidence", "app_receipt")
            let name = try bought.text("transaction", "original_transaction_id")
            try await client.post("/control/clock", ["advance": "P1Y"])
            let all = try await client.verify(receipt).object
            #expect((all["latest_receipt_info"] as? [Any])?.count == 13)
            #expect(((all["receipt"] as? [String: Any])?["in_app"] as? [Any])?.count == 1)
            let latest = try await client.verify(receipt, ["exclude-old-transactions": true]).object
            #expect((latest["latest_receipt_info"] as? [Any])?.count == 1)
            let newer = try #require(all["latest_receipt"] as? String)
            let inNewer = try await client.verify(newer).object["receipt"] as? [String: Any]
            #expect((inNewer?["in_app"] as? [Any])?.count == 13)
            try await client.post("/control/subscriptions/\(name)/enter-grace")
            let grace = try first(try await client.verify(receipt).object, "pending_renewal_info")
            #expect(grace["is_in_billing_retry_period"] as? String == "1")
            #expect(grace["expiration_intent"] as? String == "2")
            #expect(grace["grace_period_expires_date_ms"] != nil)
            try await client.post("/control/transactions/\(name)/refund", ["reason": 1])
            let entries = try await client.verify(receipt).object["latest_receipt_info"] as? [[String: Any]]
            let refunded = try #require(entries?.first { $0["transaction_id"] as? String == name })
            #expect(refunded["cancellation_reason"] as? String == "1")
            #expect(refunded["cancellation_date_pst"] != nil)
        }
    }

    @Test("leaves out consumables with exclude-old-transactions, also without a subscription")
    func excludedConsumables() async throws {
        try await SimulatorClient.run { client in
            try await client.openShop()
            let coins = try await client.buy("coins").text("evidence", "app_receipt")
            let without = try await client.verify(coins, ["exclude-old-transactions": true]).object
            #expect((without["latest_receipt_info"] as? [Any])?.isEmpty == true)
            let receipt = try await client.buy("gold").text("evidence", "app_receipt")
            let all = try await client.verify(receipt).object
            #expect((all["latest_receipt_info"] as? [Any])?.count == 2)
            let latest = try await client.verify(receipt, ["exclude-old-transactions": true]).object
            let products = (latest["latest_receipt_info"] as? [[String: Any]])?.map { $0["product_id"] as? String }
            #expect(products == ["gold"])
        }
    }

    @Test("has price_consent_status only while the customer has to agree, and not after the end")
    func priceConsent() async throws {
        try await SimulatorClient.run { client in
            try await client.openShop()
            let bought = try await client.buy("gold")
            let receipt = try bought.text("evidence", "app_receipt")
            let name = try bought.text("transaction", "original_transaction_id")
            func raise(to price: Int) async throws {
                let answer = try await client.post(
                    "/control/products/price",
                    ["bundle_id": StoreWorld.app, "product_id": "gold", "price": price, "needs_consent": true])
                #expect(answer.status == 200, "\(answer.text)")
            }
            func renewal() async throws -> [String: Any] {
                try first(try await client.verify(receipt).object, "pending_renewal_info")
            }
            #expect(try await renewal()["price_consent_status"] == nil)
            try await raise(to: 12_990)
            #expect(try await renewal()["price_consent_status"] as? String == "0")
            try await client.post("/control/subscriptions/\(name)/accept-price")
            let accepted = try await renewal()
            #expect(accepted["price_consent_status"] == nil && accepted["price_increase_status"] as? String == "1")
            try await client.post("/control/clock", ["advance": "P1M"])
            try await raise(to: 14_990)
            #expect(try await renewal()["price_consent_status"] as? String == "0")
            try await client.post("/control/clock", ["advance": "P2M"])
            let over = try await renewal()
            #expect(over["price_consent_status"] == nil && over["expiration_intent"] as? String == "3")
        }
    }

    @Test("answers 21006 for a transaction receipt in the grace period: the paid period is over")
    func transactionReceiptInGrace() async throws {
        try await SimulatorClient.run { client in
            try await client.openShop()
            let bought = try await client.buy("gold")
            let receipt = try bought.text("evidence", "transaction_receipt")
            let name = try bought.text("transaction", "original_transaction_id")
            try await client.post("/control/subscriptions/\(name)/enter-grace")
            let grace = try await client.verify(receipt).object
            #expect(grace["status"] as? Int == 21006)
            #expect(grace["latest_expired_receipt_info"] != nil && grace["latest_receipt_info"] == nil)
            #expect(grace["expiration_intent"] as? String == "2")
            #expect(grace["is_in_billing_retry_period"] as? String == "1")
            try await client.post("/control/subscriptions/\(name)/recover")
            let renewed = try await client.verify(receipt).object
            #expect(renewed["status"] as? Int == 0 && renewed["latest_receipt_info"] != nil)
            #expect(renewed["expiration_intent"] == nil && renewed["is_in_billing_retry_period"] == nil)
        }
    }

    @Test("accepts only the right address, the right secret, and receipts that it issued itself")
    func refusals() async throws {
        try await SimulatorClient.run { client in
            try await client.openShop(secret: "secret")
            let bought = try await client.buy("gold")
            let receipt = try bought.text("evidence", "app_receipt")
            #expect(try await client.verify(receipt).text == #"{"status":21004}"#)
            #expect(try await client.verify(receipt, ["password": "other"]).text == #"{"status":21004}"#)
            #expect(try await client.verify(receipt, ["password": "secret"]).object["status"] as? Int == 0)
            #expect(try await client.verify(receipt, sandbox: true).text == #"{"status":21008}"#)
            let tested = try await client.buy("coins", by: "tester")
            #expect(try await client.verify(try tested.text("evidence", "app_receipt")).text == #"{"status":21007}"#)
            let foreign = try AppReceiptEncoder(authority: try CertificateAuthority()).encodeBase64(
                .sandbox(bundleID: StoreWorld.app, creationDate: StoreWorld.start, purchases: []))
            #expect(try await client.verify(foreign).text == #"{"status":21003}"#)
            #expect(try await client.verify("%%%").text == #"{"status":21002}"#)
            #expect(try await client.get("/verifyReceipt").text == #"{"status":21000}"#)
            let faults = ["app_receipt": "wrong-root", "transaction_receipt": "flipped-signature-byte"]
            let broken = try await client.buy("coins", ["faults": faults])
            #expect(try await client.verify(try broken.text("evidence", "app_receipt")).text == #"{"status":21003}"#)
            #expect(
                try await client.verify(try broken.text("evidence", "transaction_receipt")).text == #"{"status":21003}"#
            )
        }
    }

    /// Ways in which clients write base64, right and wrong.
    private static func writings(_ receipt: String) -> [(name: String, text: String)] {
        let lines = stride(from: 0, to: receipt.utf8.count, by: 64).map { start in
            receipt.utf8.dropFirst(start).prefix(64)
        }.map { String(decoding: $0, as: UTF8.self) }
        let urlSafe = receipt.replacing("+", with: "-").replacing("/", with: "_")
        let unpadded = receipt.replacing("=", with: "")
        return [
            ("unchanged", receipt), ("lines", lines.joined(separator: "\n")),
            ("lines of Windows", lines.joined(separator: "\r\n") + "\r\n"), ("URL alphabet", urlSafe),
            ("URL alphabet without padding", urlSafe.replacing("=", with: "")), ("without padding", unpadded),
            ("a form's spaces", receipt.replacing("+", with: " ")), ("indented", "  " + receipt + " "),
            ("percent signs inside", receipt.prefix(40) + "%%%%" + receipt.dropFirst(40)),
            ("a quotation mark before", "\"" + receipt), ("text after", receipt + "!"),
            ("form feed inside", receipt.prefix(40) + "\u{0C}" + receipt.dropFirst(40)),
            ("one character less", String(unpadded.dropLast())),
            ("half", String(receipt.prefix(receipt.utf8.count / 8 * 4))),
            ("twice", receipt + receipt), ("encoded twice", Data(receipt.utf8).base64EncodedString()),
            ("of a text", Data("hello".utf8).base64EncodedString()), ("empty", ""), ("padding", "===="),
            ("JWS", "e30.e30.e30"),
        ]
    }

    @Test("reads base64 as the drop-in does: every writing of a receipt has the same status")
    func writings() async throws {
        let service = VerifyReceiptService(
            verifier: try DeliveryWorld.verifier(), environments: [.production, .sandbox], sharedSecret: nil)
        try await SimulatorClient.run(SimulatorClient.configuration { $0.environmentNames = .apple }) { client in
            try await client.openShop()
            let bought = try await client.buy("coins")
            for kind in ["app_receipt", "transaction_receipt"] {
                for (name, text) in Self.writings(try bought.text("evidence", kind)) {
                    let body = try JSONSerialization.data(withJSONObject: ["receipt-data": text])
                    let dropIn = service.answer([UInt8](body), at: .production, now: AppStoreTime(StoreWorld.start))
                    let status = try await client.verify(text).object["status"] as? Int
                    #expect(status == dropIn.response.status.rawValue, "\(kind), \(name)")
                }
            }
        }
    }

    @Test(
        "answers with every status on demand, with the requested spelling of the retry flag",
        arguments: [
            0, 21000, 21001, 21002, 21003, 21004, 21005, 21006, 21007, 21008, 21009, 21010, 21100, 21150, 21199,
        ])
    func statuses(status: Int) async throws {
        try await SimulatorClient.run { client in
            try await client.openShop()
            let receipt = try await client.buy("coins").text("evidence", "app_receipt")
            try await client.post(
                "/control/faults/answers", ["kind": "status", "status": status, "spelling": "both", "count": 2])
            for _ in 0..<2 {
                let object = try await client.verify(receipt).object
                #expect(object["status"] as? Int == status)
                let retries = status >= 21100 ? true : status == 21010 ? false : nil
                #expect(object["is_retryable"] as? Bool == retries)
                #expect(object["is-retryable"] as? Bool == retries)
            }
            #expect(try await client.verify(receipt).object["status"] as? Int == 0)
        }
    }

    @Test("fails, breaks its JSON or the connection on demand, and then answers again")
    func transport() async throws {
        try await SimulatorClient.run { client in
            try await client.openShop()
            let receipt = try await client.buy("coins").text("evidence", "app_receipt")
            for kind in ["outage", "broken-json", "reset"] {
                try await client.post("/control/faults/answers", ["kind": kind, "milliseconds": 1])
            }
            #expect(try await client.verify(receipt).status == 503)
            let broken = try await client.verify(receipt)
            #expect(broken.status == 200)
            #expect(throws: (any Error).self) { try JSONSerialization.jsonObject(with: Data(broken.text.utf8)) }
            await #expect(throws: (any Error).self) { try await client.verify(receipt) }
        }
        try await SimulatorClient.run { client in
            let impossible = try await client.post("/control/faults/answers", ["kind": "status", "status": 7])
            #expect(impossible.status == 422)
            let unknown = try await client.post("/control/faults/answers", ["kind": "flood"])
            #expect(unknown.status == 400)
        }
    }
}
