import Hummingbird
import PurchaseAPI
import PurchaseLedger

/// `GET /v1/notifications`: what the App Store told the server.
struct NotificationListRoutes {
    let api: PurchaseAPIContext

    func add(to group: RouterGroup<ServerContext>) {
        group.get("notifications") { request, context in
            let app = try context.requireCaller(.backend).app.id
            let filter = NotificationFilter(
                type: try request.identifier("type"), subtype: try request.identifier("subtype"),
                customerID: try request.identifier("customer_id"),
                transactionID: try request.identifier("transaction_id"))
            let page = try await api.page(of: NotificationList(app: app, filter: filter), request)
            return try Response.json(NotificationPage(notifications: page.entries, nextCursor: page.next?.text))
        }
    }
}
