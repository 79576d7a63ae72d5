import Hummingbird
import PurchaseAPI
import PurchaseLedger
import PurchaseVerification

/// The consent of customers to tell Apple of their use of purchases, and the refund requests about which Apple asked.
struct RefundRoutes {
    let api: PurchaseAPIContext

    func add(to group: RouterGroup<ServerContext>) {
        group.put("customers/:id/consumption_consent") { request, context in try await record(request, context) }
        group.get("customers/:id/consumption_consent") { _, context in
            let app = try context.requireCaller(.backend).app.id
            let query = ConsentOfCustomer(app: app, customerID: try context.identifier("id"))
            return try Response.json(try await api.ledger.answer(query))
        }
        group.get("refund_requests") { request, context in
            let app = try context.requireCaller(.backend).app.id
            let state = try request.choice("state", ConsumptionRequestState.self)
            let page = try await api.page(of: RefundRequestList(app: app, state: state), request)
            return try Response.json(
                RefundRequestPage(refundRequests: page.entries.map(\.message), nextCursor: page.next?.text))
        }
    }

    private func record(_ request: Request, _ context: ServerContext) async throws -> Response {
        let app = try context.requireCaller(.backend).app.id
        let customerID = try context.identifier("id")
        return try await api.bodies.withBody(of: request) { body in
            let answer = try await api.request(ConsumptionConsentRequest.self, from: body)
            return try Response.json(
                try await api.ledger.perform(
                    RecordConsumptionConsent(app: app, customerID: customerID, isGiven: answer.consented)))
        }
    }
}
