import Foundation
import HTTPTypes
import PurchaseAPI
import PurchaseLedger
import PurchaseServer
import TestSupport
import Testing

/// The scopes of the newer routes, and the list of testers.
@Suite("Scopes of operators' routes")
struct OperatorScopeTests {
    var world: PurchaseServerWorld { CurrentWorld.opened() }

    private static let id = "2f0c6f5e-6f3c-4a0e-9b0a-7d1f5b1c9e11"

    /// Each route with the scope that it needs.
    private static let routes: [(HTTPRequest.Method, String, APIKeyScope)] = [
        (.post, "/v1/restores", .client), (.get, "/v1/events", .backend), (.get, "/v1/products", .backend),
        (.post, "/v1/customers/bob/merge", .backend), (.put, "/v1/customers/bob/app_account_token", .backend),
        (.post, "/v1/customers/bob/grants", .admin), (.post, "/v1/customers/bob/revocations", .admin),
        (.delete, "/v1/customers/bob/grants/\(id)", .admin),
        (.delete, "/v1/customers/bob/revocations/\(id)", .admin), (.post, "/v1/purchases/1/move", .admin),
        (.get, "/v1/testers", .admin), (.put, "/v1/testers/bob", .admin), (.delete, "/v1/testers/bob", .admin),
    ]

    @Test("A route accepts only keys of its scope and of admin; a backend may do what its app may", .server)
    func scopes() async throws {
        for (method, path, scope) in Self.routes {
            for sent in APIKeyScope.allCases {
                let data = method == .get || method == .delete ? nil : Data("{}".utf8)
                let answer = try await world.send(method, path, data: data, as: sent)
                guard sent != scope && sent != .admin && (scope, sent) != (.client, .backend) else {
                    #expect(answer.status != 403 && answer.status < 500, "\(method) \(path): \(answer.text)")
                    continue
                }
                #expect(answer.status == 403, "\(method) \(path) as \(sent)")
                let document = try answer.document
                #expect(document?.code == "scope_insufficient")
                #expect(document?.expected == scope.rawValue && document?.found == sent.rawValue)
            }
            #expect(try await world.send(method, path, data: nil, as: nil).status == 401)
        }
    }

    @Test(
        "The key of another app sees nothing of this one, and changes nothing of it",
        .server { $0.apps["other"] = RegisteredApp(id: "other", bundleIDs: ["com.example.other"]) })
    func otherApp() async throws {
        let claim = try PurchaseServerWorld.purchase("2000000000000002", product: "com.example.app.pro")
        #expect(try await world.send(.post, "/v1/purchases", claim, as: .client).status == 200)
        let granted = try await world.send(
            .post, "/v1/customers/alice/grants",
            GrantRequest(productID: "com.example.app.coins", quantity: 2, reason: "goodwill"))
        let grant = try granted.message(GrantMessage.self).grantID
        _ = try await world.send(.put, "/v1/testers/alice", data: nil)
        _ = try await world.send(
            .put, "/v1/customers/alice/app_account_token", AccountTokenRequest(appAccountToken: Self.id))
        let before = try await world.send(.get, "/v1/customers/alice/entitlements").text
        let key = try await world.ledger.perform(CreateAPIKey(app: "other", name: "other", scopes: [.admin])).text
        let headers: HTTPFields = [.authorization: "Bearer \(key)"]
        func send(_ method: HTTPRequest.Method, _ path: String, _ body: String? = nil) async throws
            -> PurchaseServerWorld.Answer
        {
            try await world.send(method, path, data: body.map { Data($0.utf8) }, as: nil, headers: headers)
        }
        #expect(try await send(.get, "/v1/events").message(EventPage.self).events.isEmpty)
        #expect(try await send(.get, "/v1/testers").message(TesterNames.self).testers.isEmpty)
        #expect(try await send(.get, "/v1/products").message(ProductList.self).products.isEmpty)
        #expect(try await send(.get, "/v1/purchases/2000000000000002").status == 404)
        let refused = [
            (
                HTTPRequest.Method.post, "/v1/purchases/2000000000000002/move",
                #"{"customer_id":"mallory","reason":"x"}"#, "purchase_unknown"
            ),
            (.post, "/v1/customers/alice/merge", #"{"into":"mallory"}"#, "customer_unknown"),
            (
                .post, "/v1/customers/alice/revocations", #"{"transaction_id":"2000000000000002","reason":"x"}"#,
                "customer_unknown"
            ),
            (
                .post, "/v1/customers/alice/revocations", #"{"grant_id":"\#(grant)","reason":"x"}"#,
                "customer_unknown"
            ), (.delete, "/v1/customers/alice/grants/\(grant)?reason=x", "", "grant_unknown"),
        ]
        for (method, path, body, code) in refused {
            let answer = try await send(method, path, body.isEmpty ? nil : body)
            #expect(try answer.problem == code, "\(path): \(answer.text)")
        }
        // The same token and the same name in another app are another customer's.
        let token = try await send(
            .put, "/v1/customers/alice/app_account_token", #"{"app_account_token":"\#(Self.id)"}"#)
        #expect(token.status == 200, "\(token.text)")
        let restored = try await send(
            .post, "/v1/restores",
            #"{"customer_id":"mallory","receipt_data":"\#(Data(try MintedWorld.mint()).base64EncodedString())"}"#)
        let answer = try restored.message(RestoreAnswer.self)
        #expect(answer.purchases.isEmpty && answer.refused.map(\.code) == ["bundle_id_mismatch"])
        #expect(try await world.send(.get, "/v1/customers/alice/entitlements").text == before)
    }

    @Test("The list of testers can be edited, and determines for whom sandbox purchases count")
    func testers() async throws {
        var app = PurchaseServerWorld.app
        app.sandboxAccess = .testers
        let strict = app
        try await PurchaseServerWorld.run({ $0.apps = ["example": strict] }) { world async throws in
            _ = try await world.send(.post, "/v1/purchases", try PurchaseServerWorld.purchase(), as: .client)
            func reason() async throws -> EntitlementMessage.Reason? {
                try await world.entitlements(of: "alice").first { $0.productID == "com.example.app.coins" }?.reason
            }
            #expect(try await reason() == .sandboxNotAccepted)
            for isRepeated in [false, true] {
                let added = try await world.send(.put, "/v1/testers/alice", TesterRequest(reason: "App Review"))
                #expect(
                    try added.message(TesterMessage.self)
                        == TesterMessage(customerID: "alice", tester: true, replayed: isRepeated))
            }
            #expect(try await reason() == nil)
            #expect(try await world.send(.put, "/v1/testers/s%C3%B8ren", data: nil).status == 200)
            let listed = try await world.send(.get, "/v1/testers").message(TesterNames.self)
            #expect(Set(listed.testers) == ["alice", "søren"])
            for isRepeated in [false, true] {
                let removed = try await world.send(.delete, "/v1/testers/alice?reason=done")
                #expect(
                    try removed.message(TesterMessage.self)
                        == TesterMessage(customerID: "alice", tester: false, replayed: isRepeated))
            }
            #expect(try await reason() == .sandboxNotAccepted)
            let stranger = try await world.send(.delete, "/v1/testers/nobody")
            #expect(try stranger.message(TesterMessage.self).replayed)
            let wrong = try await world.send(.put, "/v1/testers/bob", data: Data(#"{"reason":7}"#.utf8))
            #expect(wrong.status == 400)
        }
    }
}
