import Foundation
import HTTPTypes
import Hummingbird

/// Notifications: the server that gets them, their delivery, and those that a tester sends by hand.
struct NotificationRoutes {
    let service: StoreService
    let dispatch: NotificationDispatch

    func add(to router: Router<SimulatorRequestContext>) {
        let routes = StateRoutes(router: router, service: service)
        routes.get("/control/notifications") { state, _ in NotificationsAnswer(state) }
        routes.post("/control/notifications", NewNotification.self, .created) { state, wanted, _ in
            try state.store.notify(wanted.request())
        }
        routes.post("/control/notifications/url", NotificationAddress.self) { state, wanted, _ in
            for url in [wanted.url, wanted.sandboxUrl].compactMap(\.self) { try NotificationSettings.check(url) }
            state.notificationSettings.url = wanted.url
            state.notificationSettings.sandboxAddress = wanted.url.flatMap { _ in wanted.sandboxUrl }
            return NotificationsAnswer(state)
        }
        router.post("/control/notifications/deliver") { request, context in
            let wanted = try await request.read(Delivery.self)
            let seconds = wanted.timeoutSeconds ?? Delivery.usualSeconds
            guard (1...Delivery.longestSeconds).contains(seconds) else {
                throw StoreError(.invalidValue, "'timeout_seconds' is 1 to \(Delivery.longestSeconds).")
            }
            try await deliver(within: .seconds(seconds))
            return try await service.answer(request, context) { state, _ in NotificationsAnswer(state) }
        }
        router.get("/control/notifications/{number}") { request, context in
            let number = try Self.number(context)
            return try await service.answer(request, context) { state, _ in try state.scheduledNotification(number) }
        }
        router.post("/control/notifications/{number}/send") { request, context in
            try request.requireJSON()
            let number = try Self.number(context)
            try await service.change { state, _ in try state.sendAgain(number) }
            try await deliver(within: .seconds(Delivery.usualSeconds))
            return try await service.answer(request, context) { state, _ in try state.scheduledNotification(number) }
        }
    }

    private func deliver(within limit: Duration) async throws {
        guard try await dispatch.deliver(within: limit) else {
            throw SimulatorRefusal(
                .gatewayTimeout, "not_delivered",
                "Notifications that are due are still being sent. The server answers too slowly; ask again.")
        }
    }

    private static func number(_ context: SimulatorRequestContext) throws -> Int {
        guard let number = Int(try context.part("number")) else {
            throw StoreError(
                .unknownEvent, "The path needs the number of an event, such as /control/notifications/7.")
        }
        return number
    }
}

private struct NotificationAddress: RequestBody {
    /// Nil sends none from now on.
    let url: String?
    /// Nil sends those of the sandbox to the same address.
    let sandboxUrl: String?

    static let members: [BodyMember] = ["url", "sandbox_url"]
}

private struct Delivery: RequestBody {
    let timeoutSeconds: Int?

    static let members: [BodyMember] = ["timeout_seconds"]
    static let usualSeconds = 60
    static let longestSeconds = 600
}

private struct NewNotification: RequestBody {
    let bundleID: String
    let type: String
    let subtype: String?
    let environment: StoreEnvironment?
    let transactionID: String?
    let customerID: String?
    let requestIdentifier: String?
    let productID: String?
    let storefrontCountryCodes: [String]?
    let succeededCount: Int64?
    let failedCount: Int64?
    let externalPurchaseID: String?
    let tokenExpirationDate: Date?
    let tokenType: String?
    let seatIds: [String]?

    static let members: [BodyMember] = [
        "bundle_id", "type", "subtype", "environment", "transaction_id", "customer_id", "request_identifier",
        "product_id", "storefront_country_codes", "succeeded_count", "failed_count", "external_purchase_id",
        "token_expiration_date", "token_type", "seat_ids",
    ]

    func request() -> NotificationRequest {
        var request = NotificationRequest(type: type, subtype: subtype, bundleID: bundleID)
        request.environment = environment
        request.transactionID = transactionID
        request.customerID = customerID
        request.requestIdentifier = requestIdentifier
        request.productID = productID
        request.storefrontCountryCodes = storefrontCountryCodes
        request.succeededCount = succeededCount
        request.failedCount = failedCount
        request.externalPurchaseID = externalPurchaseID
        request.tokenExpirationDate = tokenExpirationDate
        request.tokenType = tokenType
        request.seatIDs = seatIds
        return request
    }
}

/// Where notifications go, how many there are in each state, and the pending faults of their delivery.
struct NotificationsAnswer: Encodable {
    let url: String?
    /// The address for the sandbox, if it is another one.
    let sandboxUrl: String?
    let waiting: Int
    let accepted: Int
    let failed: Int
    let dropped: Int
    /// The attempts of all notifications.
    let attempts: Int
    /// The due time of the next attempt.
    let nextAttempt: Date?
    let faults: [NotificationFault]

    init(_ state: ServiceState) {
        var counts: [ScheduledNotification.State: Int] = [:]
        var made = 0
        // Forged copies are no notifications.
        for notification in state.notifications.values where !notification.isForgedCopy {
            counts[notification.state, default: 0] += 1
            made += notification.attempts.count
        }
        url = state.notificationSettings.url
        sandboxUrl = state.notificationSettings.sandboxAddress
        waiting = counts[.waiting] ?? 0
        accepted = counts[.accepted] ?? 0
        failed = counts[.failed] ?? 0
        dropped = counts[.dropped] ?? 0
        attempts = made
        nextAttempt = state.earliestAttempt(except: [])
        faults = state.notificationSettings.faults
    }
}
