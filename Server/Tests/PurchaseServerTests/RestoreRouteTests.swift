import EvidenceMint
import Foundation
import HTTPTypes
import PurchaseAPI
import PurchaseLedger
import PurchaseServer
import TestSupport
import Testing

/// `POST /v1/restores`, over HTTP.
@Suite("Restores", .server)
struct RestoreRouteTests {
    let world: PurchaseServerWorld = CurrentWorld.opened()

    private static let (coins, pro, monthly) = (
        "com.example.app.coins", "com.example.app.pro", "com.example.app.monthly"
    )

    private static func receipt(fault: Bool = false) throws -> String {
        let other = fault ? try MintedWorld.otherAuthority() : nil
        return Data(try MintedWorld.mint(authority: other)).base64EncodedString()
    }

    private static func restore(
        _ request: RestoreRequest, _ world: PurchaseServerWorld
    ) async throws -> RestoreAnswer {
        let answer = try await world.send(.post, "/v1/restores", request, as: .client)
        #expect(answer.status == 200, "\(answer.text)")
        return try answer.message(RestoreAnswer.self)
    }

    @Test("A receipt gives its customer every purchase in it once, and a repeat gets the same answer")
    func receipt() async throws {
        let request = RestoreRequest(customerID: "alice", receiptData: try Self.receipt())
        for isRepeated in [false, true] {
            let answer = try await Self.restore(request, world)
            #expect(answer.customerID == "alice" && answer.refused.isEmpty)
            #expect(answer.purchases.map(\.productID).sorted() == [Self.coins, Self.monthly, Self.pro])
            #expect(answer.purchases.allSatisfy { $0.code == "accepted" && $0.disposition == .granted })
            #expect(answer.purchases.allSatisfy { $0.replayed == isRepeated && $0.environment == .sandbox })
            #expect(answer.purchases.allSatisfy { $0.leafHash?.count == 64 && $0.detail?.isEmpty == false })
            #expect(answer.entitlements.allSatisfy { $0.state == .active } && answer.entitlements.count == 3)
        }
        let other = try await Self.restore(RestoreRequest(customerID: "bob", receiptData: try Self.receipt()), world)
        #expect(other.purchases.allSatisfy { $0.code == "already_claimed" && $0.disposition == .refused })
        #expect(other.purchases.allSatisfy { $0.claimedBy == .anotherCustomer && !$0.replayed })
        #expect(other.entitlements.allSatisfy { $0.state != .active })
        let submissions = try await world.submissions()
        #expect(submissions.count == 3 && submissions.allSatisfy { $0.restore && $0.code == "accepted" })
        #expect(Set(submissions.map(\.submissionID)).isSuperset(of: other.purchases.compactMap(\.submissionID)))
    }

    @Test("Empty evidence is refused like other evidence without proof, and keeps its position in the request")
    func empty() async throws {
        let bought = try PurchaseServerWorld.signed("12").jws
        let answer = try await Self.restore(
            RestoreRequest(customerID: "alice", signedTransactions: ["", "e30.e30.e30", bought]), world)
        #expect(answer.refused.map(\.index) == [0, 1] && answer.purchases.map(\.transactionID) == ["12"])
        let receipt = try await Self.restore(RestoreRequest(customerID: "alice", receiptData: ""), world)
        #expect(receipt.refused.map(\.index) == [0] && receipt.purchases.isEmpty)
    }

