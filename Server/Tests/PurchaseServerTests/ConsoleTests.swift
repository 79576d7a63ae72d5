import Foundation
import HTTPTypes
import NIOCore
import PurchaseAPI
import PurchaseLedger
import PurchaseServer
import ServerTestSupport
import Testing

/// The console, over HTTP as browsers use it, without following redirects.
@Suite("Console")
struct ConsoleTests {
    private static let password = "correct horse battery"

    /// A browser: it keeps the cookie, and knows the token of the last page.
    private struct Browser {
        let client: LiveClient
        var cookie: String?
        var token = ""

        init(_ world: PurchaseServerWorld) throws { client = try #require(world.admin) }

        mutating func get(_ path: String) async throws -> (status: Int, text: String) {
            try await send(.get, path, nil)
        }

        mutating func post(
            _ path: String, _ fields: [String: String], token: String? = nil, origin: String? = nil,
            _ more: [String: String] = [:]
        ) async throws -> (status: Int, text: String) {
            var fields = fields
            fields["token"] = token ?? self.token
            return try await send(.post, path, fields, origin: origin, more)
        }

        private mutating func send(
            _ method: HTTPRequest.Method, _ path: String, _ fields: [String: String]?, origin: String? = nil,
            _ more: [String: String] = [:]
        ) async throws -> (status: Int, text: String) {
            var headers: HTTPFields = [:]
            if let cookie { headers[.cookie] = cookie }
            if let origin { headers[.origin] = origin }
            for (name, value) in more { headers[try #require(HTTPField.Name(name))] = value }
            let allowed = CharacterSet(charactersIn: "abcdefghijklmnopqrstuvwxyz0123456789")
            let body = fields.map { fields in
                fields.map { "\($0)=\($1.addingPercentEncoding(withAllowedCharacters: allowed) ?? "")" }
                    .joined(separator: "&")
            }
            let response = try await client.execute(
                uri: path, method: method, headers: headers, body: body.map { ByteBuffer(string: $0) })
            if let set = response.headers[.setCookie] { cookie = set.split(separator: ";").first.map(String.init) }
            let text = String(buffer: response.body)
            if let found = text.firstMatch(of: /name="token" value="([^"]+)"/) { token = String(found.1) }
            #expect(response.headers[.contentSecurityPolicy]?.hasPrefix("default-src 'none'") == true)
            return (response.status.code, text)
        }

        /// Sets the password of a new operator, and signs in.
        static func signedIn(_ world: PurchaseServerWorld, _ name: String, _ role: OperatorRole) async throws -> Browser
        {
            let link = try #require(try await world.ledger.perform(AddOperator(name: name, role: role)))
            var browser = try Browser(world)
            let set = try await browser.post(
                "/console/link", ["secret": link.text, "password": password, "again": password])
            #expect(set.status == 303)
            let again = try await browser.get("/console/link?secret=\(link.text)")
            #expect(again.status == 403, "a link works once")
            let signedIn = try await browser.post("/console/sign-in", ["name": name, "password": password])
            #expect(signedIn.status == 303)
            let first = try await browser.get("/console")
            #expect(first.status == 200 && first.text.contains("Search"))
            #expect(first.text.contains(#"<a href="http://localhost:8090">The simulated store</a>"#))
            return browser
        }
    }

    private static func run(_ body: @escaping @Sendable (PurchaseServerWorld) async throws -> Void) async throws {
        try await PurchaseServerWorld.run({ $0.admin = .port(host: "127.0.0.1", 0) }, body)
    }

    @Test("A page needs a session, which ends after an hour without use, and by signing out")
    func session() async throws {
        try await Self.run { world async throws in
            var stranger = try Browser(world)
            #expect(try await stranger.get("/console").status == 303)
            #expect(try await stranger.get("/console/customer?id=alice").status == 303)
            var browser = try await Browser.signedIn(world, "ann", .view)
            world.clock.advance(seconds: 3_600)
            #expect(try await browser.get("/console").status == 303)
            _ = try await browser.post("/console/sign-in", ["name": "ann", "password": Self.password])
            #expect(try await browser.get("/console").status == 200)
            let cookie = browser.cookie
            #expect(try await browser.post("/console/sign-out", [:]).status == 303)
            browser.cookie = cookie
            #expect(try await browser.get("/console").status == 303, "the session ended, not only its cookie")
        }
    }

    @Test("Five wrong passwords lock the name, also for the right one, until a minute has passed")
    func lock() async throws {
        try await Self.run { world async throws in
            _ = try await Browser.signedIn(world, "ann", .view)
            var browser = try Browser(world)
            for _ in 0..<5 {
                #expect(try await browser.post("/console/sign-in", ["name": "ann", "password": "guess"]).status == 403)
            }
            let locked = try await browser.post("/console/sign-in", ["name": "ann", "password": Self.password])
            #expect(locked.status == 403 && locked.text.contains("wait after several wrong passwords"))
            world.clock.advance(seconds: 61)
            #expect(
                try await browser.post("/console/sign-in", ["name": "ann", "password": Self.password]).status == 303)
            #expect(try await browser.post("/console/sign-in", ["name": "nobody", "password": "guess"]).status == 403)
        }
    }

