import Foundation
import Hummingbird
import PurchaseAPI
import PurchaseLedger

/// `GET /v1/events`: everything that changed, in order.
struct EventRoutes {
    let api: PurchaseAPIContext

    func add(to group: RouterGroup<ServerContext>) {
        group.get("events") { request, context in
            let app = try context.requireCaller(.backend).app.id
            let (after, limit) = (try request.numberCursor() ?? 0, try request.limit())
            guard after >= 0 else { throw Problem.cursor }
            let page = try await api.ledger.answer(
                EventSearch(app: app, filter: try Self.filter(request), after: after, limit: limit))
            return try Self.page(page.events, next: page.next)
        }
    }

    private static func filter(_ request: Request) throws -> EventFilter {
        var filter = EventFilter()
        filter.customerID = try request.identifier("customer_id")
        filter.transactionID = try request.identifier("transaction_id")
        filter.orderID = try request.uuid("order_id")
        return filter
    }

    private static func page(_ events: [StoredEvent], next: Int64) throws -> Response {
        try Response.json(
            EventPage(events: events.map { EventMessage($0.content) }, nextCursor: Cursor.text(["\(next)"])))
    }
}
