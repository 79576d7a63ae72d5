import Foundation
import HTTPTypes
import Hummingbird
import LegacyLedger
import PurchaseAPI
import PurchaseVerification

/// `/v1/orders`: for the operator's servers.
struct OrderRoutes {
    let api: PurchaseAPIContext

    func add(to group: RouterGroup<ServerContext>) {
        group.post("orders") { request, context in try await create(request, context) }
        group.get("orders") { request, context in try await list(request, context) }
        group.get("orders/:id") { _, context in
            let app = try context.requireCaller(.backend).app.id
            let id = try context.identifier("id")
            let (order, now) = try await api.ledger.read { (try $0.order(id, app: app), $0.now) }
            guard let order else { throw Problem(LedgerRefusal.orderUnknown(id)) }
            return try Response.json(OrderMessage(order, now: now))
        }
        group.post("orders/:id/fulfil") { request, context in
            try await change(request, context) { try $0.fulfil($1, app: $2) }
        }
        group.post("orders/:id/cancel") { request, context in
            try await change(request, context) { try $0.cancel($1, app: $2) }
        }
    }

    private func create(_ request: Request, _ context: ServerContext) async throws -> Response {
        let app = try context.requireCaller(.backend).app
        return try await api.bodies.withBody(of: request) { body in
            let order = try await api.request(OrderRequest.self, from: body)
            let draft = OrderDraft(
                customerID: order.customerID, productID: order.productID, quantity: order.quantity ?? 1,
                metadata: try order.metadata.map(OrderMessage.metadataText))
            return try await api.answer(request, context, body) { transaction in
                let order = try transaction.createOrder(draft, app: app)
                return try KeptAnswer(.created, OrderMessage(order, now: transaction.now))
            }
        }
    }

    private func list(_ request: Request, _ context: ServerContext) async throws -> Response {
        let app = try context.requireCaller(.backend).app.id
        let status = try request.choice("status", OrderStatus.self)
        let customerID = try request.identifier("customer_id")
        let (limit, page) = (try request.limit(), try request.cursor().map(OrderPage.init(cursor:)))
        let (result, now) = try await api.ledger.read {
            (try $0.orders(status, customerID: customerID, app: app, page: page, limit: limit), $0.now)
        }
        return try Response.json(
            OrderList(orders: result.orders.map { OrderMessage($0, now: now) }, nextCursor: result.next?.cursor))
    }

    private func change(
        _ request: Request, _ context: ServerContext,
        _ change: @escaping @Sendable (LedgerTransaction, String, String) throws -> Order
    ) async throws -> Response {
        let app = try context.requireCaller(.backend).app.id
        let id = try context.identifier("id")
        return try await api.bodies.withBody(of: request) { body in
            try await api.answer(request, context, body) { transaction in
                try KeptAnswer(.ok, OrderMessage(try change(transaction, id, app), now: transaction.now))
            }
        }
    }
}

extension OrderPage {
    fileprivate init(cursor: [String]) throws {
        guard cursor.count == 2, let time = Int64(cursor[0]) else { throw Problem.cursor }
        self.init(createdAt: Timestamp(millisecondsSince1970: time), orderID: cursor[1])
    }

    fileprivate var cursor: String { Cursor.text(["\(createdAt.millisecondsSince1970)", orderID]) }
}
