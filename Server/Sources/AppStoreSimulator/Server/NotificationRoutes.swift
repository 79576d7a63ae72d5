import Foundation
import HTTPTypes
import Hummingbird

extension Routes {
    /// Notifications: the server that gets them, their delivery, and those that a tester sends by hand.
    func addNotifications(_ dispatch: NotificationDispatch) {
        let service = service
        get("/control/notifications") { state, _ in state.notificationsAnswer }
        post(
            "/control/notifications",
            [
                "bundle_id", "type", "subtype", "environment", "transaction_id", "customer_id", "request_identifier",
                "product_id", "storefront_country_codes", "succeeded_count", "failed_count", "external_purchase_id",
                "token_creation_date", "token_expiration_date", "token_type", "seat_ids",
            ], .created
        ) { state, body, _ in try state.store.notify(body.read(NotificationRequest.self)) }
        post("/control/notifications/url", ["url", "sandbox_url"]) { state, body, _ in
            let (url, sandbox): (String?, String?) = (try body.url, try body.sandboxUrl)
            for url in [url, sandbox].compactMap(\.self) { try NotificationSettings.check(url) }
            state.settings.notifications.url = url
            state.settings.notifications.sandboxAddress = url.flatMap { _ in sandbox }
            return state.notificationsAnswer
        }
        router.post("/control/notifications/deliver") { request, context in
            let seconds = try await request.read(["timeout_seconds"]).timeoutSeconds ?? 60
            try require((1...600).contains(seconds), .invalidValue, "'timeout_seconds' is 1 to 600.")
            try await dispatch.deliverAll(within: .seconds(seconds))
            return try await service.answer(request, context) { state, _ in state.notificationsAnswer }
        }
        get("/control/notifications/{id}") { state, call in
            try state.scheduledNotification(call.number("/control/notifications/7"))
        }
        router.post("/control/notifications/{id}/send") { request, context in
            try request.requireJSON()
            let number = try Call(request, context, service).number("/control/notifications/7")
            try await service.change { state, _ in try state.sendAgain(number) }
            try await dispatch.deliverAll(within: .seconds(60))
            return try await service.answer(request, context) { state, _ in try state.scheduledNotification(number) }
        }
    }
}

extension NotificationDispatch {
    fileprivate func deliverAll(within limit: Duration) async throws {
        guard try await deliver(within: limit) else {
            throw SimulatorRefusal(
                .gatewayTimeout, "not_delivered",
                "Notifications that are due are still being sent. The server answers too slowly; ask again.")
        }
    }
}

extension ServiceState {
    /// Where notifications go, how many there are in each state, and the pending faults of their delivery.
    var notificationsAnswer: Members {
        // Forged copies are no notifications.
        let genuine = notifications.values.filter { !$0.isForgedCopy }
        let count = { (state: ScheduledNotification.State) in genuine.count { $0.state == state } }
        return [
            "url": settings.notifications.url, "sandbox_url": settings.notifications.sandboxAddress,
            "waiting": count(.waiting), "accepted": count(.accepted), "failed": count(.failed),
            "dropped": count(.dropped), "attempts": genuine.reduce(0) { $0 + $1.attempts.count },
            "next_attempt": earliestAttempt(except: []), "faults": settings.notifications.faults,
        ]
    }
}
