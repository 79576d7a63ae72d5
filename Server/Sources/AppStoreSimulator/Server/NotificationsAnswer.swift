import Foundation

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
