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

/// One attempt to send a notification.
struct SendAttempt: Codable, Equatable, Sendable {
    /// When, by the store's clock.
    let date: Date
    let result: SendAttemptResult
    /// The HTTP status of the answer; nil if there was none.
    var status: Int?
    /// What was seen, in words; nil if the notification was accepted.
    var detail: String?
    /// The time until the result, in real time.
    var milliseconds = 0
}

/// The result of an attempt, in Apple's words (`sendAttemptResult`).
enum SendAttemptResult: String, Codable, Sendable, CaseIterable {
    /// A status from 200 to 206.
    case success = "SUCCESS"
    /// No connection, or no complete answer, in time.
    case timedOut = "TIMED_OUT"
    /// No trusted TLS connection.
    case tlsIssue = "TLS_ISSUE"
    /// Redirects that come back to an address, or more of them than are followed.
    case circularRedirect = "CIRCULAR_REDIRECT"
    /// The connection was closed before an answer.
    case noResponse = "NO_RESPONSE"
    /// No connection, or it was reset.
    case socketIssue = "SOCKET_ISSUE"
    /// The answer names a charset that is not supported.
    case unsupportedCharset = "UNSUPPORTED_CHARSET"
    /// The answer is not HTTP, or too large.
    case invalidResponse = "INVALID_RESPONSE"
    /// The connection was closed in the middle of the answer.
    case prematureClose = "PREMATURE_CLOSE"
    /// Any other status.
    case unsuccessfulResponseCode = "UNSUCCESSFUL_HTTP_RESPONSE_CODE"
    /// The notification could not be signed, or the request could not be made.
    case other = "OTHER"
}

/// A notification that is due, ready to be signed and sent.
struct OutgoingNotification: Sendable {
    let key: String
    let url: String
    let event: StoreEvent
    /// The store whose names the evidence has.
    let store: AppStore
    let fault: String?
    /// The date of the attempt.
    let date: Date
}