    @Test("A form without the token of the session, or of another origin, changes nothing")
    func forgery() async throws {
        try await Self.run { world async throws in
            var browser = try await Browser.signedIn(world, "ann", .admin)
            let grant = ["act": "grant", "id": "bob", "target": "com.example.app.pro", "reason": "goodwill"]
            #expect(try await browser.post("/console/customer", grant, token: "").status == 403)
            #expect(try await browser.post("/console/customer", grant, token: "x").status == 403)
            #expect(try await browser.post("/console/customer", grant, origin: "http://evil.example").status == 403)
            #expect(try await world.entitlements(of: "bob").isEmpty)
        }
    }

    @Test("Behind a proxy with TLS and another host, forms of the console count, and the cookie is for TLS alone")
    func proxy() async throws {
        try await Self.run { world async throws in
            _ = try await Browser.signedIn(world, "ann", .view)
            var browser = try Browser(world)
            let origin = "https://console.example.com"
            let form = ["name": "ann", "password": Self.password]
            #expect(try await browser.post("/console/sign-in", form, origin: origin).status == 403)
            for site in ["cross-site", "same-site", "none"] {
                let foreign = ["Sec-Fetch-Site": site, "X-Forwarded-Proto": "https"]
                #expect(try await browser.post("/console/sign-in", form, origin: origin, foreign).status == 403)
            }
            let own = ["Sec-Fetch-Site": "same-origin", "X-Forwarded-Proto": "https"]
            #expect(try await browser.post("/console/sign-in", form, origin: origin, own).status == 303)
            #expect(browser.cookie?.hasPrefix("__Host-assay_console=") == true)
            #expect(try await browser.post("/console/inspect", ["evidence": "x"], origin: origin, own).status == 403)
            #expect(try await browser.get("/console").status == 303, "without TLS the cookie does not count")
        }
    }

    @Test(
        "A request whose host is a name of somebody else is not answered",
        arguments: [
            ("localhost", "200"), ("127.0.0.1:8081", "200"), ("evil.example", "421"), ("localhost.evil.example", "421"),
            ("127.0.0.1.evil.example", "421"), ("[::1]:8081", "200"), ("[x]evil.example", "421"),
        ])
    func host(name: String, status: String) async throws {
        try await Self.run { world async throws in
            let port = try #require(world.admin).port
            let answer = try await RawConnection.request(
                port: port, "GET /console/sign-in HTTP/1.1\r\nHost: \(name)\r\n\r\n")
            #expect(answer.hasPrefix("HTTP/1.1 \(status) "))
        }
    }

    @Test("The role view cannot act, the role support cannot erase, and an act has the operator's name")
    func roles() async throws {
        try await Self.run { world async throws in
            let grant = ["act": "grant", "id": "bob", "target": "com.example.app.pro", "reason": "goodwill"]
            var viewer = try await Browser.signedIn(world, "vera", .view)
            #expect(try await viewer.post("/console/customer", grant).status == 403)
            #expect(try await world.entitlements(of: "bob").isEmpty)
            var support = try await Browser.signedIn(world, "sam", .support)
            #expect(try await support.post("/console/customer", grant).status == 303, "a reload does not act again")
            let granted = try await support.get("/console/customer?app=example&id=bob&done=grant")
            #expect(granted.text.contains("com.example.app.pro is active") && granted.text.contains("was granted"))
            let untrue = try await support.get("/console/customer?app=example&id=bob&done=x")
            #expect(!untrue.text.contains("role=\"status\""))
            #expect(try await world.entitlements(of: "bob").map(\.state) == [.active])
            let events = try await world.send(.get, "/v1/events", as: .backend).message(EventPage.self).events
            #expect(events.map(\.reason) == ["sam in the console: goodwill"])
            let erase = ["act": "erase", "id": "bob", "target": "bob", "reason": "asked"]
            #expect(try await support.post("/console/customer", erase).status == 403)
            let add = ["act": "add", "name": "eve", "role": "admin"]
            #expect(try await support.post("/console/operators", add).status == 403)
            for (name, isName) in [("jörg.w+1@example.com", true), ("<b>eve</b>", false), ("e\u{202e}ve", false)] {
                let made = try? await world.ledger.perform(AddOperator(name: name, role: .view))
                #expect((made != nil) == isName, "\(name)")
            }
        }
    }

