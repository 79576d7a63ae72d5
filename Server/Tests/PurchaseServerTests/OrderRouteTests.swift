import EvidenceMint
import Foundation
import HTTPTypes
import PurchaseAPI
import PurchaseLedger
import PurchaseServer
import TestSupport
import Testing

/// Orders that are delivered in parts, and orders that end, over HTTP.
@Suite("Routes of orders", .server)
struct OrderRouteTests {
    let world: PurchaseServerWorld = CurrentWorld.opened()

    private static let coins = "com.example.app.coins"

    /// A paid order of three coins.
    private func paid(_ world: PurchaseServerWorld) async throws -> OrderMessage {
        let order = OrderRequest(customerID: "alice", productID: Self.coins, quantity: 3)
        let created = try await world.send(.post, "/v1/orders", order, as: .backend).message(OrderMessage.self)
        let claim = try PurchaseServerWorld.purchase(customerID: nil, orderID: created.orderID)
        let answer = try await world.send(.post, "/v1/purchases", claim, as: .client)
        #expect(answer.status == 200, "\(answer.text)")
        return created
    }

    @Test(
        "C.8 fulfil takes units once under its key, says what it took, and leaves the order paid until nothing remains")
    func units() async throws {
        let path = "/v1/orders/\(try await paid(world).orderID)/fulfil"
        let keyless = try await world.send(.post, path, FulfilmentRequest(units: 2), as: .backend, idempotencyKey: nil)
        #expect(try keyless.status == 400 && keyless.problem == "idempotency_key_missing")
        for isRepeated in [false, true] {
            let answer = try await world.send(
                .post, path, FulfilmentRequest(units: 2), as: .backend, idempotencyKey: "a")
            let order = try answer.message(OrderMessage.self)
            #expect(order.status == .paid && order.takenUnits == 2 && order.fulfilledUnits == 2, "\(answer.text)")
            #expect(order.replayed == isRepeated)
        }
        let whole = try await world.send(.post, path, as: .backend)
        #expect(try whole.status == 409 && whole.problem == "order_consumed")
        let other = try await world.send(.post, path, FulfilmentRequest(units: 1), as: .backend, idempotencyKey: "a")
        #expect(try other.status == 422 && other.problem == "idempotency_key_reused")
        let last = try await world.send(.post, path, FulfilmentRequest(units: 2), as: .backend, idempotencyKey: "b")
        let order = try last.message(OrderMessage.self)
        #expect(order.status == .fulfilled && order.takenUnits == 1 && order.fulfilledUnits == 3)
        let wrong = try await world.send(
            .post, path, data: Data(#"{"units": 0}"#.utf8), as: .backend, idempotencyKey: "c")
        #expect(try wrong.status == 400 && wrong.problem == "field_malformed")
    }

    @Test("C.8 close ends a paid order with a reason, once")
    func close() async throws {
        let id = try await paid(world).orderID
        let nameless = try await world.send(.post, "/v1/orders/\(id)/close", as: .backend)
        #expect(try nameless.status == 400 && nameless.problem == "field_missing")
        let reason = OrderClosingRequest(reason: "used in the app")
        for isRepeated in [false, true] {
            let answer = try await world.send(.post, "/v1/orders/\(id)/close", reason, as: .backend)
            let order = try answer.message(OrderMessage.self)
            #expect(order.status == .closed && order.closedAt != nil && order.replayed == isRepeated)
        }
        let listed = try await world.send(.get, "/v1/orders?status=closed", as: .backend)
        #expect(try listed.message(OrderPage.self).orders.map(\.orderID) == [id])
        let fulfilled = try await world.send(.post, "/v1/orders/\(id)/fulfil", as: .backend)
        #expect(try fulfilled.status == 409 && fulfilled.problem == "order_not_paid")
        let open = try await world.send(
            .post, "/v1/orders", OrderRequest(customerID: "bob", productID: Self.coins), as: .backend)
        let refused = try await world.send(
            .post, "/v1/orders/\(try open.message(OrderMessage.self).orderID)/close", reason, as: .backend)
        #expect(try refused.status == 409 && refused.problem == "order_not_closable")
        let client = try await world.send(.post, "/v1/orders/\(id)/close", reason, as: .client)
        #expect(client.status == 403)
    }

    @Test("C.9 An order says whether a renewal pays it, and several units of a non-consumable are refused")
    func creation() async throws {
        let accepting = try await world.send(
            .post, "/v1/orders", OrderRequest(customerID: "alice", productID: Self.coins, acceptsRenewal: true),
            as: .backend)
        #expect(try accepting.message(OrderMessage.self).acceptsRenewal == true)
        let plain = try await world.send(
            .post, "/v1/orders", OrderRequest(customerID: "alice", productID: Self.coins), as: .backend)
        #expect(try plain.message(OrderMessage.self).acceptsRenewal == nil)
        let wrong = try await world.send(
            .post, "/v1/orders",
            data: Data(#"{"customer_id":"alice","product_id":"\#(Self.coins)","accepts_renewal":1}"#.utf8),
            as: .backend)
        #expect(try wrong.status == 400 && wrong.problem == "field_malformed")
        let several = try await world.send(
            .post, "/v1/orders", OrderRequest(customerID: "alice", productID: "com.example.app.pro", quantity: 2),
            as: .backend)
        #expect(try several.status == 422 && several.problem == "quantity_not_sold", "\(several.text)")
    }
}

/// Repeated requests.
@Suite("Idempotency keys", .server)
struct IdempotencyTests {
    let world: PurchaseServerWorld = CurrentWorld.opened()

    @Test("The same Idempotency-Key creates one order, shown in its current state; another body is refused")
    func orders() async throws {
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
        #expect(try changed.line == "422 idempotency_key_reused")
        let elsewhere = try await world.send(
            .post, "/v1/customers/alice/consume", PurchaseServerWorld.consumption(), as: .backend,
            idempotencyKey: "1")
        #expect(try elsewhere.problem == "idempotency_key_reused")
        let other = try await world.send(.post, "/v1/orders", order, as: .admin, idempotencyKey: "1")
        #expect(try other.message(OrderMessage.self).orderID != created.orderID, "keys of one sender are theirs")
    }

    @Test("A refusal is not stored: the same request with the same key succeeds once the cause is removed")
    func refusals() async throws {
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

    @Test("The same Idempotency-Key of two senders is two consumptions, and a consumption id of that name is a third")
    func consumptions() async throws {
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

    @Test("A claim is decided again each time: an Idempotency-Key has no effect, and every claim is recorded")
    func claims() async throws {
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
            $0.refund(at: MintedWorld.moment.addingTimeInterval(50))
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

/// `replayed` in the answers to refused claims.
@Suite("Repeated refusals", .server)
struct ReplayedRefusalTests {
    let world: PurchaseServerWorld = CurrentWorld.opened()

    private static let (coins, pro) = ("com.example.app.coins", "com.example.app.pro")

    /// The reasons for which a claim is refused.
    enum Reason: CaseIterable {
        case revoked
        case product
        case quantity
        case cancelledOrder
        case quantityOfOrder
        case claimed

        var code: String {
            switch self {
            case .revoked: "purchase_revoked"
            case .product: "product_mismatch"
            case .quantity, .quantityOfOrder: "quantity_mismatch"
            case .cancelledOrder: "order_cancelled"
            case .claimed: "already_claimed"
            }
        }
    }

    private static func claim(_ reason: Reason, _ world: PurchaseServerWorld) async throws -> PurchaseRequest {
        func order(_ quantity: Int64) async throws -> OrderMessage {
            try await world.send(
                .post, "/v1/orders",
                OrderRequest(customerID: "alice", productID: coins, quantity: quantity, environment: .production),
                as: .backend
            ).message(OrderMessage.self)
        }
        var claim = try PurchaseServerWorld.signed("1").claim()
        switch reason {
        case .revoked:
            claim = try PurchaseServerWorld.signed("1") { $0.revocationDate = MintedWorld.moment }.claim()
        case .product: claim.productID = pro
        case .quantity: claim.quantity = 5
        case .cancelledOrder:
            let cancelled = try await order(1)
            #expect(try await world.send(.post, "/v1/orders/\(cancelled.orderID)/cancel").status == 200)
            claim.orderID = cancelled.orderID
        case .quantityOfOrder: claim.orderID = try await order(2).orderID
        case .claimed:
            let first = try PurchaseServerWorld.signed("1").claim(customerID: "bob")
            #expect(try await world.send(.post, "/v1/purchases", first, as: .client).status == 200)
        }
        return claim
    }

    @Test(
        "C.14 The answer to a refused claim that is sent again says replayed, like its submission and a restore",
        arguments: Reason.allCases)
    func replayed(_ reason: Reason) async throws {
        let claim = try await Self.claim(reason, world)
        for isRepeated in [false, true, true] {
            let answer = try await world.send(.post, "/v1/purchases", claim, as: .client)
            let document = try #require(try answer.document)
            #expect(document.code == reason.code && document.replayed == isRepeated)
            let recorded = try await world.submissions().first { $0.submissionID == document.submissionID }
            #expect(recorded?.replayed == isRepeated)
        }
        let restored = try await world.send(
            .post, "/v1/restores",
            RestoreRequest(customerID: "alice", signedTransactions: [try #require(claim.signedTransaction)]),
            as: .client
        ).message(RestoreAnswer.self)
        #expect(restored.purchases.map(\.replayed) == [true])
    }

    @Test("C.14 The answer to a restore whose purchases were refused before, then to a claim, says replayed")
    func restored() async throws {
        let revoked = try PurchaseServerWorld.signed("1") { $0.revocationDate = MintedWorld.moment }
        for isRepeated in [false, true] {
            let answer = try await world.send(
                .post, "/v1/restores",
                RestoreRequest(customerID: "alice", signedTransactions: [revoked.jws]), as: .client
            ).message(RestoreAnswer.self)
            #expect(answer.purchases.map(\.replayed) == [isRepeated])
        }
        let claimed = try await world.send(.post, "/v1/purchases", revoked.claim(), as: .client)
        #expect(try claimed.document?.code == "purchase_revoked" && claimed.document?.replayed == true)
    }
}
