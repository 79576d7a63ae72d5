import Foundation
import HTTPTypes
import NIOCore
import PurchaseAPI
import PurchaseLedger
import PurchaseServer
import ServerTestSupport
import Testing

/// The console, over HTTP as browsers use it, without following redirects.
@Suite("Console", .console)
struct ConsoleTests {
    let world: PurchaseServerWorld = CurrentWorld.opened()

    @Test("A page needs a session, which ends after an hour without use, and by signing out")
    func session() async throws {
        var stranger = try ConsoleBrowser(world)
        #expect(try await stranger.get("/console").status == 303)
        #expect(try await stranger.get("/console/customer?id=alice").status == 303)
        var browser = try await ConsoleBrowser.signedIn(world, "ann", .view)
        world.clock.advance(seconds: 3_600)
        #expect(try await browser.get("/console").status == 303)
        _ = try await browser.post("/console/sign-in", ["name": "ann", "password": ConsoleBrowser.password])
        #expect(try await browser.get("/console").status == 200)
        let cookie = browser.cookie
        #expect(try await browser.post("/console/sign-out", [:]).status == 303)
        browser.cookie = cookie
        #expect(try await browser.get("/console").status == 303, "the session ended, not only its cookie")
    }

    @Test(
        "A form with a huge head is refused before and after sign-in, and an act never goes to another app than it names"
    )
    func hugeForm() async throws {
        var browser = try await ConsoleBrowser.signedIn(world, "ann", .support)
        let admin = try #require(world.admin)
        let head = "--x\r\n" + String(repeating: "Content-Disposition:a\r\n", count: 80_000)
        for cookie in [nil, browser.cookie] {
            var headers: HTTPFields = [.contentType: "multipart/form-data; boundary=x"]
            if let cookie { headers[.cookie] = cookie }
            for path in ["/console/sign-in", "/console/inspect"] {
                let answer = try await admin.execute(
                    uri: path, method: .post, headers: headers, body: ByteBuffer(string: head + "\r\n--x--"))
                #expect(answer.status.code == 403)
            }
        }
        let grant = ["act": "grant", "app": "nosuch", "id": "bob", "target": "com.example.app.pro", "reason": "x"]
        let refused = try await browser.post("/console/customer", grant)
        #expect(refused.status == 400 && refused.text.contains("no app nosuch"))
        #expect(try await browser.get("/console/customer?app=nosuch&id=bob").status == 400)
        #expect(try await world.entitlements(of: "bob").isEmpty)
    }

