import EvidenceMint
import Foundation
import HTTPConnections
import HTTPTypes
import PurchaseAPI
import PurchaseLedger
import PurchaseServer
import ServerTestSupport
import TestSupport
import Testing

/// What people see in the console, and that its forms work where they are offered.
@Suite("48 The console in use", .console)
struct ConsoleUseTests {
    let world: PurchaseServerWorld = CurrentWorld.opened()

    private static let pro = "com.example.app.pro"

    /// A month of a subscription that began two months before the minted world's moment.
    private static func month(_ number: Int, refundedAt: Date? = nil) throws -> PurchaseServerWorld.SignedPurchase {
        let start = MintedWorld.moment.addingTimeInterval(Double(number - 3) * 30 * 86_400)
        return try PurchaseServerWorld.signed("30000000000000\(number)", product: "com.example.app.monthly") {
            $0.type = .autoRenewableSubscription
            $0.originalTransactionID = "300000000000001"
            $0.webOrderLineItemID = "70000000000000\(number)"
            $0.subscriptionGroupIdentifier = "20000001"
            $0.purchaseDate = start
            $0.originalPurchaseDate = MintedWorld.moment.addingTimeInterval(-60 * 86_400)
            $0.expiresDate = start.addingTimeInterval(30 * 86_400)
            ($0.price, $0.currency) = (4_990, "EUR")
            if let refundedAt {
                ($0.revocationDate, $0.revocationReason) = (refundedAt, 0)
                $0.signedDate = MintedWorld.moment.addingTimeInterval(30)
            }
        }
    }

    @Test(
        "48.4 A refund paints its own period alone, not the paid ones after it, and the drawing has dates on its axis")
    func drawing() async throws {
        for purchase in [
            try Self.month(3), try Self.month(2), try Self.month(1),
            try Self.month(1, refundedAt: MintedWorld.moment),
        ] {
            let answer = try await world.send(.post, "/v1/purchases", purchase.claim(), as: .client)
            // A claim of a period that ended or was refunded is refused, and its evidence counts.
            #expect([200, 422].contains(answer.status), "\(answer.text)")
        }
        var browser = try await ConsoleBrowser.signedIn(world, "ann", .view)
        let page = try await browser.get("/console/customer?app=example&id=alice").text
        let bars = page.matches(
            of: /<rect class="([a-z]+)" x="([0-9.]+)" y="[0-9.]+" width="([0-9.]+)"[^>]*><title>([^<]*)/
        )
        .map { (style: $0.1, start: Double($0.2) ?? 0, width: Double($0.3) ?? 0, words: String($0.4)) }
        .sorted { $0.start < $1.start }
        #expect(bars.map(\.style) == ["withdrawn", "paid", "paid"])
        #expect(
            bars.first?.words
                == "15 Sep 2023, 22:13 UTC to 15 Oct 2023, 22:13 UTC: refunded 14 Nov 2023, 22:13 UTC")
        for (bar, next) in zip(bars, bars.dropFirst()) { #expect(bar.start + bar.width <= next.start) }
        let axis = page.matches(of: /<text class="axis [a-z]+"[^>]*>([^<]+)/).map { String($0.1) }
        #expect(axis == ["1 Oct 2023", "1 Nov 2023", "1 Dec 2023"])
    }