    @Test("Each signed transaction has its own outcome: expired, revoked, forged, repeated, of an unknown product")
    func outcomes() async throws {
        let expired = try PurchaseServerWorld.signed("10", product: Self.monthly) {
            $0.type = .autoRenewableSubscription
            $0.purchaseDate = MintedWorld.moment.addingTimeInterval(-40 * 86_400)
            $0.originalPurchaseDate = MintedWorld.moment.addingTimeInterval(-40 * 86_400)
            $0.expiresDate = MintedWorld.moment.addingTimeInterval(-10 * 86_400)
        }
        let revoked = try PurchaseServerWorld.signed("11", product: Self.pro) {
            $0.type = .nonConsumable
            $0.revocationDate = MintedWorld.moment
        }
        let bought = try PurchaseServerWorld.signed("12")
        let unknown = try PurchaseServerWorld.signed("13", product: "com.example.app.gems")
        let evidence = [expired.jws, revoked.jws, "e30.e30.e30", bought.jws, bought.jws, unknown.jws]
        let answer = try await Self.restore(RestoreRequest(customerID: "alice", signedTransactions: evidence), world)
        #expect(answer.purchases.map(\.transactionID) == ["10", "11", "12", "13"], "each once, in order")
        #expect(
            answer.purchases.map(\.code)
                == ["subscription_expired", "purchase_revoked", "accepted", "product_unknown"])
        #expect(answer.purchases.map(\.disposition) == [.refused, .refused, .granted, .operator])
        #expect(answer.purchases.first?.expiresAt != nil)
        let refused = try #require(answer.refused.first)
        #expect(answer.refused.count == 1 && refused.index == 2 && refused.disposition == .retry)
        #expect(refused.detail?.isEmpty == false && refused.leafHash?.count == 64)
        let reasons = Dictionary(uniqueKeysWithValues: answer.entitlements.map { ($0.productID, $0.reason) })
        #expect(reasons[Self.coins] == .some(nil) && reasons[Self.pro] == .revoked)
        // Nothing says what became of the renewal.
        #expect(reasons[Self.monthly] == .newsMissing)
        // Expired and revoked purchases still bind their owner.
        let stranger = try await Self.restore(
            RestoreRequest(customerID: "bob", signedTransactions: [expired.jws, revoked.jws]), world)
        #expect(stranger.purchases.map(\.code) == ["already_claimed", "already_claimed"])
    }

    @Test("A hundred signed transactions are restored, and a hundred and one are refused as a whole")
    func limit() async throws {
        var evidence: [String] = []
        for number in 0..<100 { evidence.append(try PurchaseServerWorld.signed("\(1000 + number)").jws) }
        let answer = try await Self.restore(RestoreRequest(customerID: "alice", signedTransactions: evidence), world)
        #expect(answer.purchases.count == 100 && answer.entitlements.map(\.balance) == [100])
        evidence.append(try PurchaseServerWorld.signed("2000").jws)
        let more = try await world.send(
            .post, "/v1/restores", RestoreRequest(customerID: "alice", signedTransactions: evidence), as: .client)
        #expect(try more.status == 400 && more.document?.expected == "signed_transactions: a list of 1 to 100 strings")
        #expect(try more.document?.disposition == .operator)
        #expect(try await world.entitlements(of: "alice").map(\.balance) == [100])
    }

    @Test("A malformed restore names the wrong member, and its evidence is observed nevertheless")
    func flaws() async throws {
        let signed = try PurchaseServerWorld.signed("1").jws
        let cases = [
            (#"{}"#, "field_missing", "customer_id"),
            (#"{"customer_id":"a"}"#, "field_missing", "receipt_data or signed_transactions"),
            (
                #"{"customer_id":"a","signed_transactions":[]}"#, "field_malformed",
                "signed_transactions: a list of 1 to 100 strings"
            ),
            (
                #"{"customer_id":"a","signed_transactions":[1]}"#, "field_malformed",
                "signed_transactions: a list of 1 to 100 strings"
            ),
            (
                #"{"customer_id":"a","signed_transactions":"x"}"#, "field_malformed",
                "signed_transactions: a list of 1 to 100 strings"
            ), (#"{"customer_id":"a","receipt_data":7}"#, "field_malformed", "receipt_data: a string"),
            (
                #"{"customer_id":"a","receipt_data":"x","signed_transactions":["y"]}"#, "field_malformed",
                "receipt_data: receipt_data or signed_transactions, not both"
            ), (#"{"signed_transactions":["\#(signed)"]}"#, "field_missing", "customer_id"),
        ]
        for (body, code, expected) in cases {
            let answer = try await world.send(.post, "/v1/restores", data: Data(body.utf8), as: .client)
            let document = try answer.document
            #expect(answer.status == 400 && document?.code == code, "\(body): \(answer.text)")
            #expect(document?.expected == expected && document?.disposition == .operator, "\(body): \(answer.text)")
        }
        let known = try await world.send(.get, "/v1/purchases/1", as: .backend)
        let purchase = try #require(try known.message(TransactionPage.self).purchases.first)
        #expect(purchase.customerID == nil, "it is held: nobody claimed it")
        let claimed = try await Self.restore(RestoreRequest(customerID: "alice", signedTransactions: [signed]), world)
        #expect(claimed.purchases.map(\.code) == ["accepted"])
    }

    @Test(
        "B.3 Pieces of a wrong restore that fail verification make one entry, and genuine ones are observed",
        arguments: [#""#, #""customer_id": 7,"#, #""customer_id": "a", "receipt_data": "eA==","#])
    func refusedPiecesOfFlawedRestores(_ members: String) async throws {
        let signed = try PurchaseServerWorld.signed("1").jws
        let junk = (0..<40).map { "\"\(Data("junk \($0)".utf8).base64EncodedString())\"" }
        let body = "{\(members) \"signed_transactions\": [\((junk + ["\"\(signed)\""]).joined(separator: ","))]}"
        let before = try await Self.entries(world)
        let answer = try await world.send(.post, "/v1/restores", data: Data(body.utf8), as: .client)
        #expect(answer.status == 400, "\(answer.text)")
        let after = try await Self.entries(world)
        #expect(after - before == 2)
        #expect(try await world.send(.get, "/v1/purchases/1", as: .backend).status == 200)
    }

    /// The number of entries of the journal.
    private static func entries(_ world: PurchaseServerWorld) async throws -> Int64 {
        try await world.database.read(.lists) { connection in
            let row = try connection.rows("SELECT count(*) FROM journal", []).first
            guard case .integer(let count) = row?.values.first else { throw CancellationError() }
            return count
        }
    }

    @Test("A refund in a restore is recorded, and a forged receipt restores nothing")
    func news() async throws {
        let bought = try PurchaseServerWorld.signed("1")
        #expect(try await world.send(.post, "/v1/purchases", bought.claim(), as: .client).status == 200)
        let refund = try PurchaseServerWorld.signed("1") {
            $0.signedDate = MintedWorld.moment.addingTimeInterval(50)
            $0.revocationDate = MintedWorld.moment.addingTimeInterval(40)
        }
        let answer = try await Self.restore(RestoreRequest(customerID: "bob", signedTransactions: [refund.jws]), world)
        #expect(answer.purchases.map(\.disposition) == [.refused])
        #expect(try await world.entitlements(of: "alice").map(\.balance) == [0])
        let forged = try await Self.restore(
            RestoreRequest(customerID: "bob", receiptData: try Self.receipt(fault: true)), world)
        #expect(forged.purchases.isEmpty && forged.entitlements.isEmpty)
        #expect(forged.refused.map(\.code) == ["issuer_unknown"] && forged.refused.map(\.disposition) == [.operator])
    }
}
