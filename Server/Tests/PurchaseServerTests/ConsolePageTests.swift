import Foundation
import HTTPTypes
import PurchaseAPI
import PurchaseLedger
import PurchaseServer
import ServerTestSupport
import TestSupport
import Testing

/// What the pages of the console show, and what their forms do.
@Suite("Pages of the console", .console)
struct ConsolePageTests {
    let world: PurchaseServerWorld = CurrentWorld.opened()

    @Test("The search leads to the purchase by its transaction, to the owner, and to the sentences for the complaint")
    func search() async throws {
        _ = try await world.send(.post, "/v1/purchases", try PurchaseServerWorld.purchase(), as: .client)
        let again = try PurchaseServerWorld.purchase(customerID: "mallory")
        _ = try await world.send(.post, "/v1/purchases", again, as: .client)
        var browser = try await ConsoleBrowser.signedIn(world, "ann", .view)
        #expect(try await browser.get("/console/search?q=2000000000000001").status == 303)
        let purchase = try await browser.get("/console/purchase?app=example&id=2000000000000001")
        #expect(purchase.text.contains("Customer") || purchase.text.contains("alice"))
        let mallory = try await browser.get("/console/customer?app=example&id=mallory")
        #expect(mallory.text.contains("The purchase was claimed before."))
        let nobody = try await browser.get("/console/search?q=zoe")
        #expect(nobody.status == 200 && nobody.text.contains("Nothing recorded has this name"))
    }

    @Test("The state page draws what was sealed in the last 48 hours, with the codes of refused claims")
    func today() async throws {
        _ = try await world.send(.post, "/v1/purchases", try PurchaseServerWorld.purchase(), as: .client)
        for name in ["mallory", "mike"] {
            let again = try PurchaseServerWorld.purchase(customerID: name)
            _ = try await world.send(.post, "/v1/purchases", again, as: .client)
        }
        var browser = try await ConsoleBrowser.signedIn(world, "ann", .view)
        var page = ""
        for _ in 0..<6000 {
            guard !page.contains("Refused claims: 2") else { break }
            try await Task.sleep(for: .milliseconds(50))
            page = try await browser.get("/console/state").text
        }
        #expect(page.contains("<strong>Purchases: 1</strong>") && page.contains("<strong>Refunds: 0</strong>"))
        #expect(ConsoleBrowser.words(page).contains("already_claimed 2 The purchase was claimed before."))
        world.clock.advance(seconds: 48 * 3600)
        _ = try await browser.post("/console/sign-in", ["name": "ann", "password": ConsoleBrowser.password])
        page = try await browser.get("/console/state").text
        #expect(page.contains("<strong>Purchases: 0</strong>") && !page.contains("already_claimed"))
    }

    @Test("55 Figures have a page, for the sandbox when it is chosen, and for one product")
    func figures() async throws {
        _ = try await world.send(.post, "/v1/purchases", try PurchaseServerWorld.purchase(), as: .client)
        var browser = try await ConsoleBrowser.signedIn(world, "ann", .view)
        let address = "/console/figures?app=example&by=month&environment"
        #expect(try await browser.get("\(address)=Production").text.contains("<strong>Units: 0</strong>"))
        let product = try await browser.get("\(address)=Sandbox&product=com.example.app.coins").text
        #expect(product.contains("Figures of com.example.app.coins") && product.contains("<strong>Units: "))
        #expect(try await browser.get("/console/figures?app=none").status == 400)
    }

    @Test("The record of a customer is one page to save, with what happened, and nothing of theirs in the redacted one")
    func pack() async throws {
        _ = try await world.send(.post, "/v1/purchases", try PurchaseServerWorld.purchase(), as: .client)
        var browser = try await ConsoleBrowser.signedIn(world, "ann", .view)
        let whole = try await browser.get("/console/pack?app=example&customer=alice")
        #expect(whole.status == 200 && whole.text.contains("Customer alice"))
        #expect(whole.text.contains("<h2>What happened</h2>") && whole.text.contains("2000000000000001"))
        let redacted = try await browser.get("/console/pack?app=example&customer=alice&redacted=yes")
        #expect(redacted.status == 200 && !redacted.text.contains("alice"))
        #expect(try await browser.get("/console/pack?app=example&id=9").status == 404)
        #expect(try await browser.get("/console/pack?app=example&customer=nobody").status == 400)
        var stranger = try ConsoleBrowser(world)
        #expect(try await stranger.get("/console/pack?app=example&customer=alice").status == 303)
    }

