import Hummingbird
import PurchaseAPI
import PurchaseLedger

/// `GET /v1/customers/{id}/timeline`: what happened to a customer.
struct TimelineRoutes {
    let api: PurchaseAPIContext

    func add(to group: RouterGroup<ServerContext>) {
        group.get("customers/:id/timeline") { request, context in
            let query = CustomerTimeline(
                app: try context.requireCaller(.backend).app.id, customerID: try context.identifier("id"))
            let page = try await api.page(of: query, request)
            return try Response.json(
                TimelinePage(
                    customerID: query.customerID, mergedInto: page.mergedInto,
                    timeline: page.entries.map(\.message), nextCursor: page.next?.text))
        }
    }
}
