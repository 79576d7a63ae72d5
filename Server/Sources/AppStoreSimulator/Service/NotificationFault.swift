import Crypto
import EvidenceMint
import Foundation

/// A fault of the delivery of the next notifications.
struct NotificationFault: Codable, Equatable, RequestBody {
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

    static let members: [BodyMember] = [
        "kind", "count", "notification_type", "percentage", "seconds", "times", "fault",
    ]

    /// The longest delay: a hundred days.
    private static let longestDelay = 8_640_000

    func check() throws(StoreError) {
        guard (1...1_000_000).contains(count) else {
            throw StoreError(.invalidValue, "'count' is 1 to 1000000 notifications, not \(count).")
        }
        guard (1...100).contains(percentage ?? 100) else {
            throw StoreError(.invalidValue, "'percentage' is 1 to 100.")
        }
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
        case .delay:
            notification.nextAttempt = notification.nextAttempt?.addingTimeInterval(Double(seconds ?? 0))
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
