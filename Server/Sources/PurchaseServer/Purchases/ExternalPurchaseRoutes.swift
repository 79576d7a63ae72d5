import Hummingbird
import PurchaseAPI
import PurchaseLedger
import PurchaseVerification

/// External purchase tokens: what a backend states about them, and what Apple was told.
struct ExternalPurchaseRoutes {
    let api: PurchaseAPIContext

    func add(to group: RouterGroup<ServerContext>) {
        group.post("external-purchases") { request, context in try await state(request, context) }
        group.get("external-purchases") { request, context in
            let app = try context.requireCaller(.backend).app.id
            let state = try request.choice("state", ExternalPurchaseState.self)
            let page = try await api.page(of: ExternalPurchaseList(app: app, state: state), request)
            return try Response.json(ExternalPurchasePage(externalPurchases: page.entries, nextCursor: page.next?.text))
        }
        group.get("external-purchases/:id") { _, context in
            let app = try context.requireCaller(.backend).app.id
            return try Response.json(
                try await api.ledger.answer(ExternalPurchaseOfID(app: app, id: try context.identifier("id"))))
        }
        group.post("external-purchases/:id/line-items") { request, context in
            let app = try context.requireCaller(.backend).app.id
            let id = try context.identifier("id")
            return try await api.bodies.withBody(of: request) { body in
                let stated = try await api.request(ExternalLineItemsRequest.self, from: body)
                return try await answer(StateExternalPurchase(app: app, id: id, lineItems: stated.lineItems))
            }
        }
    }

    private func state(_ request: Request, _ context: ServerContext) async throws -> Response {
        let app = try context.requireCaller(.backend).app
        return try await api.bodies.withBody(of: request) { body in
            let stated = try await api.request(ExternalPurchaseRequest.self, from: body)
            let token = stated.token
            guard app.bundleIDs.contains(where: { $0.isSame(as: token.bundleId) }) else {
                throw Problem.parameter("token", "a token of \(app.bundleIDs.joined(separator: " or "))")
            }
            let purchase = ExternalPurchase(
                id: token.externalPurchaseId, bundleID: token.bundleId, tokenType: token.tokenType,
                createdAt: token.tokenCreationDate, expiresAt: token.tokenExpirationDate)
            return try await answer(
                StateExternalPurchase(app: app.id, token: purchase, isDuplicate: stated.isDuplicate))
        }
    }

    private func answer(_ operation: StateExternalPurchase) async throws -> Response {
        let outcome = try await api.ledger.perform(operation)
        return try Response.json(outcome.message, status: outcome.isReplayed ? .ok : .created)
    }
}