    @Test("What comes from outside is text on every page, never markup")
    func escape() async throws {
        try await Self.run { world async throws in
            let name = #"<script>alert("ö")</script>"#
            _ = try await world.ledger.perform(
                GrantByHand(app: "example", customerID: name, productID: "com.example.app.pro", reason: "<b>&'\"</b>"))
            var browser = try await Browser.signedIn(world, "ann", .support)
            let id = name.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
            let page = try await browser.get("/console/customer?app=example&id=\(id)")
            #expect(page.status == 200)
            #expect(!page.text.contains("<script") && !page.text.contains("<b>"))
            #expect(page.text.contains("&lt;script&gt;") && page.text.contains("ö"))
            let search = try await browser.get("/console/search?q=%3Cscript%3E1%22%27")
            #expect(!search.text.contains("<script") && search.text.contains("&lt;script&gt;1&quot;"))
        }
    }

    @Test("The search leads to the purchase by its transaction, to the owner, and to the sentences for the complaint")
    func search() async throws {
        try await Self.run { world async throws in
            _ = try await world.send(.post, "/v1/purchases", try PurchaseServerWorld.purchase(), as: .client)
            let again = try PurchaseServerWorld.purchase(customerID: "mallory")
            _ = try await world.send(.post, "/v1/purchases", again, as: .client)
            var browser = try await Browser.signedIn(world, "ann", .view)
            #expect(try await browser.get("/console/search?q=2000000000000001").status == 303)
            let purchase = try await browser.get("/console/purchase?app=example&id=2000000000000001")
            #expect(purchase.text.contains("Customer") || purchase.text.contains("alice"))
            let mallory = try await browser.get("/console/customer?app=example&id=mallory")
            #expect(mallory.text.contains("The purchase was claimed before."))
            let nobody = try await browser.get("/console/search?q=zoe")
            #expect(nobody.status == 200 && nobody.text.contains("Nothing recorded has this name"))
        }
    }

    @Test("The state page draws what was sealed in the last 48 hours, with the codes of refused claims")
    func today() async throws {
        try await Self.run { world async throws in
            _ = try await world.send(.post, "/v1/purchases", try PurchaseServerWorld.purchase(), as: .client)
            for name in ["mallory", "mike"] {
                let again = try PurchaseServerWorld.purchase(customerID: name)
                _ = try await world.send(.post, "/v1/purchases", again, as: .client)
            }
            var browser = try await Browser.signedIn(world, "ann", .view)
            var page = ""
            for _ in 0..<600 where !page.contains("Refused claims: 2") {
                try await Task.sleep(for: .milliseconds(50))
                page = try await browser.get("/console/state").text
            }
            #expect(page.contains("<strong>Purchases: 1</strong>") && page.contains("<strong>Refunds: 0</strong>"))
            #expect(page.contains("<td>already_claimed</td><td>2</td>"))
            world.clock.advance(seconds: 48 * 3600)
            _ = try await browser.post("/console/sign-in", ["name": "ann", "password": Self.password])
            page = try await browser.get("/console/state").text
            #expect(page.contains("<strong>Purchases: 0</strong>") && !page.contains("already_claimed"))
        }
    }

    @Test("The record of a customer is one page to save, with what happened, and nothing of theirs in the redacted one")
    func pack() async throws {
        try await Self.run { world async throws in
            _ = try await world.send(.post, "/v1/purchases", try PurchaseServerWorld.purchase(), as: .client)
            var browser = try await Browser.signedIn(world, "ann", .view)
            let whole = try await browser.get("/console/pack?app=example&customer=alice")
            #expect(whole.status == 200 && whole.text.contains("Customer alice"))
            #expect(whole.text.contains("<h2>What happened</h2>") && whole.text.contains("2000000000000001"))
            let redacted = try await browser.get("/console/pack?app=example&customer=alice&redacted=yes")
            #expect(redacted.status == 200 && !redacted.text.contains("alice"))
            #expect(try await browser.get("/console/pack?app=example&id=9").status == 404)
            #expect(try await browser.get("/console/pack?app=example&customer=nobody").status == 400)
            var stranger = try Browser(world)
            #expect(try await stranger.get("/console/pack?app=example&customer=alice").status == 303)
        }
    }
}
