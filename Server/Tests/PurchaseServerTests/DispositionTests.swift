import EvidenceMint
import Foundation
import HTTPTypes
import PurchaseAPI
import PurchaseLedger
import PurchaseServer
import TestSupport
import Testing

/// Every answer to a claim states what the app should do with its transaction.
@Suite("Dispositions", .server)
struct DispositionTests {
    let world: PurchaseServerWorld = CurrentWorld.opened()

    @Test(
        "A claim that is not decided is never finished: the operator corrects the request, or it is sent again",
        .server { configuration in
            configuration.limits.bodyBytes = 100_000
            configuration.limits.perKey = RateLimit(perSecond: 0.01, burst: 4)
        })
    func unjudged() async throws {
        let body = Data("{}".utf8)
        // Nobody learns anything about the query without a key.
        for path in ["/v1/purchases", "/v1/purchases?", "/v1/purchases?a=b"] {
            let nobody = try await world.send(.post, path, data: body, as: nil)
            #expect(try nobody.status == 401 && nobody.document?.disposition == .operator)
        }
        let empty = try await world.send(.post, "/v1/purchases", data: body, as: .client)
        #expect(try empty.status == 400 && empty.document?.disposition == .operator)
        let large = try await world.send(
            .post, "/v1/purchases", data: Data(repeating: 0x20, count: 100_001), as: .client)
        #expect(try large.status == 413 && large.document?.disposition == .operator)
        // Nothing of that took a token of the key: only requests with evidence do.
        let junk = Data(#"{"receipt_data":"bm8=","product_id":"a","transaction_id":"1","customer_id":"c"}"#.utf8)
        for _ in 0..<4 {
            #expect(try await world.send(.post, "/v1/purchases", data: junk, as: .client).status == 422)
        }
        let limited = try await world.send(.post, "/v1/purchases", data: junk, as: .client)
        #expect(try limited.status == 429 && limited.document?.disposition == .retry)
        let order = try await world.send(.post, "/v1/orders", data: body, as: nil)
        #expect(try order.document?.disposition == nil, "an order has no transaction to finish")
    }

    @Test("A database that cannot be written makes the app try again")
    func unavailable() async throws {
        try await world.database.set("query_only", to: "1")
        let refused = try await world.send(.post, "/v1/purchases", try PurchaseServerWorld.purchase())
        #expect(try refused.status == 503 && refused.document?.disposition == .retry)
        try await world.database.set("query_only", to: "0")
    }

    @Test("C.16 Evidence that was cut or encoded twice keeps its transaction, in claims and in restores")
    func damaged() async throws {
        let receipt = try MintedWorld.mint()
        let text = Data(receipt).base64EncodedString()
        let jws = try PurchaseServerWorld.signed("12").jws
        let cut = { (text: String, length: Int) in String(text.prefix(length)) }
        let twice = Data(text.utf8).base64EncodedString()
        var claims: [PurchaseRequest] = []
        for damaged in [cut(text, 1000), cut(text, text.count - 8), twice, "", "null", cut(text, 1)] {
            claims.append(
                PurchaseRequest(
                    receiptData: damaged, productID: "com.example.app.coins", transactionID: "2000000000000001",
                    customerID: "alice"))
        }
        let end = try #require(jws.lastIndex(of: "."))
        for damaged in [
            cut(jws, 1000), cut(jws, jws.count - 1), String(jws[..<end]), Data(jws.utf8).base64EncodedString(),
        ] {
            claims.append(
                PurchaseRequest(
                    signedTransaction: damaged, productID: "com.example.app.coins", transactionID: "12",
                    customerID: "alice"))
        }
        for claim in claims {
            let answer = try await world.send(.post, "/v1/purchases", claim, as: .client)
            let disposition = try answer.document?.disposition
            #expect(disposition == .retry || disposition == .operator && answer.status == 400, "\(answer.text)")
        }
        let restore = RestoreRequest(
            customerID: "alice", signedTransactions: [cut(jws, 1000), cut(jws, jws.count - 1), "e30.e30.e30"])
        let restored = try await world.send(.post, "/v1/restores", restore, as: .client)
            .message(RestoreAnswer.self)
        #expect(restored.refused.map(\.disposition) == [.retry, .retry, .retry])
        // The whole evidence is accepted afterwards.
        let whole = try await world.send(.post, "/v1/purchases", try PurchaseServerWorld.purchase())
        #expect(try whole.message(PurchaseAnswer.self).disposition == .granted)
    }

    @Test("A refusal names its disposition: refused, retry or operator")
    func judged() async throws {
        let first = try await world.send(.post, "/v1/purchases", try PurchaseServerWorld.purchase())
        #expect(try first.message(PurchaseAnswer.self).disposition == .granted)
        let forged = try MintedWorld.mint(fault: .flippedSignatureByte)
        let cases: [(PurchaseRequest, PurchaseAPI.Disposition)] = [
            (try PurchaseServerWorld.purchase(customerID: "bob"), .refused),
            (try PurchaseServerWorld.purchase(receipt: forged), .refused),
            (try PurchaseServerWorld.purchase("9"), .retry),
            (try PurchaseServerWorld.purchase(product: "com.example.app.pro"), .operator),
            (try PurchaseServerWorld.purchase(customerID: nil, orderID: "nothing"), .operator),
        ]
        for (claim, disposition) in cases {
            let answer = try await world.send(.post, "/v1/purchases", claim, as: .client)
            #expect(try answer.document?.disposition == disposition, "\(answer.text)")
            #expect(try answer.document?.leafHash?.count == 64)
        }
    }
}
