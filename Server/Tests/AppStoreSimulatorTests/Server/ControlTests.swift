import AppStoreSimulator
import EvidenceMint
import Foundation
import HTTPTypes
import NIOCore
import PurchaseVerification
import ServerTestSupport
import TestSupport
import Testing

@Suite("The control API")
struct ControlTests {
    private func folder() throws -> URL {
        let folder = FileManager.default.temporaryDirectory.appending(path: "assay-store-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        return folder
    }

    @Test("accepts kinds with - and with _", arguments: ["auto-renewable", "auto_renewable"])
    func kinds(kind: String) async throws {
        try await SimulatorClient.run(SimulatorClient.configuration()) { client in
            try await client.openShop(kind: kind)
            let bought = try await client.buy("gold")
            #expect(bought.text.contains(#""kind":"auto-renewable""#), "\(bought.text)")
            let unknown = try await client.post(
                "/control/products", ["bundle_id": StoreWorld.app, "product_id": "x", "kind": "renewable"])
            #expect(unknown.status == 400)
            let words = "kind: 'renewable' is not one of consumable, non-consumable, non-renewing, auto-renewable."
            #expect(try unknown.text("detail") == words)
            let nowhere = try await client.post("/control/clock/advance")
            #expect(nowhere.status == 404)
            #expect(
                try nowhere.text("detail")
                    == "There is no route POST /control/clock/advance; GET /openapi.yaml lists all.")
        }
    }

    @Test("has the same state after a restart")
    func restart() async throws {
        let folder = try folder()
        defer { try? FileManager.default.removeItem(at: folder) }
        let path = folder.appending(path: "store.db").path
        let configuration = SimulatorClient.configuration { $0.database = path }
        let receipt = Box<String>()
        let before = Box<String>()
        try await SimulatorClient.run(configuration) { client in
            try await client.openShop()
            receipt.value = try await client.buy("gold").text("evidence", "app_receipt")
            try await client.post("/control/clock", ["advance": "P2M"])
            try await client.post("/control/faults/evidence", ["kind": "app_receipt", "fault": "wrong-root"])
            before.value = try await client.get("/control/state").text
        }
        try await SimulatorClient.run(configuration) { client in
            #expect(try await client.get("/control/state").text == before.value)
            let answer = try await client.verify(receipt.value ?? "").object
            #expect((answer["latest_receipt_info"] as? [Any])?.count == 3)
            try await client.post("/control/reset")
            #expect(try await client.verify(receipt.value ?? "").object["status"] as? Int == 21003)
        }
        try await SimulatorClient.run(configuration) { client in
            let state = try await client.get("/control/state").object
            #expect((state["apps"] as? [Any])?.isEmpty == true)
        }
    }

