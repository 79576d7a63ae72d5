import Hummingbird
import PurchaseAPI
import PurchaseLedger
import PurchaseVerification

/// The seats of subscriptions whose members the backend invites, and the subscriptions of a customer.
struct SeatRoutes {
    let api: PurchaseAPIContext
    let refresh: SubscriptionRefresh

    func add(to group: RouterGroup<ServerContext>) {
        group.post("subscriptions/:id/seats") { request, context in try await claim(request, context) }
        group.delete("subscriptions/:id/seats/:seat") { request, context in
            let app = try context.requireCaller(.backend).app
            try await api.ledger.perform(
                UnclaimSeat(
                    app: app.id, originalTransactionID: try context.identifier("id"),
                    environment: try request.environment(of: app), seatID: try context.identifier("seat")))
            return Response(status: .noContent)
        }
        group.get("subscriptions/:id/seats") { request, context in
            let app = try context.requireCaller(.backend).app
            let query = SeatsOfSubscription(
                app: app.id, originalTransactionID: try context.identifier("id"),
                environment: try request.environment(of: app))
            let page = try await api.page(of: query, request)
            return try Response.json(
                SeatPage(
                    originalTransactionID: query.originalTransactionID, environment: EnvironmentName(page.environment),
                    total: page.seats, claimed: page.claims, seats: page.claimed,
                    nextCursor: page.next?.text))
        }
        group.get("customers/:id/subscriptions") { request, context in
            let app = try context.requireCaller(.backend).app
            let query = SubscriptionsOfCustomer(app: app.id, customerID: try context.identifier("id"))
            let isAsked = try request.choice("refresh", Flag.self) == .yes
            let outcome = isAsked ? try await refresh.run(app: app.id, customerID: query.customerID) : nil
            var list = try await api.ledger.answer(query)
            list.refresh = outcome?.rawValue
            return try Response.json(list)
        }
    }

    /// The value of a parameter.
    private enum Flag: String, CaseIterable {
        case yes = "true"
        case no = "false"
    }

    /// A claim is idempotent by its `request_id`, so an `Idempotency-Key` is accepted and changes nothing.
    private func claim(_ request: Request, _ context: ServerContext) async throws -> Response {
        let app = try context.requireCaller(.backend).app
        let original = try context.identifier("id")
        _ = try request.idempotencyKey()
        return try await api.bodies.withBody(of: request) { body in
            let seat = try await api.request(SeatRequest.self, from: body)
            let claimed = try await api.ledger.perform(
                ClaimSeat(
                    app: app.id, originalTransactionID: original, environment: try seat.environment?.known(to: app),
                    customerID: seat.customerID, requestID: seat.requestID, appTransactionID: seat.appTransactionID,
                    seatID: seat.seatID))
            return try Response.json(claimed, status: claimed.replayed == true ? .ok : .created)
        }
    }
}