    @Test("Five wrong passwords lock the name, also for the right one, until a minute has passed")
    func lock() async throws {
        _ = try await ConsoleBrowser.signedIn(world, "ann", .view)
        var browser = try ConsoleBrowser(world)
        for _ in 0..<5 {
            #expect(try await browser.post("/console/sign-in", ["name": "ann", "password": "guess"]).status == 403)
        }
        let locked = try await browser.post("/console/sign-in", ["name": "ann", "password": ConsoleBrowser.password])
        #expect(locked.status == 403 && locked.text.contains("wait after several wrong passwords"))
        world.clock.advance(seconds: 61)
        #expect(
            try await browser.post("/console/sign-in", ["name": "ann", "password": ConsoleBrowser.password]).status
                == 303)
        #expect(try await browser.post("/console/sign-in", ["name": "nobody", "password": "guess"]).status == 403)
    }

    @Test("D.2 Sign-ins under locked or unknown names are one line for each address and minute, with their number")
    func refusedSignIns() async throws {
        var browser = try await ConsoleBrowser.signedIn(world, "ann", .admin)
        _ = try await ConsoleBrowser.signedIn(world, "bob", .view)
        var stranger = try ConsoleBrowser(world)
        func guess(_ name: String, _ times: Int) async throws {
            for _ in 0..<times {
                let answer = try await stranger.post("/console/sign-in", ["name": name, "password": "guess"])
                #expect(answer.status == 403)
            }
        }
        func lines() async throws -> [OperatorLogLine] {
            try await world.ledger.answer(OperatorActivity(of: "ann", limit: 100)).log.filter {
                ![.added, .passwordSet, .signedIn].contains($0.act)
            }
        }
        // Five wrong passwords lock the name.
        try await guess("bob", 8)
        try await guess("nobody", 1)
        try await guess("somebody", 1)
        try await guess("bob", 1)
        #expect(try await lines().filter { $0.act == .wrongPassword }.count == 5)
        let refused = try await lines().filter { $0.act == .refused }
        #expect(refused.map(\.count) == [6] && refused.map(\.name) == ["bob"])
        #expect(refused.map(\.address) == ["127.0.0.1"])
        #expect(try await browser.get("/console/operators").text.contains("refused (6 times)"))
        world.clock.advance(seconds: 60)
        try await guess("nobody", 1)
        #expect(try await lines().filter { $0.act == .refused }.map(\.count) == [1, 6])
        #expect(try await world.ledger.perform(SignInOperator(name: "x", address: "::1", check: .wrong)) == false)
        #expect(try await lines().filter { $0.act == .refused }.map(\.count).sorted() == [1, 1, 6])
    }

    @Test("A form without the token of the session, or of another origin, changes nothing")
    func forgery() async throws {
        var browser = try await ConsoleBrowser.signedIn(world, "ann", .admin)
        let grant = ["act": "grant", "id": "bob", "target": "com.example.app.pro", "reason": "goodwill"]
        #expect(try await browser.post("/console/customer", grant, token: "").status == 403)
        #expect(try await browser.post("/console/customer", grant, token: "x").status == 403)
        #expect(try await browser.post("/console/customer", grant, origin: "http://evil.example").status == 403)
        #expect(try await world.entitlements(of: "bob").isEmpty)
    }

    @Test("Behind a proxy with TLS and another host, forms of the console count, and the cookie is for TLS alone")
    func proxy() async throws {
        _ = try await ConsoleBrowser.signedIn(world, "ann", .view)
        var browser = try ConsoleBrowser(world)
        let origin = "https://console.example.com"
        let form = ["name": "ann", "password": ConsoleBrowser.password]
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

    @Test("The role view cannot act, the role support cannot erase, and an act has the operator's name")
    func roles() async throws {
        let grant = ["act": "grant", "id": "bob", "target": "com.example.app.pro", "reason": "goodwill"]
        var viewer = try await ConsoleBrowser.signedIn(world, "vera", .view)
        #expect(try await viewer.post("/console/customer", grant).status == 403)
        #expect(try await world.entitlements(of: "bob").isEmpty)
        var support = try await ConsoleBrowser.signedIn(world, "sam", .support)
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

    @Test("What comes from outside is text on every page, never markup")
    func escape() async throws {
        let name = #"<script>alert("ö")</script>"#
        _ = try await world.ledger.perform(
            GrantByHand(app: "example", customerID: name, productID: "com.example.app.pro", reason: "<b>&'\"</b>"))
        var browser = try await ConsoleBrowser.signedIn(world, "ann", .support)
        let id = name.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
        let page = try await browser.get("/console/customer?app=example&id=\(id)")
        #expect(page.status == 200 && !page.text.contains("<script") && !page.text.contains("<b>"))
        #expect(page.text.contains("&lt;script&gt;") && page.text.contains("ö"))
        let search = try await browser.get("/console/search?q=%3Cscript%3E1%22%27")
        #expect(!search.text.contains("<script") && search.text.contains("&lt;script&gt;1&quot;"))
    }

    @Test("A form that is sent twice, also at once, acts once, and another page's form acts again")
    func doubleClick() async throws {
        var browser = try await ConsoleBrowser.signedIn(world, "ann", .support)
        let first = browser
        let grant = [
            "act": "grant", "id": "bob", "target": "com.example.app.coins", "second": "5", "reason": "sorry",
        ]
        func click(_ browser: ConsoleBrowser, _ fields: [String: String]) async throws -> Int {
            var browser = browser
            return try await browser.post("/console/customer", fields.merging(["form": browser.form]) { $1 }).status
        }
        async let one = click(first, grant)
        async let two = click(first, grant)
        #expect(try await [one, two] == [303, 303])
        #expect(try await click(first, grant) == 303)
        #expect(try await world.entitlements(of: "bob").map(\.balance) == [5])
        #expect(try await click(first, grant.merging(["second": "7"]) { $1 }) == 303, "it has other fields")
        _ = try await browser.get("/console")
        #expect(browser.form != first.form)
        #expect(try await click(browser, grant) == 303)
        #expect(try await world.entitlements(of: "bob").map(\.balance) == [17])
    }
}
