import Foundation

/// A notification of an event on its way to the server: when it is sent next, and what became of each attempt.
struct ScheduledNotification: Codable, Equatable, Sendable {
    /// The number of the event; the notification's, too.
    let number: Int
    let notificationUUID: String
    let type: String
    let subtype: String?
    let bundleID: String
    let environment: StoreEnvironment
    let customerID: String?
    let transactionID: String?
    /// When the event happened.
    let date: Date
    /// The fault that it is signed with; nil if it is genuine.
    var fault: String?
    /// Whether it is a forged copy, which is sent once beside the genuine notification.
    var isForgedCopy = false
    var state = State.waiting
    /// The due time of the next attempt, by the store's clock.
    var nextAttempt: Date?
    /// How often it is sent again after it was accepted.
    var repeatsLeft = 0
    /// Its place among the shuffled notifications that are due; nil if it is not shuffled.
    var shuffledPlace: UInt64?
    var attempts: [SendAttempt] = []

    enum State: String, Codable, Sendable {
        /// Not accepted yet, and an attempt is due.
        case waiting
        /// Accepted by the server.
        case accepted
        /// Not accepted, and not sent again.
        case failed
        /// Lost on request, without any attempt.
        case dropped
    }

    /// Apple, "Responding to App Store Server Notifications": five retries, each this many hours after the attempt
    /// before.
    static let retryHours = [1, 12, 24, 48, 72]
    /// The first attempt and the retries.
    static let maximumAttempts = 6

    var key: String { isForgedCopy ? "\(number)-forged" : "\(number)" }

    /// Appends an attempt, and schedules the next one: in production the retry; in the sandbox none.
    mutating func record(_ attempt: SendAttempt) {
        attempts.append(attempt)
        nextAttempt = nil
        let isLast = attempts.count >= Self.maximumAttempts
        guard attempt.result != .success else {
            state = .accepted
            guard repeatsLeft > 0, !isLast else { return }
            repeatsLeft -= 1
            nextAttempt = attempt.date
            return
        }
        // A repetition that fails changes nothing: the notification was accepted.
        guard state != .accepted else { return }
        guard environment == .production, !isForgedCopy, !isLast else {
            state = .failed
            return
        }
        state = .waiting
        nextAttempt = attempt.date.addingTimeInterval(Double(Self.retryHours[attempts.count - 1]) * 3600)
    }

    /// Sends it once more at once, accepted or not.
    /// - Throws: `wrong_state` after six attempts.
    mutating func sendAgain(_ now: Date) throws(StoreError) {
        guard attempts.count < Self.maximumAttempts else {
            throw StoreError(
                .wrongState,
                "The notification \(number) was sent \(attempts.count) times; there are no further attempts.")
        }
        if state == .failed || state == .dropped { state = .waiting }
        nextAttempt = now
    }
}