    @Test("48.5 Products and purchases are chosen from those of the settings and of the page")
    func choices() async throws {
        _ = try await world.send(.post, "/v1/purchases", try PurchaseServerWorld.purchase(), as: .client)
        _ = try await world.ledger.perform(
            GrantByHand(app: "example", customerID: "bob", productID: Self.pro, reason: "goodwill"))
        var browser = try await ConsoleBrowser.signedIn(world, "sam", .support)
        let alice = try await browser.get("/console/customer?app=example&id=alice").text
        let options = alice.matches(of: /<option value="([^"]+)"/).map { String($0.1) }
        let products = ["com.example.app.coins", "com.example.app.monthly", Self.pro]
        #expect(options == products + ["2000000000000001", "2000000000000001"], "to revoke and to transfer")
        let bob = try await browser.get("/console/customer?app=example&id=bob").text
        #expect(bob.contains("Grant a product") && !bob.contains("Revoke a purchase"), "bob has none")
        let moved = [
            "act": "transfer", "id": "alice", "target": "2000000000000001", "second": "bob", "reason": "x",
        ]
        #expect(try await browser.post("/console/customer", moved).status == 303)
        #expect(try await world.entitlements(of: "bob").map(\.productID).contains("com.example.app.coins"))
    }

    @Test("48.5 An act that is refused keeps the page, the menu and what was typed, below the reason")
    func refusal() async throws {
        _ = try await world.send(.post, "/v1/purchases", try PurchaseServerWorld.purchase(), as: .client)
        var browser = try await ConsoleBrowser.signedIn(world, "ann", .admin)
        let transfer = [
            "act": "transfer", "app": "example", "id": "alice", "target": "2000000000000001", "second": "",
            "reason": "two \"accounts\"",
        ]
        let page = try await browser.post("/console/customer", transfer)
        #expect(page.status == 400)
        let alert = try #require(page.text.range(of: "role=\"alert\">field_malformed"))
        let answer = try #require(page.text.range(of: "What to say"))
        #expect(alert.lowerBound < answer.lowerBound)
        for part in [
            #"<a href="/console/inspect">Inspect</a>"#, #"value="two &quot;accounts&quot;""#,
            #"<details class="act" open><summary>Transfer a purchase"#,
            #"<option value="2000000000000001" selected>"#,
        ] { #expect(page.text.contains(part), "\(part)") }
        #expect(page.text.matches(of: /<details [^>]*open/).count == 1)
        let wrong = ["act": "erase", "app": "example", "id": "alice", "target": "bob", "reason": "asked"]
        let erasure = try await browser.post("/console/customer", wrong)
        #expect(erasure.status == 400 && erasure.text.contains("The second name is not that of the customer"))
        #expect(erasure.text.contains(#"<details class="act danger" open>"#))
        #expect(erasure.text.contains(#"<button class="danger">Erase the customer</button>"#))
        let since = [
            "act": "since", "app": "example", "url": "https://x.example", "stream": "", "since": "yesterday",
        ]
        let state = try await browser.post("/console/state", since)
        #expect(state.status == 400 && state.text.contains("The time is not one such as"))
        #expect(state.text.contains("<h1>State</h1>") && state.text.contains("Sign out"))
        let operators = try await browser.post("/console/operators", ["act": "remove", "name": "ann"])
        #expect(operators.status == 400 && operators.text.contains("You cannot remove yourself"))
        #expect(operators.text.contains("<h2>Add an operator</h2>"))
        let nobody = try await browser.get("/console/purchase?app=example&id=9")
        #expect(nobody.status == 404 && nobody.text.contains("Sign out"))
    }

    @Test("48.5 Where the page advises to add a tester, who may act can do it there, and then the purchase counts")
    func tester() async throws {
        try await PurchaseServerWorld.run({
            $0.admin = .port(host: "127.0.0.1", 0)
            $0.apps["example"]?.sandboxAccess = .testers
        }) { world async throws in
            _ = try await world.send(.post, "/v1/purchases", try PurchaseServerWorld.purchase(), as: .client)
            let path = "/console/customer?app=example&id=alice"
            var viewer = try await ConsoleBrowser.signedIn(world, "vera", .view)
            let seen = try await viewer.get(path).text
            #expect(seen.contains("Add a tester") && !seen.contains("Make the customer a tester"))
            let act = ["act": "tester", "app": "example", "id": "alice", "reason": "our own phone"]
            #expect(try await viewer.post("/console/customer", act).status == 403)
            var support = try await ConsoleBrowser.signedIn(world, "sam", .support)
            let purchase = try await support.get("/console/purchase?app=example&id=2000000000000001").text
            for page in [try await support.get(path).text, purchase] {
                #expect(page.contains("Add a tester") && page.contains("Make the customer a tester"))
            }
            #expect(try await support.post("/console/customer", act).status == 303)
            let done = try await support.get(path + "&done=tester").text
            #expect(done.contains("The customer is a tester now") && !done.contains("Make the customer a tester"))
            #expect(try await world.entitlements(of: "alice").first?.state == .active)
        }
    }

    @Test(
        "48.6 What evidence states comes before its checks: app, products, dates, transactions with their owners here")
    func evidence() async throws {
        let receipt = try MintedWorld.mint()
        let claim = try PurchaseServerWorld.purchase(receipt: receipt)
        _ = try await world.send(.post, "/v1/purchases", claim, as: .client)
        var browser = try await ConsoleBrowser.signedIn(world, "ann", .view)
        _ = try await browser.get("/console/inspect")
        let pasted = ["q": Data(receipt).base64EncodedString(), "app": "example"]
        let found = try await browser.post("/console/search", pasted)
        let inspected = try await browser.upload("/console/inspect", ["app": "example"], file: Array(receipt))
        let recorded = try await browser.get("/console/purchase?app=example&id=2000000000000001")
        for page in [found, inspected, recorded] {
            #expect(page.status == 200)
            let stated = try #require(page.text.range(of: "What it states"))
            let checks = try #require(page.text.range(of: "<h3>Checks</h3>"))
            #expect(stated.lowerBound < checks.lowerBound)
            let part = String(page.text[stated.upperBound..<checks.lowerBound])
            let words = ConsoleBrowser.words(part)
            for text in ["App com.example.app", Self.pro, "Signed 14 Nov 2023, 22:13 UTC", "nobody"] {
                #expect(words.contains(text), "\(text): \(words)")
            }
            #expect(part.contains(#"href="/console/purchase?app=example&amp;id=2000000000000001""#))
            #expect(part.contains(#"href="/console/customer?app=example&amp;id=alice""#))
        }
        let jws = Array(try PurchaseServerWorld.signed("9").jws.utf8)
        let forged = try await browser.upload("/console/inspect", ["app": "example"], file: jws.dropLast(4))
        #expect(forged.text.contains(#"<span class="state bad">"#))
    }

    @Test("48.7 Times are words with the exact time beside them, states have colours, and no column is empty")
    func eyes() async throws {
        let coins = try PurchaseServerWorld.signed("600000000000001") { ($0.price, $0.currency) = (12_340, "USD") }
        _ = try await world.send(.post, "/v1/purchases", coins.claim(), as: .client)
        _ = try await world.send(.post, "/v1/purchases", try Self.month(3).claim(customerID: "bob"), as: .client)
        var browser = try await ConsoleBrowser.signedIn(world, "ann", .view)
        let alice = try await browser.get("/console/customer?app=example&id=alice").text
        let time =
            #"<time datetime="2023-11-14T22:13:20Z" title="2023-11-14T22:13:20Z">14 Nov 2023, 22:13 UTC</time>"#
        #expect(alice.contains(time) && alice.contains(#"<span class="state good">kept</span>"#))
        #expect(alice.contains("12.34 USD") && !alice.contains("<th scope=\"col\">Ends</th>"))
        #expect(!alice.contains("<th scope=\"col\">Why</th>"))
        #expect(ConsoleBrowser.words(alice).firstMatch(of: /\d{4}-\d{2}-\d{2}T/) == nil)
        let bob = try await browser.get("/console/customer?app=example&id=bob").text
        #expect(bob.contains("<th scope=\"col\">Ends</th>") && bob.contains("4.99 EUR"))
        #expect(bob.contains(#"<span class="state good">active</span>"#))
        let purchase = try await browser.get("/console/purchase?app=example&id=300000000000003").text
        #expect(ConsoleBrowser.words(purchase).contains("Apple&#39;s order line 700000000000003"))
    }

    @Test("48.7 Results of a search have an address, and the listener's first page leads to the console")
    func addresses() async throws {
        var browser = try await ConsoleBrowser.signedIn(world, "ann", .view)
        let found = try await browser.post("/console/search", ["q": "zoë & co", "app": "example"])
        #expect(found.status == 303)
        #expect(browser.location == "/console/search?app=example&q=zo%C3%AB%20%26%20co")
        #expect(try await browser.get(try #require(browser.location)).text.contains("zoë &amp; co"))
        let first = try await world.ask("/")
        #expect(first.status == 303 && first.headers[.location] == "/console")
    }

    @Test("48.7 The sign-in names the shop, and who has set a password is signed in")
    func firstPassword() async throws {
        var browser = try ConsoleBrowser(world)
        let page = try await browser.get("/console/sign-in").text
        #expect(ConsoleBrowser.words(page).contains("The purchases of example"))
        let link = try #require(try await world.ledger.perform(AddOperator(name: "zoe", role: .view)))
        let fields = [
            "secret": link.text, "password": ConsoleBrowser.password, "again": ConsoleBrowser.password,
        ]
        #expect(try await browser.post("/console/link", fields).status == 303)
        #expect(browser.location == "/console")
        #expect(try await browser.get("/console").text.contains("zoe (view)"))
        #expect(try await browser.get("/console/style.css").text == PageStyle.text)
    }
}
