import EvidenceMint
import Foundation
import HTTPTypes
import PurchaseAPI
import PurchaseLedger
import PurchaseServer
import ServerTestSupport
import TestSupport
import Testing

/// What the console tells about claims that were refused and purchases that nobody owns.
@Suite("The console tells support the truth", .console)
struct ConsoleSupportTests {
    let world: PurchaseServerWorld = CurrentWorld.opened()

    /// A claim whose evidence does not verify.
    private static func refuse(_ world: PurchaseServerWorld, _ transaction: String, _ customer: String) async throws {
        let claim = try PurchaseServerWorld.purchase(
            transaction, receipt: Array("no receipt".utf8), customerID: customer)
        #expect(try await world.send(.post, "/v1/purchases", claim, as: .client).status != 200)
    }

    /// Evidence of a purchase that nobody claimed, as from the App Store.
    private static func hold(_ world: PurchaseServerWorld, _ transaction: String) async throws {
        let evidence = Array(
            try PurchaseServerWorld.signed(transaction, product: "com.example.app.pro") {
                $0.type = .nonConsumable
            }.jws.utf8)
        _ = try await world.ledger.perform(
            ObserveEvidence(world.ledger.examine(EvidenceSubmission(app: nil, source: "test", evidence: evidence))))
    }

    @Test("A new customer whose only claim did not verify has a page, found by name and transaction, until an erasure")
    func refusedClaim() async throws {
        var browser = try await ConsoleBrowser.signedIn(world, "ann", .view)
        let before = try await browser.get("/console/search?q=nova")
        #expect(before.text.contains("no claim names it") && !before.text.contains("never arrived"))
        try await Self.refuse(world, "740000000000077", "nova")
        let list = try await browser.get("/console/search")
        #expect(list.text.contains(">nova</a>"))
        #expect(try await browser.get("/console/search?q=nova").status == 303)
        let customer = try await browser.get("/console/customer?app=example&id=nova")
        #expect(customer.status == 200 && customer.text.contains("was not accepted"))
        #expect(customer.text.contains("evidence_unrecognized") && customer.text.contains("740000000000077"))
        #expect(try await browser.get("/console/search?q=740000000000077").status == 303)
        let part = try await browser.get("/console/search?q=74000000")
        #expect(part.status == 200 && part.text.contains("Refused claims of transaction"))
        let purchase = try await browser.get("/console/purchase?app=example&id=740000000000077")
        #expect(purchase.status == 200 && purchase.text.contains("Only the claims below name it"))
        #expect(purchase.text.contains(">nova</a>") && !purchase.text.contains("Give it to…"))
        _ = try await world.ledger.perform(EraseCustomer(app: "example", customerID: "nova", reason: "asked"))
        for text in ["nova", "740000000000077"] {
            let after = try await browser.get("/console/search?q=\(text)")
            #expect(after.status == 200 && after.text.contains("Nothing recorded has this name"))
        }
        #expect(try await browser.get("/console/purchase?app=example&id=740000000000077").status == 404)
        #expect(try await browser.get("/console/customer?app=example&id=nova").status == 400)
    }

    @Test("A merge is told with the number of purchases, not of units, which are something else")
    func merged() async throws {
        _ = try await world.send(.post, "/v1/purchases", try PurchaseServerWorld.purchase(), as: .client)
        try await world.ledger.perform(MergeCustomers(app: "example", customerID: "alice", into: "carol"))
        var browser = try await ConsoleBrowser.signedIn(world, "ann", .view)
        let page = try await browser.get("/console/customer?app=example&id=carol").text
        let row = try #require(page.components(separatedBy: "Two customers were merged").dropFirst().first)
        #expect(row.prefix(600).contains("1 purchase") && !row.prefix(600).contains("1 unit"))
    }

