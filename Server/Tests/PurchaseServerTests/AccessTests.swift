import Foundation
import HTTPTypes
import PurchaseAPI
import PurchaseLedger
import PurchaseServer
import PurchaseVerification
import TestSupport
import Testing

/// The callers that each route accepts, and the list of routes.
@Suite("Access")
struct AccessTests {
    var world: PurchaseServerWorld { CurrentWorld.opened() }

    /// Every route with its callers.
    static let routes: [(HTTPRequest.Method, String, APIKeyScope)] = [
        (.post, "/v1/orders", .backend), (.get, "/v1/orders", .backend), (.get, "/v1/orders/x", .backend),
        (.post, "/v1/orders/x/fulfil", .backend), (.post, "/v1/orders/x/cancel", .backend),
        (.post, "/v1/purchases", .client), (.get, "/v1/purchases/x", .backend),
        (.get, "/v1/purchases?owner=none", .backend),
        (.get, "/v1/customers/x/entitlements", .backend), (.get, "/v1/customers/x/purchases", .backend),
        (.get, "/v1/customers/x/offers", .backend), (.post, "/v1/customers/x/consume", .backend),
        (.get, "/v1/submissions", .backend),
        (.get, "/v1/submissions/x", .backend), (.get, "/v1/submissions/x/evidence", .backend),
    ]

    @Test("Without a key the answer is 401, with a key of another scope 403", .server)
    func access() async throws {
        for (method, path, scope) in Self.routes {
            let body = method == .post ? Data("{}".utf8) : nil
            let nobody = try await world.send(method, path, data: body, as: nil)
            #expect(try nobody.line == "401 key_missing" && nobody.headers[.wwwAuthenticate] == "Bearer")
            let stranger = try await world.send(
                method, path, data: body, as: nil,
                headers: [.authorization: "Bearer assay_0123456789abcdef_AAAA"])
            #expect(try stranger.line == "401 key_unknown")
            // A backend may do what its app may.
            if scope != .client {
                let other = try await world.send(method, path, data: body, as: .client)
                #expect(try other.line == "403 scope_insufficient")
            }
            for right in [scope, .backend, .admin] where right == scope || scope == .client || right == .admin {
                let answer = try await world.send(method, path, data: body, as: right)
                #expect(![401, 403].contains(answer.status), "\(method) \(path)")
            }
        }
    }

    @Test("A revoked key is refused, and so is a key of an unconfigured app")
    func revoked() async throws {
        let time = TestUptime()
        try await PurchaseServerWorld.run(uptime: time) { world async throws in
            let key = try await world.ledger.perform(CreateAPIKey(app: "example", name: "", scopes: [.backend]))
            let headers: HTTPFields = [.authorization: "Bearer \(key.text)"]
            #expect(try await world.send(.get, "/v1/orders", as: nil, headers: headers).status == 200)
            _ = try await world.ledger.perform(RevokeAPIKey(id: key.key.id))
            time.advance(seconds: 1)
            #expect(try await world.send(.get, "/v1/orders", as: nil, headers: headers).status == 401)
            // Another server on the same database, whose settings have another app.
            let clock = world.clock
            let apps = [PurchaseServerWorld.app, RegisteredApp(id: "another", bundleIDs: ["com.example.another"])]
            let ledger = try await PurchaseLedger.open(
                database: world.database, verifier: PurchaseVerifier(anchors: []), apps: apps, clock: { clock.now },
                entryKey: world.entryKey)
            let other = try await ledger.perform(CreateAPIKey(app: "another", name: "", scopes: [.admin])).text
            let answer = try await world.send(.get, "/v1/orders", as: nil, headers: [.authorization: "Bearer \(other)"])
            #expect(try answer.line == "403 app_unknown")
        }
    }

