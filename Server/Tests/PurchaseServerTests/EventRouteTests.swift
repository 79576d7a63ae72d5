import EvidenceMint
import Foundation
import HTTPTypes
import PurchaseAPI
import PurchaseLedger
import PurchaseServer
import TestSupport
import Testing

/// `GET /v1/events` and `GET /v1/products`, over HTTP.
@Suite("Events", .server)
struct EventRouteTests {
    let world: PurchaseServerWorld = CurrentWorld.opened()

    private static let coins = "com.example.app.coins"

    @Test("Every change is listed once and in order, for any page size")
    func pages() async throws {
        let empty = try await world.send(.get, "/v1/events", as: .backend)
        #expect(empty.text == #"{"events":[],"next_cursor":"MA"}"#)
        for number in 1...3 {
            let created = try await world.send(
                .post, "/v1/orders", OrderRequest(customerID: "søren", productID: Self.coins), as: .backend)
            let order = try created.message(OrderMessage.self)
            let claim = try PurchaseServerWorld.signed("\(number)").claim(orderID: order.orderID)
            #expect(try await world.send(.post, "/v1/purchases", claim, as: .client).status == 200)
            // A repeat is not a change.
            #expect(try await world.send(.post, "/v1/purchases", claim, as: .client).status == 200)
        }
        let whole = try await world.send(.get, "/v1/events", as: .backend).message(EventPage.self)
        let types = whole.events.map(\.type)
        #expect(types.filter { $0 == .orderCreated }.count == 3 && types.filter { $0 == .granted }.count == 3)
        #expect(types.filter { $0 == .orderPaid }.count == 3)
        #expect(whole.events.allSatisfy { $0.customerID == "søren" && $0.app == "example" })
        #expect(whole.events.last { $0.type == .granted }?.balance == 3)
        for limit in [1, 2, 5, 500] {
            var (events, cursor): ([EventMessage], String) = ([], "MA")
            while true {
                let page = try await world.send(
                    .get, "/v1/events?limit=\(limit)&cursor=\(cursor)", as: .backend
                ).message(EventPage.self)
                cursor = page.nextCursor
                guard !page.events.isEmpty else { break }
                #expect(page.events.count <= limit)
                events += page.events
            }
            #expect(events == whole.events && cursor == whole.nextCursor)
        }
    }

    @Test("A cursor beyond the end, as after a restored backup, and an invalid cursor are refused")
    func cursors() async throws {
        for cursor in ["MQ", "OTIyMzM3MjAzNjg1NDc3NTgwNw"] {
            let answer = try await world.send(.get, "/v1/events?cursor=\(cursor)", as: .backend)
            #expect(try answer.problem == "cursor_ahead" && answer.status == 409)
        }
        _ = try await world.send(
            .post, "/v1/orders", OrderRequest(customerID: "alice", productID: Self.coins), as: .backend)
        for (cursor, status) in [("MA", 200), ("MQ", 200), ("Mg", 409)] {
            #expect(try await world.send(.get, "/v1/events?cursor=\(cursor)", as: .backend).status == status)
        }
        for cursor in ["", "0", "LTE", "x", "MS41", "OTIyMzM3MjAzNjg1NDc3NTgwOA", "%C2%B2"] {
            let answer = try await world.send(.get, "/v1/events?cursor=\(cursor)", as: .backend)
            #expect(answer.status == 400, "\(cursor): \(answer.text)")
            #expect(try answer.document?.expected == "cursor: the next_cursor of an answer")
        }
        for limit in ["0", "501", "x"] {
            let answer = try await world.send(.get, "/v1/events?limit=\(limit)", as: .backend)
            #expect(try answer.problem == "field_malformed" && answer.status == 400)
        }
    }

    @Test("Each listed product states whether the settings include it")
    func products() async throws {
        for product in [Self.coins, "com.example.app.gems"] {
            let claim = try PurchaseServerWorld.signed(product, product: product).claim()
            _ = try await world.send(.post, "/v1/purchases", claim, as: .client)
        }
        let list = try await world.send(.get, "/v1/products", as: .backend).message(ProductList.self)
        #expect(list.products.map(\.productID) == [Self.coins, "com.example.app.gems"])
        #expect(list.products.map(\.registered) == [true, false])
    }

    @Test("Entitlements are answered for a past time, and an unknown customer has none")
    func past() async throws {
        let bought = MintedWorld.moment
        let claim = try PurchaseServerWorld.signed("1", product: "com.example.app.monthly") {
            $0.type = .autoRenewableSubscription
            $0.expiresDate = bought.addingTimeInterval(30 * 86_400)
        }.claim()
        #expect(try await world.send(.post, "/v1/purchases", claim, as: .client).status == 200)
        world.clock.advance(days: 40)
        let cases: [(String, EntitlementMessage.State, EntitlementMessage.Reason?)] = [
            ("", .expired, .newsMissing), ("?at=2023-11-20T00:00:00Z", .active, nil),
            ("?at=2023-11-20T05:30:00%2B05:30", .active, nil), ("?at=2023-11-01T00:00:00Z", .pending, .notStarted),
        ]
        for (query, state, reason) in cases {
            let answer = try await world.send(.get, "/v1/customers/alice/entitlements\(query)", as: .backend)
            let list = try answer.message(EntitlementList.self)
            #expect(list.entitlements.map(\.state) == [state], "\(query): \(answer.text)")
            #expect(list.entitlements.first?.reason == reason && (list.at == nil) == query.isEmpty)
            #expect(list.named.map(\.state) == [state == .active ? .active : .inactive])
        }
        let nobody = try await world.send(
            .get, "/v1/customers/nobody/entitlements?at=2023-11-20T00:00:00Z", as: .backend)
        let list = try nobody.message(EntitlementList.self)
        #expect(list.entitlements.isEmpty && list.named.isEmpty)
        let wrong = try await world.send(.get, "/v1/customers/alice/entitlements?at=yesterday", as: .backend)
        #expect(try wrong.problem == "field_malformed" && wrong.status == 400)
    }
}
