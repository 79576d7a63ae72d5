import EvidenceMint
import Foundation
import HTTPTypes
import PurchaseAPI
import PurchaseLedger
import PurchaseServer
import PurchaseVerification
import TestSupport
import Testing

/// Refusals of the purchase server, over real HTTP.
@Suite("Rejected purchases", .server)
struct RejectedPurchaseTests {
    let world: PurchaseServerWorld = CurrentWorld.opened()

    @Test("A missing or malformed member is a 400 with its name, and is in the journal")
    func fields() async throws {
        // As members by name, because the types cannot express wrong members.
        func json(_ members: [String: Any]) throws -> Data { try JSONSerialization.data(withJSONObject: members) }
        let encoded = try JSONEncoder().encode(try PurchaseServerWorld.purchase())
        let whole = try #require(try JSONSerialization.jsonObject(with: encoded) as? [String: Any])
        for name in ["receipt_data", "product_id", "transaction_id", "customer_id"] {
            for value in [nil, "", NSNull()] as [Any?] {
                var body = whole
                body[name] = value
                let answer = try await world.send(.post, "/v1/purchases", data: try json(body), as: .client)
                #expect(try answer.line == "400 field_missing")
                #expect(try answer.document?.expected?.contains(name) == true, "\(answer.text)")
                #expect(try answer.document?.submissionID != nil)
            }
            var body = whole
            body[name] = ["a": 1]
            let answer = try await world.send(.post, "/v1/purchases", data: try json(body), as: .client)
            #expect(try answer.problem == "field_malformed" && answer.document?.expected?.contains(name) == true)
        }
        // The spellings of other APIs are named, and so is an empty body.
        for (sent, name) in [
            ("receipt-data", "receipt_data"), ("receiptData", "receipt_data"), ("productId", "product_id"),
            ("transactionID", "transaction_id"), ("customerId", "customer_id"), ("CUSTOMER_ID", "customer_id"),
            ("app_receipt", "receipt_data"), ("receipt", "receipt_data"),
        ] {
            var body = whole
            body[sent] = body.removeValue(forKey: name)
            let answer = try await world.send(.post, "/v1/purchases", data: try json(body), as: .client)
            #expect(try answer.problem == "field_missing")
            #expect(try answer.document?.expected == name && answer.document?.found == sent, "\(answer.text)")
            let words = "The field '\(sent)' is unknown; did you mean '\(name)'?"
            #expect(try answer.document?.detail == words)
        }
        let empty = try await world.send(.post, "/v1/purchases", data: Data(), as: .client)
        #expect(try empty.document?.found == "an empty body", "\(empty.text)")
        for path in ["/v1/orders", "/v1/restores", "/v1/customers/a/consume"] {
            let empty = try await world.send(.post, path, data: Data(), as: .admin)
            #expect(try empty.document?.found == "an empty body", "\(path) \(empty.text)")
        }
        let many = "{\"a\":[" + String(repeating: "{},", count: 5000) + "{}]}"
        for text in ["", "[]", "{", "\"x\"", "\u{0}", "{\"quantity\": true}", "{\"quantity\": 1.5}", many] {
            let answer = try await world.send(.post, "/v1/purchases", data: Data(text.utf8), as: .client)
            #expect(answer.status == 400, "\(text)")
            #expect(["body_malformed", "field_malformed", "field_missing"].contains(try answer.problem))
        }
        #expect(try await world.submissions("limit=500&verdict=rejected").count == 4 * 4 + 8 + 1 + 8)
        for body in [
            [:], ["customer_id": "a"], ["customer_id": "a", "product_id": "p", "quantity": 0],
            ["customer_id": "a", "product_id": "p", "metadata": ["a": 1]],
            ["customer_id": "a\u{7}", "product_id": "p"],
        ] as [[String: Any]] {
            let answer = try await world.send(.post, "/v1/orders", data: try json(body), as: .backend)
            #expect(answer.status == 400, "\(answer.text)")
        }
        let unknown = try await world.send(
            .post, "/v1/orders", OrderRequest(customerID: "a", productID: "p"), as: .backend)
        #expect(try unknown.problem == "product_unknown")
        for query in ["limit=0", "limit=x", "cursor=x", "status=x", "status=", "customer_id="] {
            #expect(try await world.send(.get, "/v1/orders?\(query)", as: .backend).status == 400, "\(query)")
        }
        for query in ["from=yesterday", "verdict=perhaps"] {
            #expect(try await world.send(.get, "/v1/submissions?\(query)", as: .backend).status == 400)
        }
    }

    @Test("Rejected purchases are problems with their code and their submission")
    func rejected() async throws {
        _ = try await world.send(.post, "/v1/purchases", try PurchaseServerWorld.purchase())
        world.clock.advance(days: 31)
        var empty = MintedWorld.receipt()
        empty.purchases = []
        let cases: [(PurchaseRequest, Int, String)] = [
            (try PurchaseServerWorld.purchase(customerID: "bob"), 409, "already_claimed"),
            (try PurchaseServerWorld.purchase("9"), 422, "transaction_not_found"),
            (try PurchaseServerWorld.purchase(product: "com.example.app.pro"), 422, "product_mismatch"),
            (try PurchaseServerWorld.purchase(customerID: nil, orderID: "nothing"), 404, "order_unknown"),
            (
                try PurchaseServerWorld.purchase(
                    "2000000000000004", product: "com.example.app.monthly"), 422, "subscription_expired"
            ),
            (try PurchaseServerWorld.purchase(receipt: try MintedWorld.mint(empty)), 422, "no_purchases"),
            (PurchaseRequest(receiptData: "x!", productID: "p", transactionID: "t", customerID: "a"), 422, ""),
        ]
        for (body, status, code) in cases {
            let answer = try await world.send(.post, "/v1/purchases", body, as: .client)
            #expect(answer.status == status, "\(answer.text)")
            if !code.isEmpty { #expect(try answer.problem == code) }
            #expect(try answer.document?.verdict == .rejected)
            let id = try #require(try answer.document?.submissionID)
            let record = try await world.send(.get, "/v1/submissions/\(id)", as: .backend).message(
                SubmissionMessage.self)
            #expect(try record.code == answer.problem && record.sourceAddress == "127.0.0.1")
        }
    }

    @Test("The simulator's whole attack table: each ends with its code, and each is in the record")
    func attacks() async throws {
        let root = try MintedWorld.authority().root.certificate
        let core = PurchaseVerifier(anchors: [try TrustAnchor(certificate: root)])
        for fault in ReceiptFault.allCases {
            let body = try PurchaseServerWorld.purchase(receipt: try MintedWorld.mint(fault: fault))
            let answer = try await world.send(.post, "/v1/purchases", body, as: .client)
            #expect(answer.status == 422, "\(fault)")
            let evidence = try MintedWorld.mint(fault: fault)
            let error = #expect(throws: VerificationError.self) {
                try core.verify(
                    evidence,
                    policies: [
                        BundleIDPolicy("com.example.app"), EnvironmentPolicy(accepting: [.production, .sandbox]),
                    ])
            }
            #expect(try answer.problem == error?.code.rawValue, "\(fault): \(answer.text)")
        }
        #expect(try await world.submissions().count == ReceiptFault.allCases.count)
        print("attacks over HTTP: \(ReceiptFault.allCases.count), each 422 with its code and in the record")
    }
}
