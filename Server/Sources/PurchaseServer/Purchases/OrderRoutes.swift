import Foundation
import HTTPTypes
import Hummingbird
import PurchaseAPI
import PurchaseLedger
import PurchaseVerification

/// `/v1/orders`: for the operator's servers.
struct OrderRoutes {
    let api: PurchaseAPIContext

    func add(to group: RouterGroup<ServerContext>) {
        group.post("orders") { request, context in try await create(request, context) }
        group.get("orders") { request, context in try await list(request, context) }
        group.get("orders/:id") { _, context in
            let app = try context.requireCaller(.backend).app.id
            let order = try await api.ledger.answer(OrderByID(app: app, orderID: try context.orderID()))
            return try Response.json(OrderMessage(order))
        }
        group.post("orders/:id/fulfil") { request, context in try await fulfil(request, context) }
        group.post("orders/:id/close") { request, context in try await close(request, context) }
        group.post("orders/:id/cancel") { request, context in try await cancel(request, context) }
    }

    private func create(_ request: Request, _ context: ServerContext) async throws -> Response {
        let app = try context.requireCaller(.backend).app
        _ = try request.requiredIdempotencyKey()
        return try await api.bodies.withBody(of: request) { body in
            let order = try await api.request(OrderRequest.self, from: body)
            let draft = OrderDraft(
                customerID: order.customerID, productID: order.productID, quantity: order.quantity ?? 1,
                environment: try order.environment?.accepted(by: app),
                acceptsRenewal: order.acceptsRenewal ?? false,
                metadata: try order.metadata.map(OrderMessage.metadataText))
            let once = try await api.once(request, context, body)
            let outcome = try await api.ledger.perform(CreateOrder(app: app.id, draft, once: once))
            return try Response.json(
                OrderMessage(outcome.order, isReplayed: outcome.isReplayed), status: .created)
        }
    }

    private func list(_ request: Request, _ context: ServerContext) async throws -> Response {
        let app = try context.requireCaller(.backend).app.id
        let query = OrderList(
            app: app, status: try request.choice("status", OrderStatus.self),
            customerID: try request.identifier("customer_id"))
        let page = try await api.page(of: query, request)
        return try Response.json(
            OrderPage(orders: page.entries.map { OrderMessage($0) }, nextCursor: page.next?.text))
    }

    /// A repeat has `replayed`, so that only one of several callers delivers.
    private func fulfil(_ request: Request, _ context: ServerContext) async throws -> Response {
        let caller = try context.requireCaller(.backend)
        let orderID = try context.orderID()
        return try await api.bodies.withBody(of: request) { body in
            let units = try await api.request(FulfilmentRequest.self, from: body).units
            // A repeated request for units could not be distinguished from one for further units.
            if units != nil { _ = try request.requiredIdempotencyKey() }
            let once = try await api.once(request, context, body)
            let outcome = try await api.ledger.perform(
                FulfilOrder(
                    app: caller.app.id, orderID: orderID, units: units, keyID: caller.key.id,
                    once: units == nil ? nil : once))
            return try Response.json(
                OrderMessage(outcome.order, takenUnits: outcome.units, isReplayed: outcome.isReplayed))
        }
    }

    private func close(_ request: Request, _ context: ServerContext) async throws -> Response {
        let caller = try context.requireCaller(.backend)
        _ = try request.idempotencyKey()
        let orderID = try context.orderID()
        return try await api.bodies.withBody(of: request) { body in
            let reason = try await api.request(OrderClosingRequest.self, from: body).reason
            let outcome = try await api.ledger.perform(
                CloseOrder(app: caller.app.id, orderID: orderID, reason: reason, keyID: caller.key.id))
            return try Response.json(OrderMessage(outcome.order, isReplayed: outcome.isReplayed))
        }
    }

    private func cancel(_ request: Request, _ context: ServerContext) async throws -> Response {
        let caller = try context.requireCaller(.backend)
        _ = try request.idempotencyKey()
        try await api.bodies.withBody(of: request) { body in _ = try await api.request(NoFields.self, from: body) }
        let operation = CancelOrder(app: caller.app.id, orderID: try context.orderID(), keyID: caller.key.id)
        return try Response.json(OrderMessage(try await api.ledger.perform(operation)))
    }
}

extension ServerContext {
    /// The order that the path names.
    ///
    /// - Throws: 404 for anything but a UUID, since no order has such an id.
    func orderID() throws -> UUID {
        let id = try identifier("id")
        guard let orderID = UUID(uuidString: id) else { throw Problem(.orderUnknown, expected: id) }
        return orderID
    }
}
