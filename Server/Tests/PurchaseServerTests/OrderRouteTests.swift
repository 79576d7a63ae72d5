import Foundation
import HTTPTypes
import PurchaseAPI
import PurchaseLedger
import PurchaseServer
import TestSupport
import Testing

/// Orders that are delivered in parts, and orders that end, over HTTP.
@Suite("Routes of orders")
struct OrderRouteTests {
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
        try await PurchaseServerWorld.run { world async throws in
            let path = "/v1/orders/\(try await paid(world).orderID)/fulfil"
            let keyless = try await world.send(
                .post, path, FulfilmentRequest(units: 2), as: .backend, idempotencyKey: nil)
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
            let other = try await world.send(
                .post, path, FulfilmentRequest(units: 1), as: .backend, idempotencyKey: "a")
            #expect(try other.status == 422 && other.problem == "idempotency_key_reused")
            let last = try await world.send(.post, path, FulfilmentRequest(units: 2), as: .backend, idempotencyKey: "b")
            let order = try last.message(OrderMessage.self)
            #expect(order.status == .fulfilled && order.takenUnits == 1 && order.fulfilledUnits == 3)
            let wrong = try await world.send(
                .post, path, data: Data(#"{"units": 0}"#.utf8), as: .backend, idempotencyKey: "c")
            #expect(try wrong.status == 400 && wrong.problem == "field_malformed")
        }
    }

    @Test("C.8 close ends a paid order with a reason, once")
    func close() async throws {
        try await PurchaseServerWorld.run { world async throws in
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
    }

    @Test("C.9 An order says whether a renewal pays it, and several units of a non-consumable are refused")
    func creation() async throws {
        try await PurchaseServerWorld.run { world async throws in
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
}
