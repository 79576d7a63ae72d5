import Foundation
import Hummingbird
import PurchaseAPI
import PurchaseLedger
import PurchaseVerification

/// What other shops give to a customer, so that one answer serves all shops.
struct GroundRoutes {
    let api: PurchaseAPIContext

    func add(to group: RouterGroup<ServerContext>) {
        group.post("customers/:id/grounds") { request, context in try await add(request, context) }
        group.get("customers/:id/grounds") { request, context in
            let app = try context.requireCaller(.backend).app.id
            let query = GroundsOfCustomer(app: app, customerID: try context.identifier("id"))
            return try Response.json(try await api.ledger.answer(query))
        }
        group.delete("customers/:id/grounds/:ground") { request, context in
            let app = try context.requireCaller(.backend).app.id
            let (customerID, text) = (try context.identifier("id"), try context.identifier("ground"))
            guard let id = UUID(uuidString: text) else { throw Problem(.groundUnknown, expected: text) }
            try await api.ledger.perform(EndGround(app: app, customerID: customerID, id: id))
            return Response(status: .noContent)
        }
    }

    private func add(_ request: Request, _ context: ServerContext) async throws -> Response {
        let app = try context.requireCaller(.backend).app
        let customerID = try context.identifier("id")
        return try await api.bodies.withBody(of: request) { body in
            let ground = try await api.request(GroundRequest.self, from: body)
            let added = try await api.ledger.perform(
                AddGround(
                    app: app.id, customerID: customerID, source: ground.source, reference: ground.reference,
                    productID: ground.productID, environment: try ground.environment?.accepted(by: app) ?? .production,
                    until: try ground.until.map { try Timestamp(end: $0) }))
            return try Response.json(added, status: added.replayed == true ? .ok : .created)
        }
    }
}

extension Timestamp {
    /// The end of a grant or a ground in a request.
    init(end text: String) throws {
        guard text.utf8.count <= 64, let end = Timestamp(text) else {
            throw Problem.parameter("until", "a time such as 2030-01-31T10:00:00Z")
        }
        self = end
    }
}
