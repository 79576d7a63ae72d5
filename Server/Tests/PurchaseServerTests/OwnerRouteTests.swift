import EvidenceMint
import Foundation
import HTTPTypes
import PurchaseAPI
import PurchaseLedger
import PurchaseServer
import TestSupport
import Testing

/// Account tokens, merges and transfers, over HTTP.
@Suite("Owners", .server)
struct OwnerRouteTests {
    let world: PurchaseServerWorld = CurrentWorld.opened()

    private static let (coins, pro) = ("com.example.app.coins", "com.example.app.pro")
    private static let token = "2f0c6f5e-6f3c-4a0e-9b0a-7d1f5b1c9e11"

    @Test("A token gives its customer all purchases that carry it, including earlier ones, and never another customer")
    func token() async throws {
        let carrying = try PurchaseServerWorld.signed("1") { $0.appAccountToken = Self.token }
        let before = try await world.send(.post, "/v1/purchases", carrying.claim(customerID: "mallory"))
        #expect(before.status == 200, "an unknown token counts as absent: \(before.text)")
        for isRepeated in [false, true] {
            let answer = try await world.send(
                .put, "/v1/customers/carol/app_account_token",
                AccountTokenRequest(appAccountToken: Self.token.uppercased()), as: .backend)
            #expect(answer.status == 200)
            #expect(
                try answer.message(AccountTokenMessage.self)
                    == AccountTokenMessage(
                        customerID: "carol", appAccountToken: Self.token, replayed: isRepeated))
        }
        #expect(try await world.entitlements(of: "carol").map(\.balance) == [1])
        let former = try await world.entitlements(of: "mallory")
        #expect(former.allSatisfy { $0.state != .active && $0.balance == 0 }, "\(former)")
        let taken = try await world.send(
            .put, "/v1/customers/mallory/app_account_token", AccountTokenRequest(appAccountToken: Self.token))
        #expect(try taken.line == "409 token_taken")
        let order = try await world.send(
            .post, "/v1/orders", OrderRequest(customerID: "carol", productID: Self.coins), as: .backend)
        #expect(try order.message(OrderMessage.self).appAccountToken == Self.token)
        let shown = try await world.send(.get, "/v1/purchases/1", as: .backend)
        let purchase = try #require(try shown.message(TransactionPage.self).purchases.first)
        #expect(purchase.customerID == "carol" && purchase.ownerReason == .accountToken)
        for text in ["", "x", "2f0c6f5e6f3c4a0e9b0a7d1f5b1c9e11", Self.token + "0", "g" + Self.token.dropFirst()] {
            let wrong = try await world.send(
                .put, "/v1/customers/carol/app_account_token", AccountTokenRequest(appAccountToken: text))
            #expect(wrong.status == 400, "\(text): \(wrong.text)")
        }
    }

    @Test("A merge transfers all purchases, which are found under both names, happens once, and can be repeated")
    func merge() async throws {
        let claim = try PurchaseServerWorld.signed("1").claim(customerID: "anonymous-7")
        #expect(try await world.send(.post, "/v1/purchases", claim, as: .client).status == 200)
        let path = "/v1/customers/anonymous-7/merge"
        let merged = try await world.send(.post, path, MergeRequest(into: "søren"), as: .backend)
        #expect(merged.status == 200)
        #expect(try merged.message(MergeMessage.self) == MergeMessage(customerID: "anonymous-7", into: "søren"))
        for name in ["s%C3%B8ren", "anonymous-7"] {
            #expect(try await world.entitlements(of: name).map(\.balance) == [1], "\(name)")
        }
        let again = try await world.send(.post, path, MergeRequest(into: "søren", reason: "twice"), as: .backend)
        #expect(
            try again.message(MergeMessage.self)
                == MergeMessage(customerID: "anonymous-7", into: "søren", replayed: true, reason: "twice"))
        // The next person who signs in at the device gets nothing of Søren.
        let other = try await world.send(.post, path, MergeRequest(into: "bob"), as: .backend)
        #expect(
            try other.message(MergeMessage.self)
                == MergeMessage(customerID: "anonymous-7", into: "søren", merged: false, replayed: true))
        #expect(try await world.entitlements(of: "s%C3%B8ren").map(\.balance) == [1])
        let back = try await world.send(
            .post, "/v1/customers/s%C3%B8ren/merge", MergeRequest(into: "anonymous-7"), as: .backend)
        #expect(try back.problem == "customer_merge_circular")
        let unknown = try await world.send(
            .post, "/v1/customers/nobody/merge", MergeRequest(into: "søren"), as: .backend)
        #expect(
            try unknown.message(MergeMessage.self)
                == MergeMessage(customerID: "nobody", into: "søren", merged: false))
        let both = try await world.send(
            .post, "/v1/customers/nobody/merge", MergeRequest(into: "no-survivor"), as: .backend)
        #expect(try both.problem == "customer_unknown" && both.status == 404)
        let missing = try await world.send(.post, path, data: Data("{}".utf8), as: .backend)
        #expect(try missing.document?.expected == "into" && missing.status == 400)
        let events = try await world.send(.get, "/v1/events", as: .backend).message(EventPage.self).events
        #expect(events.count { $0.type == .customerMerged } == 1)
        let event = try #require(events.first { $0.type == .customerMerged })
        #expect(event.customerID == "søren" && event.formerCustomerID == "anonymous-7")
    }

    @Test("A transfer by an operator gives a purchase to its new owner, and names the former one")
    func move() async throws {
        let claim = try PurchaseServerWorld.purchase("2000000000000002", product: Self.pro)
        #expect(try await world.send(.post, "/v1/purchases", claim, as: .client).status == 200)
        let request = MoveRequest(customerID: "bob", reason: "support case 17")
        let path = "/v1/purchases/2000000000000002/move"
        let moved = try await world.send(.post, path, request)
        #expect(moved.status == 200, "\(moved.text)")
        #expect(
            try moved.message(MoveMessage.self)
                == MoveMessage(
                    transactionID: "2000000000000002", customerID: "bob", formerCustomerID: "alice",
                    reason: "support case 17"))
        #expect(try await world.entitlements(of: "bob").map(\.state) == [.active])
        let former = try await world.entitlements(of: "alice").first { $0.productID == Self.pro }
        #expect(former?.reason == .ownedByAnother)
        let again = try await world.send(.post, path, request)
        #expect(try again.problem == "purchase_not_movable" && again.status == 409)
        let unknown = try await world.send(.post, "/v1/purchases/9/move", request)
        #expect(try unknown.problem == "purchase_unknown" && unknown.status == 404)
        let elsewhere = MoveRequest(customerID: "carol", environment: .production, reason: "x")
        #expect(try await world.send(.post, path, elsewhere).problem == "purchase_unknown")
        let speechless = try await world.send(.post, path, data: Data(#"{"customer_id":"carol"}"#.utf8))
        #expect(try speechless.document?.expected == "reason" && speechless.status == 400)
    }

    @Test("The same id in two environments is ambiguous until the environment is named")
    func ambiguous() async throws {
        for environment in ["Production", "Sandbox"] {
            let claim = try PurchaseServerWorld.signed("1") { $0.environment = environment }.claim()
            #expect(try await world.send(.post, "/v1/purchases", claim, as: .client).status == 200)
        }
        let open = try await world.send(.post, "/v1/purchases/1/move", MoveRequest(customerID: "bob", reason: "x"))
        #expect(try open.problem == "purchase_ambiguous" && open.status == 409)
        let revocation = try await world.send(
            .post, "/v1/customers/alice/revocations", RevocationRequest(transactionID: "1", reason: "x"))
        #expect(try revocation.problem == "purchase_ambiguous")
        let named = try await world.send(
            .post, "/v1/purchases/1/move", MoveRequest(customerID: "bob", environment: .sandbox, reason: "x"))
        #expect(named.status == 200)
        #expect(try await world.entitlements(of: "bob").map(\.environment) == [.sandbox])
        let shown = try await world.send(.get, "/v1/purchases/1", as: .backend).message(TransactionPage.self)
        #expect(Set(shown.purchases.compactMap(\.customerID)) == ["alice", "bob"])
    }

    @Test("Customers are distinguished by their bytes, and percent-encoded in paths")
    func names() async throws {
        let grant = GrantRequest(productID: Self.coins, quantity: 2, reason: "goodwill")
        let answer = try await world.send(.post, "/v1/customers/%C3%A9%2F%20%3F%25/grants", grant)
        #expect(try answer.message(GrantMessage.self).customerID == "\u{E9}/ ?%")
        #expect(try await world.entitlements(of: "%C3%A9%2F%20%3F%25").map(\.balance) == [2])
        // Equal in Unicode, but another customer.
        #expect(try await world.entitlements(of: "e%CC%81%2F%20%3F%25").isEmpty)
        for path in ["%", "%C3", "%00", "%0A", "%20", String(repeating: "x", count: 257)] {
            let wrong = try await world.send(.post, "/v1/customers/\(path)/grants", grant)
            #expect(try wrong.line == "400 field_malformed", "\(path): \(wrong.text)")
        }
    }
}

