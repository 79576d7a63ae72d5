import Crypto
import EvidenceMint
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
        try require(
            attempts.count < Self.maximumAttempts, .wrongState,
            "The notification \(number) was sent \(attempts.count) times; there are no further attempts.")
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
    let date: Date
}

/// A fault of the delivery of the next notifications.
struct NotificationFault: CountedFault {
    var kind: Kind
    /// The number of notifications that the fault still applies to.
    @OneByDefault var count: Int
    /// Only notifications of this type; nil for all types.
    var notificationType: String?
    /// The share of the notifications that are hit, by chance; nil for all. The same script has the same chance.
    var percentage: Int?
    /// For the kinds `delay` and `shuffle`.
    var seconds: Int?
    /// For the kind `repeat`: how often it is sent again; by default once.
    var times: Int?
    /// For the kind `forge`: the fault of the forged copy; by default its signature is by another key.
    var fault: String?

    enum Kind: String, Codable, Sendable, Word {
        case drop, delay, `repeat`, shuffle, forge

        /// A description of the delivery.
        var explanation: String {
            switch self {
            case .drop: "the notification is lost, without any attempt"
            case .delay: "the first attempt comes the seconds later, by the store's clock"
            case .repeat: "the notification is sent again after it was accepted"
            case .shuffle: "the first attempt comes at a random time within the seconds (0), and in random order"
            case .forge: "a forged copy with the same UUID is sent before the genuine notification"
            }
        }
    }

    static let counted = "notifications"
    static let members: [BodyMember] = [
        "kind", "count", "notification_type", "percentage", "seconds", "times", "fault",
    ]

    /// The longest delay: a hundred days.
    private static let longestDelay = 8_640_000

    func check() throws(StoreError) {
        try checkCount()
        try require((1...100).contains(percentage ?? 100), .invalidValue, "'percentage' is 1 to 100.")
        guard (0...Self.longestDelay).contains(seconds ?? 0), kind != .delay || seconds != nil else {
            throw StoreError(.invalidValue, "A delay has 0 to \(Self.longestDelay) 'seconds'.")
        }
        guard (1..<ScheduledNotification.maximumAttempts).contains(times ?? 1) else {
            throw StoreError(.invalidValue, "'times' is 1 to \(ScheduledNotification.maximumAttempts - 1).")
        }
        try EvidenceFault.check(fault, of: .notification)
    }

    /// Whether it concerns notifications of a type.
    func concerns(_ type: String) -> Bool { notificationType.map { $0 == type } ?? true }

    /// Whether it hits a notification that it concerns.
    func hits(_ notification: ScheduledNotification) -> Bool {
        percentage.map { chance(notification) % 100 < UInt64($0) } ?? true
    }

    /// Applies it.
    /// - Returns: the forged copy, if it makes one.
    func apply(to notification: inout ScheduledNotification) -> ScheduledNotification? {
        switch kind {
        case .drop:
            notification.state = .dropped
            notification.nextAttempt = nil
        case .delay: notification.nextAttempt = notification.nextAttempt?.addingTimeInterval(Double(seconds ?? 0))
        case .repeat: notification.repeatsLeft = times ?? 1
        case .shuffle:
            let place = chance(notification, "place")
            notification.shuffledPlace = place
            let delay = place % UInt64(max(0, seconds ?? 0) + 1)
            notification.nextAttempt = notification.nextAttempt?.addingTimeInterval(Double(delay))
        case .forge:
            var copy = notification
            copy.isForgedCopy = true
            copy.fault = fault ?? SignedPayloadFault.foreignSignature.rawValue
            copy.repeatsLeft = 0
            return copy
        }
        return nil
    }

    /// A number that looks random, and is the same for the same notification.
    private func chance(_ notification: ScheduledNotification, _ purpose: String = "hit") -> UInt64 {
        let seed = Data("\(purpose)|\(kind.rawValue)|\(notification.notificationUUID)".utf8)
        return SHA256.hash(data: seed).prefix(8).reduce(0) { $0 << 8 | UInt64($1) }
    }
}
