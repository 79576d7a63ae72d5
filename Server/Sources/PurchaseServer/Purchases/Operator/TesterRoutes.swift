import Hummingbird
import PurchaseAPI
import PurchaseLedger

/// The customers for whom sandbox purchases count.
struct TesterRoutes {
    let api: PurchaseAPIContext

    func add(to group: RouterGroup<ServerContext>) {
        group.get("testers") { request, context in
            let app = try context.requireCaller(.admin).app.id
            let page = try await api.page(of: TesterList(app: app), request)
            return try Response.json(TesterNames(testers: page.entries, nextCursor: page.next?.text))
        }
        group.put("testers/:id") { request, context in
            _ = try context.requireCaller(.admin)
            return try await api.bodies.withBody(of: request) { body in
                let tester = try await api.request(TesterRequest.self, from: body)
                return try await change(true, reason: tester.reason, context)
            }
        }
        group.delete("testers/:id") { request, context in
            _ = try context.requireCaller(.admin)
            return try await change(false, reason: try request.reason(), context)
        }
    }

    private func change(_ isTester: Bool, reason: String?, _ context: ServerContext) async throws -> Response {
        let app = try context.requireCaller(.admin).app.id
        let customerID = try context.identifier("id")
        let isChanged = try await api.ledger.perform(
            ChangeTester(app: app, customerID: customerID, isTester: isTester, reason: reason))
        var message = TesterMessage(customerID: customerID, tester: isTester, replayed: !isChanged)
        message.mergedInto = try await api.survivor(of: customerID, app: app)
        return try Response.json(message)
    }
}
