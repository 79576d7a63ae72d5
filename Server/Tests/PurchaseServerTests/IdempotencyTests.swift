import EvidenceMint
import Foundation
import HTTPTypes
import PurchaseAPI
import PurchaseLedger
import PurchaseServer
import TestSupport
import Testing

/// Repeated requests.
@Suite("Idempotency keys")
struct IdempotencyTests {
    @Test("The same Idempotency-Key creates one order, shown in its current state; another body is refused")
    func orders() async throws {
        try await PurchaseServerWorld.run { world async throws in
            let order = OrderRequest(customerID: "alice", productID: "com.example.app.pro")
            let first = try await world.send(.post, "/v1/orders", order, as: .backend, idempotencyKey: "1")
            let created = try first.message(OrderMessage.self)
            #expect(first.status == 201 && created.replayed == false)
            _ = try await world.send(.post, "/v1/orders/\(created.orderID)/cancel", as: .backend)
            let second = try await world.send(.post, "/v1/orders", order, as: .backend, idempotencyKey: "1")
            let repeated = try second.message(OrderMessage.self)
            #expect(second.status == 201 && repeated.replayed == true)
            #expect(repeated.orderID == created.orderID && repeated.status == .cancelled)
            let changed = try await world.send(
                .post, "/v1/orders", OrderRequest(customerID: "bob", productID: "com.example.app.pro"), as: .backend,
                idempotencyKey: "1")
            #expect(changed.status == 422)
            #expect(try changed.problem == "idempotency_key_reused")
            let elsewhere = try await world.send(
                .post, "/v1/customers/alice/consume", PurchaseServerWorld.consumption(), as: .backend,
                idempotencyKey: "1")
            #expect(try elsewhere.problem == "idempotency_key_reused")
            let other = try await world.send(.post, "/v1/orders", order, as: .admin, idempotencyKey: "1")
            #expect(try other.message(OrderMessage.self).orderID != created.orderID, "keys of one sender are theirs")
        }
    }

    @Test("A refusal is not stored: the same request with the same key succeeds once the cause is removed")
    func refusals() async throws {
        try await PurchaseServerWorld.run { world async throws in
            let (path, consume) = ("/v1/customers/alice/consume", PurchaseServerWorld.consumption())
            let refused = try await world.send(.post, path, consume, as: .backend, idempotencyKey: "2")
            #expect(try refused.problem == "balance_insufficient")
            let claim = try PurchaseServerWorld.purchase()
            #expect(try await world.send(.post, "/v1/purchases", claim, as: .client).status == 200)
            for isRepeated in [false, true] {
                let consumed = try await world.send(.post, path, consume, as: .backend, idempotencyKey: "2")
                let message = try consumed.message(ConsumptionMessage.self)
                #expect(message.balance == 2 && message.replayed == isRepeated)
            }
            let nameless = try await world.send(.post, path, consume, as: .backend, idempotencyKey: nil)
            #expect(try nameless.problem == "idempotency_key_missing")
        }
    }

    @Test("The same Idempotency-Key of two senders is two consumptions, and a consumption id of that name is a third")
    func consumptions() async throws {
        try await PurchaseServerWorld.run { world async throws in
            _ = try await world.send(.post, "/v1/purchases", try PurchaseServerWorld.purchase())
            let path = "/v1/customers/alice/consume"
            let one = PurchaseServerWorld.consumption()
            for (scope, balance, isRepeated) in [
                (APIKeyScope.admin, 2, false), (.backend, 1, false), (.admin, 1, true), (.backend, 1, true),
            ] {
                let answer = try await world.send(.post, path, one, as: scope, idempotencyKey: "same")
                let message = try answer.message(ConsumptionMessage.self)
                #expect(message.balance == Int64(balance) && message.replayed == isRepeated, "\(answer.text)")
            }
            let named = try await world.send(
                .post, path, PurchaseServerWorld.consumption("idempotency key same"), as: .backend)
            #expect(try named.message(ConsumptionMessage.self).balance == 0)
        }
    }

    @Test("A claim is decided again each time: an Idempotency-Key has no effect, and every claim is recorded")
    func claims() async throws {
        try await PurchaseServerWorld.run { world async throws in
            func send(_ claim: PurchaseRequest) async throws -> PurchaseServerWorld.Answer {
                try await world.send(.post, "/v1/purchases", claim, as: .client, idempotencyKey: "1")
            }
            let claim = try PurchaseServerWorld.purchase()
            for isRepeated in [false, true] {
                #expect(try await send(claim).message(PurchaseAnswer.self).replayed == isRepeated)
            }
            #expect(try await send(try PurchaseServerWorld.purchase("9")).problem == "transaction_not_found")
            #expect(try await send(try PurchaseServerWorld.purchase(customerID: "bob")).problem == "already_claimed")
            let refund = try PurchaseServerWorld.signed("2000000000000001") {
                $0.environment = "Sandbox"
                $0.quantity = 3
                $0.signedDate = MintedWorld.moment.addingTimeInterval(50)
                $0.revocationDate = $0.signedDate
            }
            #expect(try await send(refund.claim()).problem == "purchase_revoked")
            #expect(try await send(claim).problem == "purchase_withdrawn", "not the first answer")
            let malformed = try await world.send(
                .post, "/v1/purchases", claim, as: .client, idempotencyKey: String(repeating: "x", count: 256))
            #expect(try malformed.problem == "field_malformed" && malformed.status == 400)
            let submissions = try await world.submissions().reversed()
            #expect(
                submissions.map(\.code) == [
                    "accepted", "accepted", "transaction_not_found", "already_claimed", "purchase_revoked",
                    "purchase_withdrawn", "field_malformed",
                ])
            // Refused or not: alice had claimed the transaction of all but the unknown one and the malformed request.
            #expect(submissions.map(\.replayed) == [false, true, false, false, true, true, false])
            #expect(Set(submissions.map(\.submissionID)).count == 7)
        }
    }
}