    @Test("A purchase shows who claimed it, its evidence with the checks, and the proof as a file")
    func story() async throws {
        let receipt = Array(try MintedWorld.mint())
        let claim = try PurchaseServerWorld.purchase(receipt: receipt)
        _ = try await world.send(.post, "/v1/purchases", claim, as: .client)
        var browser = try await ConsoleBrowser.signedIn(world, "ann", .view)
        let page = try await browser.get("/console/purchase?app=example&id=2000000000000001").text
        for part in ["Who claimed it", "accepted", "The evidence, checked now", "Certificate path", "Genuine."] {
            #expect(page.contains(part), "\(part)")
        }
        let link = try #require(page.firstMatch(of: /href="(\/console\/proof[^"]+)"/)).1
        let path = String(link).replacing("&amp;", with: "&")
        var proof = try await browser.get(path)
        for _ in 0..<6000 {
            guard proof.status != 200 else { break }
            try await Task.sleep(for: .milliseconds(50))
            proof = try await browser.get(path)
        }
        let read = try EntryProof(json: Array(proof.text.utf8))
        let sent = [receipt, Array(Data(receipt).base64EncodedString().utf8)]
        #expect(read.entry?.kind == .claim && read.evidence.map { sent.contains($0) } == true)
        #expect(try await browser.get("/console/proof?app=example&id=\(UUID())").status == 503)
    }

    @Test("The units of a customer are shown by purchase, and each event with how far it is delivered")
    func lotsAndDeliveries() async throws {
        let receipt = try PurchaseServerWorld.coins(["71", "72"])
        for id in ["71", "72"] {
            _ = try await world.send(
                .post, "/v1/purchases", try PurchaseServerWorld.purchase(id, receipt: receipt), as: .client)
        }
        let hook = "https://example.com/hook"
        _ = try await world.ledger.perform(
            LeaseWebhook(app: "example", url: hook, owner: [UInt8](repeating: 1, count: 16), beginning: 1))
        _ = try await world.send(
            .post, "/v1/customers/alice/consume", PurchaseServerWorld.consumption(quantity: 1), as: .backend)
        var browser = try await ConsoleBrowser.signedIn(world, "ann", .view)
        let page = try await browser.get("/console/customer?app=example&id=alice").text
        #expect(page.contains("Units of com.example.app.coins (sandbox), by purchase"))
        let words = ConsoleBrowser.words(page)
        #expect(words.matches(of: /7[12] 1 0 0 1\s/).count == 1, "one is left")
        #expect(words.matches(of: /7[12] 1 1 0 0\s/).count == 1, "one is used up")
        #expect(!page.contains("Delivered to"), "the settings have no such receiver")
        #expect(page.contains(#"<polygon class="purchase""#) && page.contains(#"<polygon class="claim""#))
    }