    @Test("An app that moved is answered with 503 and its new place, on every route, and its notifications come again")
    func moved() async throws {
        let time = TestUptime()
        try await PurchaseServerWorld.run(uptime: time) { world async throws in
            let genuine = String(decoding: try MintedWorld.mint(MintedWorld.testNotification()), as: UTF8.self)
            let notification = NotificationRequest(signedPayload: genuine)
            #expect(
                try await world.send(.post, "/v1/purchases", try PurchaseServerWorld.purchase(), as: .client).status
                    == 200)
            _ = try await world.ledger.perform(
                MoveApp(app: "example", origin: "example.com/game", place: "https://game.example.com"))
            time.advance(seconds: 1)
            for (method, path, scope) in Self.routes {
                let answer = try await world.send(
                    method, path, data: method == .post ? Data("{}".utf8) : nil, as: scope)
                #expect(try answer.line == "503 app_moved" && answer.headers[.retryAfter] == "60", "\(path)")
                #expect(try answer.document?.found == "https://game.example.com")
            }
            let answer = try await world.send(
                .post, "/notifications/v2", notification, as: nil, idempotencyKey: nil)
            #expect(try answer.line == "503 app_moved")
            try await world.ledger.perform(ReopenApp(app: "example"))
            time.advance(seconds: 1)
            #expect(try await world.send(.get, "/v1/orders").status == 200)
        }
    }

    @Test("An unsupported method is a 405 with Allow, and an unknown path is a 404", .server)
    func methods() async throws {
        for (path, allowed) in [
            ("/v1/orders", "GET, POST"), ("/v1/orders/x/fulfil", "POST"), ("/readyz", "GET, HEAD"),
            ("/v1/customers/x/entitlements", "GET"),
        ] {
            let answer = try await world.send(.trace, path)
            #expect(try answer.line == "405 method_not_allowed" && answer.headers[.allow] == allowed)
            #expect(try answer.document?.title == "Method Not Allowed")
        }
        #expect(try await world.send(.delete, "/nothing").status == 404)
        let unknown = try await world.send(.get, "/v1/purchases/nothing")
        #expect(try unknown.problem == "transaction_unknown" && unknown.document?.title == "Not Found")
    }

    @Test("A body beyond the limit is a 413", .server { $0.limits.bodyBytes = 1000 })
    func bodyLimit() async throws {
        let answer = try await world.send(.post, "/v1/purchases", try PurchaseServerWorld.purchase(), as: .client)
        #expect(try answer.line == "413 body_too_large")
    }

    @Test("By default, /v1 accepts a body of at most 1 MiB, and verifyReceipt larger ones", .server)
    func apiBodyLimit() async throws {
        let order = try JSONEncoder().encode(OrderRequest(customerID: "a", productID: "com.example.app.coins"))
        let full = order + Data(repeating: 0x20, count: (1 << 20) - order.count)
        #expect(try await world.send(.post, "/v1/orders", data: full).status == 201)
        for path in ["/v1/orders", "/v1/purchases", "/v1/restores"] {
            let refused = try await world.send(.post, path, data: full + Data([0x20]))
            #expect(try refused.line == "413 body_too_large", "\(path)")
            #expect(try refused.document?.expected == "at most 1048576 bytes")
        }
        let receipt = try await world.send(.post, "/verifyReceipt", data: full + full, as: nil)
        #expect(receipt.status == 200 && receipt.text.hasPrefix(#"{"status":"#))
    }

    @Test("The description that is served is the file of the repository, and names every route", .server)
    func description() async throws {
        let file = Corpus.projectFolder.appending(path: "Server/Sources/PurchaseServer/Resources/openapi.yaml")
        let documented = try String(contentsOf: file, encoding: .utf8)
        let served = try await world.send(.get, "/openapi.yaml", as: nil)
        #expect(served.text == documented)
        for (_, path, _) in Self.routes {
            let template = path.prefix { $0 != "?" }.replacing("/customers/x", with: "/customers/{customer_id}")
                .replacing("/orders/x", with: "/orders/{order_id}")
                .replacing("/purchases/x", with: "/purchases/{transaction_id}")
                .replacing("/submissions/x", with: "/submissions/{submission_id}")
            #expect(documented.contains("\n  \(template):\n"), "\(template)")
        }
    }
}