    @Test("A search offers names in another case or with accents, and numbers that begin so, and opens none of them")
    func similar() async throws {
        for name in ["Zoé@Example.com", "Zoe@Example.com"] {
            _ = try await world.ledger.perform(
                GrantByHand(app: "example", customerID: name, productID: "com.example.app.pro", reason: "test"))
        }
        _ = try await world.send(.post, "/v1/purchases", try PurchaseServerWorld.purchase(), as: .client)
        var browser = try await ConsoleBrowser.signedIn(world, "ann", .view)
        let found = try await browser.get("/console/search?q=zoe%40example.com")
        #expect(found.status == 200 && found.text.contains("Nothing has exactly this name"))
        #expect(found.text.contains(">Zoé@Example.com</a>") && found.text.contains(">Zoe@Example.com</a>"))
        let number = try await browser.get("/console/search?q=20000000000")
        #expect(number.status == 200 && number.text.contains(">2000000000000001</a>"))
        #expect(try await browser.get("/console/search?q=2000000000000001").status == 303)
    }

    @Test("A held purchase says that Apple says it was paid, lists refused claims, and is given with a reason")
    func held() async throws {
        let id = "750000000000001"
        try await Self.refuse(world, id, "bob")
        try await Self.hold(world, id)
        let sentence = "Apple says that it was paid; nobody claimed it yet"
        let path = "/console/purchase?app=example&id=\(id)"
        var viewer = try await ConsoleBrowser.signedIn(world, "vera", .view)
        let seen = try await viewer.get(path)
        #expect(seen.text.contains(sentence) && !seen.text.contains("Give it to…"))
        #expect(seen.text.contains("evidence_unrecognized") && seen.text.contains(">bob</a>"))
        for part in ["search for the transaction", "The refusal is final"] { #expect(!seen.text.contains(part)) }
        var support = try await ConsoleBrowser.signedIn(world, "sam", .support)
        let customer = try await support.get("/console/customer?app=example&id=bob")
        #expect(customer.text.contains(sentence) && !customer.text.contains("The refusal is final"))
        #expect(customer.text.contains(#"<a href="\#(path.replacing("&", with: "&amp;"))">Purchase \#(id)</a>"#))
        let link = try #require(customer.text.firstMatch(of: /href="(\/console\/claim[^"]+)"/)).1
        let claim = try await support.get(String(link).replacing("&amp;", with: "&"))
        #expect(claim.text.contains("Give it to the customer on its page") && claim.text.contains("Purchase \(id)"))
        let page = try await support.get(path)
        #expect(page.text.contains("Give it to…") && page.text.contains(#"<option value="bob">"#))
        let give = [
            "act": "give", "app": "example", "target": id, "second": "Production", "id": "bob", "reason": "mail",
        ]
        #expect(try await viewer.post("/console/customer", give).status == 403)
        let refused = try await support.post("/console/customer", give.merging(["reason": ""]) { $1 })
        #expect(refused.status == 400 && refused.text.contains("The reason needs"))
        #expect(refused.text.contains("<details class=\"act\" open><summary>Give it to…"))
        #expect(refused.text.contains(#"value="bob" list="claimants""#))
        #expect(try await support.post("/console/customer", give.merging(["id": ""]) { $1 }).status == 400)
        #expect(try await world.entitlements(of: "bob").isEmpty)
        #expect(try await support.post("/console/customer", give).status == 303)
        #expect(try await world.entitlements(of: "bob").map(\.state) == [.active])
        let given = try await support.get("/console/customer?app=example&id=bob&done=give")
        #expect(given.text.contains("was given to this customer") && !given.text.contains(sentence))
        #expect(try await !support.get(path).text.contains("Give it to…"))
        let again = try await support.post("/console/customer", give.merging(["id": "eve"]) { $1 })
        #expect(again.status == 400 && again.text.contains("somebody owns it"))
        #expect(try await world.entitlements(of: "eve").isEmpty)
    }

    @Test("Who paid and got nothing, and of whom nothing is recorded, is led to the purchase that nobody claimed")
    func nothingRecorded() async throws {
        _ = try await world.ledger.perform(ChangeTester(app: "example", customerID: "carl", isTester: true))
        try await Self.hold(world, "750000000000002")
        var browser = try await ConsoleBrowser.signedIn(world, "ann", .view)
        let customer = try await browser.get("/console/customer?app=example&id=carl").text
        #expect(customer.contains("can be given to them on its page"))
        #expect(try await browser.get("/console/search?q=750000000000002").status == 303)
        let page = try await browser.get("/console/purchase?app=example&id=750000000000002").text
        #expect(page.contains("nobody claimed it yet") && !page.contains("No purchase and no claim"))
    }
}
