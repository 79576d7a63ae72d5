import Foundation
import HTTPTypes
import LegacyLedger
import PurchaseAPI
import PurchaseServer
import TestSupport
import Testing

/// Requests that come again.
@Suite("Idempotency keys")
struct IdempotencyTests {
    @Test("The same Idempotency-Key has the same answer, byte for byte; with another body it is refused")
    func idempotency() async throws {
        try await PurchaseServerWorld.run { world async throws in
            let order = OrderRequest(customerID: "alice", productID: "com.example.app.pro")
            let first = try await world.send(.post, "/v1/orders", order, as: .backend, idempotencyKey: "1")
            let second = try await world.send(.post, "/v1/orders", order, as: .backend, idempotencyKey: "1")
            #expect(first.status == 201 && second.status == 201 && first.text == second.text)
            let changed = try await world.send(
                .post, "/v1/orders", OrderRequest(customerID: "bob", productID: "com.example.app.pro"), as: .backend,
                idempotencyKey: "1")
            #expect(changed.status == 422)
            #expect(try changed.problem == "idempotency_key_reused")
            let elsewhere = try await world.send(
                .post, "/v1/customers/alice/consume", order, as: .backend, idempotencyKey: "1")
            #expect(try elsewhere.problem == "idempotency_key_reused")
            let consume = PurchaseServerWorld.consumption()
            let refused = try await world.send(
                .post, "/v1/customers/alice/consume", consume, as: .backend, idempotencyKey: "2")
            #expect(try refused.problem == "balance_insufficient")
            let claim = try PurchaseServerWorld.purchase()
            let bought = try await world.send(.post, "/v1/purchases", claim, as: .client, idempotencyKey: "1")
            let again = try await world.send(.post, "/v1/purchases", claim, as: .client, idempotencyKey: "1")
            #expect(bought.text == again.text && bought.status == 200)
            let same = try await world.send(
                .post, "/v1/customers/alice/consume", consume, as: .backend, idempotencyKey: "2")
            #expect(same.text == refused.text, "the first answer again, though there is a balance now")
            let nameless = try await world.send(.post, "/v1/customers/alice/consume", consume, as: .backend)
            #expect(try nameless.problem == "field_missing")
        }
    }

    @Test("The same Idempotency-Key of two senders is two consumptions, and so is a consumption of that name")
    func consumptions() async throws {
        try await PurchaseServerWorld.run { world async throws in
            _ = try await world.send(.post, "/v1/purchases", try PurchaseServerWorld.purchase())
            let path = "/v1/customers/alice/consume"
            let one = PurchaseServerWorld.consumption()
            for (scope, balance) in [(APIKeyScope.admin, 2), (.backend, 1), (.admin, 2), (.backend, 1)] {
                let answer = try await world.send(.post, path, one, as: scope, idempotencyKey: "same")
                #expect(try answer.message(ConsumptionMessage.self).balance == Int64(balance), "\(answer.text)")
            }
            let named = try await world.send(
                .post, path, PurchaseServerWorld.consumption("idempotency key same"), as: .backend)
            #expect(try named.message(ConsumptionMessage.self).balance == 0)
        }
    }

    @Test("Every submission is in the record, also one that repeats a request or misuses its Idempotency-Key")
    func repeatedSubmissions() async throws {
        try await PurchaseServerWorld.run { world async throws in
            let claim = try PurchaseServerWorld.purchase()
            let bought = try await world.send(.post, "/v1/purchases", claim, as: .client, idempotencyKey: "1")
            let again = try await world.send(.post, "/v1/purchases", claim, as: .client, idempotencyKey: "1")
            #expect(bought.status == 200 && bought.text == again.text)
            let misused = try await world.send(
                .post, "/v1/purchases", try PurchaseServerWorld.purchase("9"), as: .client, idempotencyKey: "1")
            #expect(try misused.problem == "idempotency_key_reused")
            #expect(try misused.document?.verdict == .rejected)
            let misusedID = try #require(try misused.document?.submissionID)
            #expect(try await world.send(.get, "/v1/submissions/\(misusedID)", as: .backend).status == 200)
            let unknown = try await world.send(
                .post, "/v1/purchases", try PurchaseServerWorld.purchase("9"), as: .client, idempotencyKey: "2")
            let unknownAgain = try await world.send(
                .post, "/v1/purchases", try PurchaseServerWorld.purchase("9"), as: .client, idempotencyKey: "2")
            #expect(try unknown.problem == "transaction_not_found")
            #expect(unknown.text == unknownAgain.text)
            // Another installation has the same key to the API, and may choose the same words.
            let other = try await world.send(
                .post, "/v1/purchases", try PurchaseServerWorld.purchase(customerID: "bob"), as: .client,
                idempotencyKey: "1")
            #expect(try other.problem == "already_claimed")
            let submissions = try await world.submissions().reversed()
            #expect(
                submissions.map(\.code) == [
                    "accepted", "accepted", "idempotency_key_reused", "transaction_not_found", "transaction_not_found",
                    "already_claimed",
                ])
            #expect(submissions.map(\.replayed) == [false, true, false, false, true, false])
            #expect(Set(submissions.map(\.submissionID)).count == 6)
            let malformed = try await world.send(
                .post, "/v1/purchases", claim, as: .client, idempotencyKey: String(repeating: "x", count: 256))
            #expect(try malformed.problem == "field_malformed" && malformed.status == 400)
            let id = try #require(try malformed.document?.submissionID)
            #expect(try await world.send(.get, "/v1/submissions/\(id)", as: .backend).status == 200)
            #expect(try await Audit(world.database).verify().findings.isEmpty)
        }
    }
}