    @Test("External purchase tokens have pages with their state and line items, and a customer's page has their offers")
    func externalPurchases() async throws {
        _ = try await world.send(.post, "/v1/purchases", try PurchaseServerWorld.purchase(), as: .client)
        for number in 1...26 {
            let token = ExternalPurchase(
                id: "token-\(number)", bundleID: "com.example.app", tokenType: "SERVICES", createdAt: 1_769_860_800_000,
                expiresAt: 4_102_444_800_000)
            _ = try await world.ledger.perform(StateExternalPurchase(app: "example", token: token, isDuplicate: false))
        }
        let refund = try ExternalLineItem([
            "lineItemId": "a<b>", "creationDate": 1, "eventType": "REFUND", "referenceLineItemId": "sale",
            "amountTaxExclusive": 1, "taxAmount": 0, "amountTaxInclusive": 1, "netAmountTaxExclusive": 1,
            "reportingCurrency": "EUR", "pricingCurrency": "EUR", "taxCountry": "ESP",
        ])
        _ = try await world.ledger.perform(StateExternalPurchase(app: "example", id: "token-7", lineItems: [refund]))
        let answer = RecordExternalReport.Answer.refused(
            requestID: "request-1", [ReportedLineItem(refund)], "3: unknown <sale>")
        try await world.ledger.perform(RecordExternalReport(app: "example", id: "token-7", answer))
        var browser = try await ConsoleBrowser.signedIn(world, "ann", .view)
        let customer = try await browser.get("/console/customer?app=example&id=alice").text
        #expect(ConsoleBrowser.words(customer).contains("introductory yes The customer never had a subscription"))
        #expect(customer.contains(#"href="/console/external?app=example""#))
        let list = try await browser.get("/console/external?app=example").text
        #expect(list.contains("token-26") && list.contains("SERVICES") && !list.contains("token-1<"))
        let next = String(try #require(list.firstMatch(of: /href="([^"]*before=[^"]*)"/)).1).replacing(
            "&amp;", with: "&")
        #expect(try await browser.get(next).text.contains("token-1<"))
        let refused = try await browser.get("/console/external?app=example&state=refused").text
        #expect(refused.contains("token-7") && !refused.contains("token-26"))
        let token = try await browser.get("/console/external?app=example&id=token-7").text
        for part in [
            "refused: the backend has to state", "request-1", "3: unknown &lt;sale&gt;", "a&lt;b&gt;",
            "not as stated last",
        ] { #expect(token.contains(part), "\(part)") }
        #expect(try await browser.get("/console/external?app=example&id=none").status == 400)
        #expect(try await browser.get("/console/search?q=token-7").status == 303)
    }

    @Test("The latest event comes first, with how far it is delivered to each receiver of the settings")
    func deliveries() async throws {
        let hook = "http://127.0.0.1:9/hook"
        let url = try #require(WebhookURL(hook))
        let secret = try #require(WebhookSecret("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYo="))
        try await PurchaseServerWorld.run {
            $0.admin = .port(host: "127.0.0.1", 0)
            $0.webhooks = [Webhook(app: "example", url: url, secrets: [secret], allowedHosts: ["127.0.0.1"])]
        } _: { world async throws in
            let list = WebhookList(app: "example")
            for _ in 0..<6000 {
                guard try await world.ledger.answer(list).isEmpty else { break }
                try await Task.sleep(for: .milliseconds(50))
            }
            for number in 1...30 {
                _ = try await world.ledger.perform(
                    GrantByHand(
                        app: "example", customerID: "bob", productID: "com.example.app.pro", reason: "reason \(number)."
                    ))
            }
            var browser = try await ConsoleBrowser.signedIn(world, "ann", .view)
            let path = "/console/customer?app=example&id=bob"
            let page = try await browser.get(path).text
            #expect(page.contains("reason 30.") && page.contains("reason 6.") && !page.contains("reason 5."))
            #expect(page.contains("Waits for \(hook)."))
            let next = try #require(page.firstMatch(of: /href="(\/console\/customer[^"]*events=[0-9]+)"/)).1
            var earlier = ""
            // The others of the customer wait behind the first.
            let failed = #/Waits for http://127\.0\.0\.1:9/hook after [0-9]+ failed, connection_failed: error /#
            for _ in 0..<6000 {
                guard earlier.firstMatch(of: failed) == nil else { break }
                try await Task.sleep(for: .milliseconds(50))
                earlier = try await browser.get(String(next).replacing("&amp;", with: "&")).text
            }
            #expect(earlier.contains("reason 5.") && earlier.contains("reason 1.") && !earlier.contains("reason 6."))
            #expect(earlier.firstMatch(of: failed) != nil && !earlier.contains("Earlier events"))
        }
    }

    @Test("A file is inspected byte for byte, and a file beats the text beside it")
    func upload() async throws {
        var browser = try await ConsoleBrowser.signedIn(world, "ann", .view)
        _ = try await browser.get("/console/inspect")
        let receipt = Array(try MintedWorld.mint())
        for file in [receipt, Array(Data(receipt).base64EncodedString().utf8)] {
            let page = try await browser.upload("/console/inspect", ["evidence": "x", "app": "example"], file: file)
            #expect(page.status == 200 && page.text.contains("Genuine."))
        }
        let broken = try await browser.upload("/console/inspect", ["app": "example"], file: receipt.dropLast())
        #expect(broken.status == 200 && !broken.text.contains("Genuine."))
        let text = try await browser.upload("/console/inspect", ["evidence": "x", "app": "example"], file: [])
        #expect(text.text.contains("<h2>Result</h2>"))
        for (lines, isRead) in [(80, true), (100, false)] {
            let more = String(repeating: "X-Y: twenty bytes.\r\n", count: lines)
            let page = try await browser.upload("/console/inspect", ["app": "example"], file: receipt, more: more)
            #expect(page.text.contains("Genuine.") == isRead && page.text.contains("Nothing was sent") == !isRead)
        }
        let untold = try await browser.upload("/console/inspect", ["token": "x"], file: receipt)
        #expect(untold.status == 403)
    }

    @Test("The time of answers to claims is drawn, and survives a restart of the counting")
    func times() async throws {
        var browser = try await ConsoleBrowser.signedIn(world, "ann", .view)
        #expect(try await browser.get("/console/state").text.contains("<strong>Answers to claims: none</strong>"))
        let bounds = AnswerTimeBound.all
        #expect(bounds.map { AnswerTimeBound(code: $0.code) } == bounds && AnswerTimeBound(code: "7") == nil)
        #expect(AnswerTimeBound(of: .milliseconds(10)).milliseconds == 10)
        #expect(AnswerTimeBound(of: .microseconds(10_001)).milliseconds == 25)
        #expect(AnswerTimeBound(of: .seconds(11)).milliseconds == nil)
        let (fast, slow) = (AnswerTimeBound(of: .milliseconds(4)), AnswerTimeBound(of: .seconds(60)))
        try await world.ledger.perform(AddAnswerTimes(["example": [fast: 60, slow: 40], "other": [slow: 999]]))
        try await world.ledger.perform(AddAnswerTimes(["example": [fast: 840]]))
        let page = try await browser.get("/console/state").text
        #expect(page.contains("half within 5 ms, 95 of 100 within 5 ms"), "900 of 940 are within it")
        try await world.ledger.perform(AddAnswerTimes(["example": [slow: 40]]))
        let later = try await browser.get("/console/state").text
        #expect(later.contains("half within 5 ms, 95 of 100 after more than 10000 ms"))
    }

    @Test("An admin delivers events again since a time, an operator ends one session of their own, and nobody else's")
    func resendAndSessions() async throws {
        let hook = "https://example.com/hook"
        _ = try await world.ledger.perform(
            LeaseWebhook(app: "example", url: hook, owner: [UInt8](repeating: 1, count: 16), beginning: 0))
        _ = try await world.ledger.perform(
            GrantByHand(app: "example", customerID: "bob", productID: "com.example.app.pro", reason: "goodwill"))
        var support = try await ConsoleBrowser.signedIn(world, "sam", .support)
        let since = ["act": "since", "app": "example", "url": hook, "stream": "", "since": "2020-01-01T00:00"]
        #expect(try await support.post("/console/state", since).status == 403)
        var admin = try await ConsoleBrowser.signedIn(world, "ann", .admin)
        let sent = try await admin.post("/console/state", since)
        #expect(
            sent.status == 200
                && ConsoleBrowser.words(sent.text).contains("From 1 Jan 2020, 00:00 UTC on, 1 event is"))
        #expect(sent.text.contains("it is not in the settings, so nothing is delivered"))
        #expect(try await admin.post("/console/state", since.merging(["act": "x"]) { $1 }).status == 400)
        let log = ConsoleBrowser.words(try await admin.get("/console/operators").text)
        #expect(log.contains("webhook changed") && log.contains("everything since 1 Jan 2020, 00:00 UTC is sent again"))
        for wrong in ["", "yesterday", "2020-01-01T00:00+02:00", "9999-01-01T00:00"] {
            #expect(try await admin.post("/console/state", since.merging(["since": wrong]) { $1 }).status == 400)
        }
        #expect(
            try await admin.post("/console/state", since.merging(["url": "https://x.example"]) { $1 }).status == 400
        )
        var second = try ConsoleBrowser(world)
        _ = try await second.post("/console/sign-in", ["name": "ann", "password": ConsoleBrowser.password])
        let page = try await admin.get("/console/operators").text
        let other = try #require(
            page.firstMatch(of: /name="session" value="([0-9a-f]{16})"><span>(?:(?!<\/span>).)*<\/span> <button/)
        ).1
        let end = ["act": "end-one", "session": String(other)]
        #expect(try await support.post("/console/operators", end).status == 200)
        #expect(try await second.get("/console").status == 200, "another operator cannot end it")
        #expect(try await admin.post("/console/operators", end).status == 200)
        #expect(try await second.get("/console").status == 303)
        #expect(try await admin.get("/console").status == 200)
    }
}