/// `GET /v1/purchases?owner=none`, and what is signed about a commitment.
@Suite("Held purchases over HTTP")
struct HeldPurchaseRouteTests {
    var world: PurchaseServerWorld { CurrentWorld.opened() }

    private static func observe(_ world: PurchaseServerWorld, _ evidence: [UInt8]) async throws {
        _ = try await world.ledger.perform(
            ObserveEvidence(world.ledger.examine(EvidenceSubmission(app: nil, source: "test", evidence: evidence))))
    }

    @Test("28.2 The purchases that nobody owns are listed in pages, and filtered by environment and product", .server)
    func pages() async throws {
        for number in 1...5 {
            try await Self.observe(world, try Array(PurchaseServerWorld.signed("\(number)").jws.utf8))
        }
        var (ids, path): ([String], String?) = ([], "/v1/purchases?owner=none&limit=2")
        while let next = path {
            let page = try await world.send(.get, next, as: .backend).message(TransactionPage.self)
            #expect(page.purchases.count <= 2 && page.purchases.allSatisfy { $0.customerID == nil })
            ids += page.purchases.map(\.transactionID)
            path = page.nextCursor.map { "/v1/purchases?owner=none&limit=2&cursor=\($0)" }
        }
        #expect(ids == ["5", "4", "3", "2", "1"])
        #expect(try await world.send(.post, "/v1/purchases", PurchaseServerWorld.signed("3").claim()).status == 200)
        for (query, expected) in [
            ("owner=none", 4), ("owner=none&product_id=com.example.app.coins", 4),
            ("owner=none&product_id=never", 0),
            ("owner=none&environment=Production", 4), ("owner=none&environment=Sandbox", 0),
        ] {
            let page = try await world.send(.get, "/v1/purchases?\(query)", as: .backend)
                .message(TransactionPage.self)
            #expect(page.purchases.count == expected, "\(query)")
        }
        for query in ["", "?owner=alice", "?owner=", "?owner=none&limit=0", "?owner=none&cursor=x"] {
            let refused = try await world.send(.get, "/v1/purchases\(query)", as: .backend)
            let problem = try refused.problem
            #expect(refused.status == 400 && problem == "field_malformed", "\(query)")
        }
    }
}