    @Test("refuses a file that another simulator has open, a folder, and a file of another program, with the reason")
    func unusableFiles() async throws {
        let folder = try folder()
        defer { try? FileManager.default.removeItem(at: folder) }
        let path = folder.appending(path: "store.db").path
        let text = folder.appending(path: "notes.txt").path
        try "not a database, and longer than the header of one".write(
            toFile: text, atomically: true, encoding: .utf8)
        try await SimulatorClient.run(SimulatorClient.configuration { $0.database = path }) { client in
            _ = try await client.get("/healthz")
            for (file, words) in [
                (path, "is in use by another program"), (folder.path, "is a folder"),
                ("\(folder.path)/none/store.db", "does not exist"), (text, "is not an SQLite database"),
            ] {
                let error = await #expect(throws: SimulatorConfigurationError.self, "\(file)") {
                    try await SimulatorClient.run(SimulatorClient.configuration { $0.database = file }) { _ in }
                }
                #expect(error?.description.contains(words) == true, "\(error?.description ?? "")")
            }
        }
    }

    @Test(
        "refuses unknown fields at every depth, with the nearest known one",
        arguments: [
            (["bundleId": "x"], "'bundleId'", "did you mean 'bundle_id'?"),
            (["bundle_id": "x", "colour": 1], "'colour'", "Known fields: bundle_id,"),
            (["subscription": ["group_id": "g", "perod": "P1M"]], "'subscription.perod'", "did you mean 'period'?"),
            (["subscription": ["offers": [["offer-id": "o"]]]], "'subscription.offers.offer-id'", "'offer_id'?"),
        ] as [([String: any Sendable], String, String)])
    func unknownFields(body: [String: any Sendable], field: String, words: String) async throws {
        try await SimulatorClient.run { client in
            let answer = try await client.post("/control/products", body)
            #expect(try answer.text("code") == "unknown_field")
            let detail = try answer.text("detail")
            #expect(detail.contains(field) && detail.contains(words), "\(detail)")
            #expect(try await client.get("/control/state").object["products"] as? [Int] == [])
        }
    }

    @Test("answers with evidence that contains the very transaction, also after its receipt was refreshed without it")
    func ownEvidence() async throws {
        try await SimulatorClient.run { client in
            try await client.openShop()
            let coins = try await client.buy("coins").text("transaction", "transaction_id")
            try await client.post("/control/transactions/\(coins)/finish")
            try await client.post(
                "/control/receipts/refresh", ["bundle_id": StoreWorld.app, "customer_id": "ada"])
            let gold = try await client.buy("gold").text("transaction", "transaction_id")
            let renewed = try await client.post("/control/subscriptions/\(gold)/renew")
                .text("transaction", "transaction_id")
            #expect(renewed != gold)
            for id in [coins, gold, renewed] {
                let answer = try await client.get("/control/transactions/\(id)")
                let receipt = try await client.verify(try answer.text("evidence", "app_receipt")).object
                let purchases = (receipt["receipt"] as? [String: Any])?["in_app"] as? [[String: Any]]
                #expect(purchases?.contains { $0["transaction_id"] as? String == id } == true, "\(id)")
            }
        }
    }

    @Test("gives the same content for the same calls, authority and clock")
    func sameContent() async throws {
        let texts = Box<[String]>()
        for _ in 0..<2 {
            try await SimulatorClient.run { client in
                try await client.openShop()
                try await client.buy("coins")
                let gold = try await client.buy("gold")
                try await client.post("/control/clock", ["advance": "P1Y"])
                let receipt = try gold.text("evidence", "app_receipt")
                texts.value =
                    (texts.value ?? []) + [
                        receipt, try gold.text("evidence", "transaction_receipt"),
                        try await client.get("/control/state").text, try await client.verify(receipt).text,
                    ]
            }
        }
        let all = try #require(texts.value)
        #expect(Array(all.prefix(4)) == Array(all.suffix(4)))
    }

    @Test("runs the clock at the given speed, so that a year passes in a second")
    func fastClock() async throws {
        try await SimulatorClient.run { client in
            try await client.openShop()
            try await client.buy("gold")
            try await client.post("/control/clock", ["rate": 316_224_000])
            try await Task.sleep(for: .milliseconds(50))
            try await client.post("/control/clock", ["rate": 0])
            let state = try await client.get("/control/state").object
            let count = (state["transactions"] as? [Any])?.count ?? 0
            #expect(count > 2, "half a year and more has passed")
            #expect((try await client.get("/control/state").object["transactions"] as? [Any])?.count == count)
        }
    }

    @Test("stops a running clock at its last time, where everything else still works")
    func endOfTime() async throws {
        try await SimulatorClient.run { client in
            try await client.openShop()
            try await client.post("/control/clock", ["time": "8999-12-31T00:00:00Z"])
            try await client.post("/control/clock", ["rate": 316_224_000])
            try await Task.sleep(for: .milliseconds(50))
            try await client.post("/control/clock", ["rate": 0])
            try await client.buy("coins")
            let state = try await client.get("/control/state").object
            #expect((state["transactions"] as? [Any])?.count == 1)
        }
    }

    @Test(
        "refuses times that do not exist",
        arguments: [
            "2027-02-29T10:00:00Z", "2026-13-01T00:00:00Z", "2027-03-01T25:61:61Z", "2027-04-31T10:00:00+02:00", "now",
        ])
    func impossibleTimes(time: String) async throws {
        try await SimulatorClient.run { client in
            let before = try await client.get("/control/state").text
            let refused = try await client.post("/control/clock", ["time": time])
            #expect(refused.status == 400)
            #expect(try refused.text("code") == "invalid_request")
            #expect(try await client.get("/control/state").text == before)
            #expect(try await client.post("/control/clock", ["time": "2028-02-29T23:59:59+02:00"]).status == 200)
        }
    }

    @Test(
        "refuses text after a time, as `assay mint` does",
        arguments: ["2027-03-01T10:00:00Z+09:00", "2027-03-01T10:00:00Zjunk", "2027-03-01T10:00:00+09:00Z"])
    func textAfterATime(time: String) async throws {
        #expect(AppStoreTime(time) == nil)
        try await SimulatorClient.run { client in
            let refused = try await client.post("/control/clock", ["time": time])
            #expect(refused.status == 400)
            #expect(try refused.text("detail") == "time: '\(time)' is not a time such as 2026-01-31T12:00:00Z.")
        }
    }

    @Test("returns the notification of an event")
    func notifications() async throws {
        try await SimulatorClient.run { client in
            try await client.openShop()
            try await client.buy("gold")
            let told = try await client.get("/control/events/1/notification").object
            #expect((told["payload"] as? [String: Any])?["notificationType"] as? String == "SUBSCRIBED")
            #expect((told["transaction"] as? [String: Any])?["productId"] as? String == "gold")
            #expect((told["renewal_info"] as? [String: Any])?["autoRenewStatus"] as? Int == 1)
            #expect((told["signed_payload"] as? String)?.split(separator: ".").count == 3)
            try await client.post(
                "/control/receipts/refresh", ["bundle_id": StoreWorld.app, "customer_id": "ada"])
            #expect(try await client.get("/control/events/2/notification").status == 409)
            #expect(try await client.get("/control/events/9/notification").status == 404)
        }
    }

    @Test("has environment names that cannot be mistaken for Apple's, unless the operator chooses Apple's")
    func environmentNames() async throws {
        try await SimulatorClient.run(SimulatorClient.configuration { $0.environmentNames = .simulator }) { client in
            try await client.openShop()
            let bought = try await client.buy("coins")
            let parts = try bought.text("evidence", "signed_transaction").split(separator: ".")
            var payload = String(parts[1]).replacing("-", with: "+").replacing("_", with: "/")
            while payload.count % 4 != 0 { payload += "=" }
            let claims = String(decoding: try #require(Data(base64Encoded: payload)), as: UTF8.self)
            #expect(claims.contains(#""environment":"AssaySimulatorProduction""#))
            let answer = try await client.verify(try bought.text("evidence", "app_receipt"))
            #expect(answer.text.hasPrefix(#"{"environment":"AssaySimulatorProduction""#))
            #expect(answer.text.contains(#""receipt_type":"AssaySimulatorProduction""#))
        }
    }

    @Test("answers errors as problem documents with a code, and changes nothing")
    func problems() async throws {
        try await SimulatorClient.run { client in
            try await client.openShop()
            let unknown = try await client.post(
                "/control/purchases", ["bundle_id": StoreWorld.app, "product_id": "pearls", "customer_id": "ada"])
            #expect(unknown.status == 404)
            #expect(try unknown.text("code") == "unknown_product")
            let faulty = try await client.post(
                "/control/purchases",
                [
                    "bundle_id": StoreWorld.app, "product_id": "coins", "customer_id": "ada",
                    "faults": ["app_receipt": "no-such-fault"],
                ])
            #expect(try faulty.text("code") == "invalid_value")
            let nothing = try await client.post("/control/apps", [:])
            #expect(try nothing.text("code") == "invalid_request")
            #expect(try nothing.text("detail") == "'bundle_id' is missing.")
            #expect(try await client.post("/control/apps", [:], contentType: "text/plain").status == 415)
            #expect(try await client.post("/control/transactions/1/refund").status == 404)
            #expect((try await client.get("/control/state").object["transactions"] as? [Any])?.isEmpty == true)
        }
    }

    @Test("refunds in parts, reverses, and extends a subscription")
    func partsAndExtensions() async throws {
        try await SimulatorClient.run { client in
            try await client.openShop()
            let coins = try await client.buy("coins", by: "ada", ["quantity": 3]).text("transaction", "transaction_id")
            let refund = try await client.post("/control/transactions/\(coins)/refund", ["percentage": 33_333])
            #expect(refund.text.contains(#""percentage":33333"#))
            let nothing = try await client.post("/control/transactions/\(coins)/refund", ["percentage": 0])
            #expect(try nothing.text("code") == "invalid_value")
            let clean = try await client.post("/control/transactions/\(coins)/reverse-refund")
            #expect(clean.status == 200 && !clean.text.contains("percentage"))
            let gold = try await client.buy("gold").text("transaction", "transaction_id")
            let before = try await client.get("/control/subscriptions/\(gold)").text("subscription", "expires_date")
            let extended = try await client.post("/control/subscriptions/\(gold)/extend", ["days": 30])
            #expect(try extended.text("subscription", "expires_date") > before)
            let nowhere = try await client.post("/control/subscriptions/\(gold)/extend")
            #expect(try nowhere.text("code") == "invalid_value")
            #expect(try await client.get("/control/events").text.contains("RENEWAL_EXTENDED"))
        }
    }

    @Test("signs the next evidence with the requested fault, once")
    func evidenceFaults() async throws {
        try await SimulatorClient.run { client in
            try await client.openShop()
            try await client.post("/control/faults/evidence", ["kind": "app_receipt", "fault": "empty-in-app"])
            let wrong = try await client.buy("coins").text("evidence", "app_receipt")
            let right = try await client.buy("coins").text("evidence", "app_receipt")
            #expect(wrong.count < right.count)
            #expect(try await client.verify(wrong).object["status"] as? Int != 0)
            #expect(try await client.verify(right).object["status"] as? Int == 0)
        }
    }

    @Test("serves the published document, which names every route, and a page without other resources")
    func documents() async throws {
        let published = try String(
            contentsOf: Corpus.projectFolder.appending(
                path: "Server/Sources/AppStoreSimulator/Server/Resources/simulator-openapi.yaml"), encoding: .utf8)
        try await SimulatorClient.run { client in
            #expect(try await client.get("/openapi.yaml").text == published)
            let page = try await client.get("/").text
            #expect(page.hasPrefix("<!doctype html>"))
            #expect(!page.contains("https://"))
            #expect(try await client.get("/trust.pem").text.contains("BEGIN CERTIFICATE"))
            let root = try await client.http.execute(uri: "/signed-data/root.der", method: .get)
            #expect(Array(root.body.readableBytesView) == (try StoreWorld.authority()).signedPayload.root.certificate)
            // Each path of the document is a route: with example parts, the router's own 404 is not the answer.
            let paths = published.split(separator: "\n").filter { $0.hasPrefix("  /") }.map { line in
                line.trimmingCharacters(in: [" ", ":"]).replacing("{id}", with: "1").replacing("{number}", with: "1")
                    .replacing("{second}", with: "1")
            }
            #expect(paths.count > 30)
            for path in paths {
                var codes: [String] = []
                for method in [HTTPRequest.Method.get, .post, .put, .delete] {
                    let response = try await client.http.execute(
                        uri: path, method: method, headers: [.contentType: "application/json"])
                    let answer = SimulatorClient.Answer(
                        status: response.status.code, text: String(buffer: response.body))
                    codes.append(answer.text.contains("\"code\"") ? try answer.text("code") : "")
                }
                #expect(!codes.allSatisfy { $0 == "not_found" }, "\(path)")
            }
        }
    }
}

/// A box for a value from a closure.
final class Box<Value: Sendable>: @unchecked Sendable {
    var value: Value?
}
