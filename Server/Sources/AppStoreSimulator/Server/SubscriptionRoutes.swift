import Foundation
import HTTPTypes
import Hummingbird

/// Actions on subscriptions. To renew one, the clock moves to its due time, and everything else that is due by then
/// also happens.
struct SubscriptionRoutes {
    let service: StoreService

    func add(to router: Router<SimulatorRequestContext>) {
        let routes = StateRoutes(router: router, service: service)
        routes.get("/control/subscriptions/{id}") { state, call in
            try SubscriptionAnswer(try state.store.subscription(call.id), &state, call.issuer)
        }
        add("renew", to: routes) { store, id, _ in
            try store.setBilling(works: true, for: id)
            return try store.letFallDue(id)
        }
        add("fail-billing", to: routes) { store, id, _ in
            try store.setBilling(works: false, for: id)
            return try store.letFallDue(id)
        }
        add("enter-grace", to: routes) { store, id, _ in
            let subscription = try store.subscription(id)
            guard subscription.status == .active else {
                throw StoreError(.wrongState, "The subscription is \(subscription.status.rawValue), not active.")
            }
            guard try store.app(subscription.bundleID).gracePeriodDays > 0 else {
                throw StoreError(.wrongState, "The app '\(subscription.bundleID)' has no grace period.")
            }
            try store.setBilling(works: false, for: id)
            return try store.letFallDue(id)
        }
        add("recover", to: routes) { store, id, _ in
            let subscription = try store.subscription(id)
            guard subscription.status == .gracePeriod || subscription.status == .billingRetry else {
                throw StoreError(
                    .wrongState, "The subscription is \(subscription.status.rawValue); no payment is pending.")
            }
            return try store.setBilling(works: true, for: id)
        }
        add("billing", to: routes) { store, id, body in
            guard let works = body.works else {
                throw StoreError(.invalidValue, "'works' is missing: whether the next payments succeed.")
            }
            return try store.setBilling(works: works, for: id)
        }
        add("cancel", to: routes) { store, id, _ in try store.setAutoRenewal(false, for: id) }
        add("resume", to: routes) { store, id, _ in try store.setAutoRenewal(true, for: id) }
        add("extend", to: routes) { store, id, body in
            guard let days = body.days else {
                throw StoreError(.invalidValue, "'days' is missing: the number of days to extend by.")
            }
            return try store.extendRenewal(of: id, days: days)
        }
        add("accept-price", to: routes) { store, id, _ in try store.acceptPrice(of: id) }
        add("change-product", to: routes) { store, id, body in
            guard let productID = body.productID else {
                throw StoreError(.invalidValue, "'product_id' is missing: the product to change to.")
            }
            try store.changeProduct(of: id, to: productID)
            return try store.subscription(id)
        }
        add("set-seats", to: routes) { store, id, body in
            try store.setRenewalSeats(try body.requiredSeats(), of: id, notificationType: body.notificationType)
        }
        addSeat("add-seats", to: routes) { store, id, body in
            try store.addSeats(try body.requiredSeats(), to: id, notificationType: body.notificationType)
        }
        addSeat("assign-seat", to: routes) { store, id, body in
            guard let customerID = body.customerID else {
                throw StoreError(.invalidValue, "'customer_id' is missing: the member who gets the seat.")
            }
            return try store.assignSeat(of: id, to: customerID)
        }
    }

    /// An action that makes a transaction, and answers with it.
    private func addSeat(
        _ action: String, to routes: StateRoutes,
        _ body: @escaping @Sendable (inout AppStore, String, SubscriptionAction) throws -> StoreTransaction
    ) {
        routes.post("/control/subscriptions/{id}/\(action)", SubscriptionAction.self, .created) { state, fields, call in
            try TransactionAnswer(try body(&state.store, call.id, fields), &state, call.issuer)
        }
    }

    private func add(
        _ action: String, to routes: StateRoutes,
        _ body: @escaping @Sendable (inout AppStore, String, SubscriptionAction) throws -> StoreSubscription
    ) {
        routes.post("/control/subscriptions/{id}/\(action)", SubscriptionAction.self) { state, fields, call in
            let before = state.store.now
            let subscription = try body(&state.store, call.id, fields)
            if state.store.now != before { state.setClock(call.world) }
            return try SubscriptionAnswer(subscription, &state, call.issuer)
        }
    }
}

/// A subscription, the transaction of its present period, and its evidence.
private struct SubscriptionAnswer: Encodable {
    let subscription: StoreSubscription
    let transaction: StoreTransaction
    let evidence: TransactionEvidence
    let clock: ClockAnswer
    /// The seats of the present period that are not refunded; nil if the product has no seats.
    let seats: Int?
    /// The seats that the app's backend has claimed; nil without any.
    let seatClaims: [SeatClaimAnswer]?

    /// A claimed seat.
    struct SeatClaimAnswer: Encodable {
        let seatClaimID: String
        let appTransactionID: String?
    }

    init(_ subscription: StoreSubscription, _ state: inout ServiceState, _ issuer: EvidenceIssuer) throws {
        self.subscription = subscription
        transaction = try state.store.transaction(subscription.transactionID)
        evidence = try state.evidence(of: transaction, by: issuer)
        clock = ClockAnswer(state)
        seats = subscription.renewalSeats == nil ? nil : state.store.seats(of: subscription)
        seatClaims = state.serverAPI.seatClaims[subscription.originalTransactionID]?.map {
            SeatClaimAnswer(seatClaimID: $0.seatClaimID, appTransactionID: $0.appTransactionID)
        }
    }
}

/// The fields of an action on a subscription.
struct SubscriptionAction: RequestBody {
    let works: Bool?
    let days: Int?
    let productID: String?
    let seats: UInt64?
    let customerID: String?
    let notificationType: String?

    static let members: [BodyMember] = [
        "works", "days", "product_id", "seats", "customer_id", "notification_type",
    ]

    func requiredSeats() throws(StoreError) -> UInt64 {
        guard let seats else { throw StoreError(.invalidValue, "'seats' is missing: their number.") }
        return seats
    }
}
