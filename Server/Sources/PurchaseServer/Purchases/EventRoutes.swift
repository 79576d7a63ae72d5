import Foundation
import Hummingbird
package import PurchaseAPI
package import PurchaseLedger

/// `GET /v1/events`: everything that changed, in order; and `GET /v1/events/stream`, the same as it happens.
struct EventRoutes {
    let api: PurchaseAPIContext
    let streams: EventStreams

    func add(to group: RouterGroup<ServerContext>) {
        group.get("events") { request, context in
            let app = try context.requireCaller(.backend).app.id
            let filter = EventFilter(
                customerID: try request.identifier("customer_id"), orderID: try request.uuid("order_id"),
                transactionID: try request.identifier("transaction_id"))
            let page = try await api.page(of: EventSearch(app: app, filter: filter), request)
            return try Response.json(
                EventPage(events: page.entries.map { EventMessage($0.content) }, nextCursor: page.end?.text ?? ""))
        }
        group.get("events/stream") { request, context in
            try await streams.response(
                try context.requireCaller(.backend), lastID: request.headers[.lastEventID], api.ledger)
        }
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
            case .externalPurchaseTokenDue: .externalPurchaseTokenDue
            case .externalPurchaseTokenOverdue: .externalPurchaseTokenOverdue
            case .registered: .registered
            }
    }
}
