import Foundation
import HTTPTypes
import PurchaseAPI
import PurchaseLedger
import PurchaseServer
import TestSupport
import Testing

/// Unknown parameters and members: refused everywhere, and ignored with a warning where apps send them.
@Suite("Strict requests")
struct StrictRequestTests {
    var world: PurchaseServerWorld { CurrentWorld.opened() }

    /// An operation of the description of the interface.
    private struct Operation {
        let method: HTTPRequest.Method
        let path: String
        var hasBody = false
        /// The documented parameters of the query.
        var parameters: [String] = []
        /// Whether the description requires `Idempotency-Key`.
        var needsKey = false

        /// The path with a value for each variable.
        var example: String {
            path.replacing(/\{[a-z_]+\}/, with: "2f0c6f5e-6f3c-4a0e-9b0a-7d1f5b1c9e11")
        }

        var isClaim: Bool { method == .post && ["/v1/purchases", "/v1/restores"].contains(path) }
    }

    /// Those whose answer ends.
    private static func answered() throws -> [Operation] { try operations().filter { $0.path != "/v1/events/stream" } }

    /// The operations of `/v1`, read from the lines of the description.
    private static func operations() throws -> [Operation] {
        let file = Corpus.projectFolder.appending(path: "Server/Sources/PurchaseServer/Resources/openapi.yaml")
        let text = try String(contentsOf: file, encoding: .utf8)
        let lines = text.components(separatedBy: "\n")
        let components = Dictionary(
            lines.indices.compactMap { index -> (String, String)? in
                guard lines[index].hasPrefix("      name: "), index > 0 else { return nil }
                let name = lines[index - 1].trimmingCharacters(in: CharacterSet(charactersIn: " :"))
                guard lines[index + 1].contains("in: query") else { return nil }
                return (name, String(lines[index].dropFirst("      name: ".count)))
            }, uniquingKeysWith: { first, _ in first })
        var (operations, path): ([Operation], String?) = ([], nil)
        for (index, line) in lines.enumerated() {
            if line == "components:" { break }
            if line.hasPrefix("  /") { path = String(line.dropFirst(2).dropLast()) }
            if let path, path.hasPrefix("/v1/"), let match = line.wholeMatch(of: #/ {4}(get|post|put|delete|patch):/#),
                let method = HTTPRequest.Method(match.output.1.uppercased())
            {
                operations.append(Operation(method: method, path: path))
            }
            guard let last = operations.indices.last else { continue }
            if line == "      requestBody:" { operations[last].hasBody = true }
            if line.hasSuffix("/parameters/RequiredIdempotencyKey'") { operations[last].needsKey = true }
            if let match = line.wholeMatch(of: #/ {8}- name: ([a-z_]+)/#), lines[index + 1].contains("in: query") {
                operations[last].parameters.append(String(match.output.1))
            }
            if let match = line.wholeMatch(of: #/ {8}- \$ref: '\#/components/parameters/([A-Za-z]+)'/#),
                let name = components[String(match.output.1)]
            {
                operations[last].parameters.append(name)
            }
        }
        return operations
    }

    @Test("E.1 Every route of the description refuses unknown parameters, and accepts all that are described", .server)
    func parameters() async throws {
        let operations = try Self.operations()
        #expect(operations.count > 25)
        #expect(operations.contains { $0.path == "/v1/events" && $0.parameters.contains("cursor") })
        for operation in operations {
            for name in ["no_such", "curzor", ""] {
                let answer = try await world.send(operation.method, "\(operation.example)?\(name)=1")
                #expect(answer.status == 400, "\(operation.method) \(operation.path): \(answer.text)")
                let document = try #require(try answer.document)
                #expect(document.code == "parameter_unknown" && document.found == name)
                #expect((document.disposition != nil) == operation.isClaim)
                let known = operation.parameters.isEmpty ? "no parameters" : operation.parameters.sorted().joined()
                let listed = document.expected?.components(separatedBy: ", ").sorted().joined()
                #expect(listed == known, "\(operation.method) \(operation.path)")
                let suggests = name == "curzor" && operation.parameters.contains("cursor")
                #expect(document.detail?.contains("Did you mean 'cursor'?") == suggests)
            }
        }
    }

    @Test("No answer names a charset: app-store-server-library reads the code of an error only without one", .server)
    func contentTypes() async throws {
        let operations = try Self.answered()
        var succeeded = 0
        for (method, path) in operations.map({ ($0.method, $0.example) }) + [
            (.post, "/verifyReceipt"), (.get, "/healthz"), (.get, "/v1/none"), (.post, "/notifications/v2"),
        ] {
            for query in ["", "?no_such=1"] {
                let answer = try await world.send(method, path + query)
                guard let type = answer.headers[.contentType] else { continue }
                #expect(!type.contains(";"), "\(method) \(path): \(type)")
                succeeded += answer.status == 200 ? 1 : 0
            }
        }
        #expect(succeeded > 5)
    }

    @Test("E.1 A key without the scope of a route learns that before an unknown parameter, on every route", .server)
    func scopeFirst() async throws {
        let operations = try Self.answered()
        var refused = 0
        for operation in operations {
            for scope in APIKeyScope.allCases {
                let plain = try await world.send(operation.method, operation.example, as: scope)
                let answer = try await world.send(operation.method, "\(operation.example)?no_such=1", as: scope)
                let isRefused = plain.status == 403
                refused += isRefused ? 1 : 0
                #expect(
                    try answer.document?.code == (isRefused ? "scope_insufficient" : "parameter_unknown"),
                    "\(operation.method) \(operation.path) as \(scope)")
                #expect(answer.status == (isRefused ? 403 : 400))
            }
            #expect(try await world.send(operation.method, "\(operation.example)?no_such=1", as: nil).status == 401)
        }
        #expect(refused > 30)
    }

    @Test("E.1 Every route with a body refuses unknown members, except claims, which name them in warnings", .server)
    func members() async throws {
        let operations = try Self.operations().filter(\.hasBody)
        #expect(operations.count > 8)
        for operation in operations {
            let answer = try await world.send(
                operation.method, operation.example, data: Data(#"{"no_such": 1, "reason": "x"}"#.utf8))
            #expect(answer.status == 400, "\(operation.method) \(operation.path): \(answer.text)")
            let document = try #require(try answer.document)
            guard operation.isClaim else {
                #expect(document.code == "field_unknown", "\(operation.method) \(operation.path)")
                #expect(["no_such", "reason"].contains(document.found))
                continue
            }
            #expect(document.code == "field_missing" && document.disposition == .operator)
        }
        let order = try await world.send(
            .post, "/v1/orders",
            data: Data(#"{"customer_id":"a","product_id":"com.example.app.coins","quantty":5}"#.utf8))
        #expect(try order.document?.code == "field_unknown")
        let cancel = try await world.send(.post, "/v1/orders/x/cancel", data: Data(#"{"order":1}"#.utf8))
        #expect(try cancel.problem == "field_unknown")
        #expect(try order.document?.detail == "The field 'quantty' is unknown; did you mean 'quantity'?")
        #expect(try order.document?.expected == "quantity")
        let listed = try await world.send(.get, "/v1/orders", as: .backend).message(OrderPage.self)
        #expect(listed.orders.isEmpty)
    }

    @Test(
        "E.1 Unknown members of claims are ignored, recorded by name, few and short, and named in the answer",
        .server)
    func warnings() async throws {
        func object(_ message: some Encodable, _ more: [String]) throws -> Data {
            let json = try JSONSerialization.jsonObject(with: try JSONEncoder().encode(message))
            var members = try #require(json as? [String: Any])
            for name in more { members[name] = ["x": 1] }
            return try JSONSerialization.data(withJSONObject: members)
        }
        let claim = try PurchaseServerWorld.purchase()
        let accepted = try await world.send(
            .post, "/v1/purchases", data: try object(claim, ["app_version", "quantty"]), as: .client)
        let answer = try accepted.message(PurchaseAnswer.self)
        #expect(answer.warnings?.map(\.code) == ["field_unknown", "field_unknown"])
        #expect(answer.warnings?.map(\.found) == ["app_version", "quantty"])
        #expect(
            answer.warnings?.last?.detail
                == "The field 'quantty' is unknown; did you mean 'quantity'? It was ignored.")
        let many = (1...9).map { "f\($0)\(String(repeating: "x", count: 50))" }
        let refused = try await world.send(
            .post, "/v1/purchases", data: try object(PurchaseServerWorld.purchase(customerID: "bob"), many),
            as: .client)
        #expect(try refused.document?.code == "already_claimed" && refused.document?.warnings?.count == 4)
        let restore = RestoreRequest(customerID: "alice", receiptData: claim.receiptData)
        let restored = try await world.send(.post, "/v1/restores", data: try object(restore, ["locale"]), as: .client)
        #expect(try restored.message(RestoreAnswer.self).warnings?.map(\.found) == ["locale"])
        let plain = try await world.send(.post, "/v1/purchases", claim, as: .client).message(PurchaseAnswer.self)
        #expect(plain.warnings == nil)
        let submissions = try await world.submissions().reversed().map { $0 }
        #expect(submissions.map { $0.unknownFields?.count ?? 0 } == [2, 4, 1, 0])
        #expect(submissions[0].unknownFields == ["app_version", "quantty"])
        #expect(submissions[1].unknownFields?.allSatisfy { $0.utf8.count <= 43 } == true)
    }

    @Test("E.1 An environment in the query is one that exists", .server, arguments: ["sandbx", "", "Production2"])
    func environment(_ name: String) async throws {
        let path = "/v1/customers/alice/entitlements?environment="
        let refused = try await world.send(.get, path + name, as: .backend)
        #expect(try refused.line == "400 field_malformed")
        for known in ["Production", "sandbox", "Xcode"] {
            #expect(try await world.send(.get, path + known, as: .backend).status == 200)
        }
    }

    @Test("E.1 Events are filtered by customer, order and transaction, in pages of every size", .server)
    func events() async throws {
        var orders: [String] = []
        for number in 1...4 {
            let customer = number.isMultiple(of: 2) ? "alice" : "bob"
            let order = try await world.send(
                .post, "/v1/orders", OrderRequest(customerID: customer, productID: "com.example.app.coins"),
                as: .backend
            ).message(OrderMessage.self)
            orders.append(order.orderID)
            let claim = try PurchaseServerWorld.signed("\(number)").claim(orderID: order.orderID)
            #expect(try await world.send(.post, "/v1/purchases", claim, as: .client).status == 200)
        }
        _ = try await world.send(.post, "/v1/customers/bob/merge", MergeRequest(into: "alice"), as: .backend)
        let all = try await world.send(.get, "/v1/events?limit=500", as: .backend).message(EventPage.self).events
        func pages(_ filter: String, _ limit: Int) async throws -> [EventMessage] {
            var (events, cursor): ([EventMessage], String?) = ([], nil)
            while true {
                let page = try await world.send(
                    .get, "/v1/events?limit=\(limit)&\(filter)\(cursor.map { "&cursor=\($0)" } ?? "")", as: .backend
                ).message(EventPage.self)
                #expect(page.events.count <= limit)
                events += page.events
                guard page.nextCursor != cursor else { return events }
                cursor = page.nextCursor
            }
        }
        for limit in [1, 2, 3, 500] {
            #expect(try await pages("transaction_id=2", limit) == all.filter { $0.transactionID == "2" })
            #expect(try await pages("order_id=\(orders[1])", limit) == all.filter { $0.orderID == orders[1] })
            #expect(try await pages("order_id=\(orders[0])", limit) == all.filter { $0.orderID == orders[0] })
            #expect(try await pages("customer_id=alice", limit) == all, "bob was merged into alice")
            #expect(
                try await pages("customer_id=alice&transaction_id=4", limit)
                    == all.filter { $0.transactionID == "4" })
            #expect(try await pages("customer_id=nobody", limit) == [])
            #expect(try await pages("order_id=\(UUID().uuidString)", limit) == [])
        }
    }

    @Test("D.3 Exactly the requests of which the description requires an Idempotency-Key are refused without one")
    func idempotency() async throws {
        let operations = try Self.operations().filter(\.hasBody)
        #expect(operations.filter(\.needsKey).map(\.path) == ["/v1/orders", "/v1/customers/{customer_id}/consume"])
        try await PurchaseServerWorld.run { world async throws in
            // A consumption with an id of its own needs the header, too.
            for body in ["{}", #"{"product_id":"com.example.app.coins","consumption_id":"1"}"#] {
                for operation in operations {
                    let answer = try await world.send(
                        operation.method, operation.example, data: Data(body.utf8), idempotencyKey: nil)
                    let isRefused = try answer.document?.code == "idempotency_key_missing"
                    #expect(isRefused == operation.needsKey, "\(operation.path): \(answer.text)")
                }
            }
        }
    }

    @Test(
        "F.3 The first kilobyte of a malformed claim or restore is kept, and shown",
        .server, arguments: ["purchases", "restores"])
    func malformed(_ route: String) async throws {
        for body in ["product_id=coins&receipt=MII", "{\"product_id\": " + String(repeating: "x", count: 3000)] {
            let refused = try await world.send(.post, "/v1/\(route)", data: Data(body.utf8), as: .client)
            #expect(refused.status == 400)
            let document = try #require(try refused.document)
            #expect(document.code == "body_malformed" && document.disposition == .operator)
            let id = try #require(document.submissionID)
            let submission = try await world.send(.get, "/v1/submissions/\(id)", as: .backend)
                .message(SubmissionMessage.self)
            #expect(submission.evidenceKind == "malformed_body" && submission.code == "body_malformed")
            #expect(submission.restore == (route == "restores"))
            let evidence = try await world.send(.get, "/v1/submissions/\(id)/evidence", as: .backend)
            #expect(evidence.text == String(body.prefix(1024)))
        }
    }
}
