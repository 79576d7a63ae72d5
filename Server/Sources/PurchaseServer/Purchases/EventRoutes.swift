import Foundation
import Hummingbird
package import PurchaseAPI
package import PurchaseLedger

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

extension EventMessage.Kind {
    /// The constant of the wire for a type of the ledger. A new type does not compile until it has one.
    package init(_ type: EventType) {
        self =
            switch type {
            case .granted: .granted
            case .renewed: .renewed
            case .extended: .extended
            case .transferred: .transferred
            case .revoked: .revoked
            case .reversed: .reversed
            case .upgraded: .upgraded
            case .renewalChanged: .renewalChanged
            case .contradicted: .contradicted
            case .consumed: .consumed
            case .orderCreated: .orderCreated
            case .orderPaid: .orderPaid
            case .orderPartlyFulfilled: .orderPartlyFulfilled
            case .orderFulfilled: .orderFulfilled
            case .orderClosed: .orderClosed
            case .orderCancelled: .orderCancelled
            case .orderRefunded: .orderRefunded
            case .orderReopened: .orderReopened
            case .orderRestored: .orderRestored
            case .grantAdded: .grantAdded
            case .revocationAdded: .revocationAdded
            case .actLifted: .actLifted
            case .groundAdded: .groundAdded
            case .groundEnded: .groundEnded
            case .customerMerged: .customerMerged
            case .customerErased: .customerErased
            case .tokenAssigned: .tokenAssigned
            case .claimDecided: .claimDecided
            case .notConfirmed: .notConfirmed
            case .claimConflict: .claimConflict
            case .refundRequested: .refundRequested
            case .consentRescinded: .consentRescinded
            case .seatClaimed: .seatClaimed
            case .seatUnclaimed: .seatUnclaimed
            case .registered: .registered
            case .corrected: .corrected
            }
    }
}
