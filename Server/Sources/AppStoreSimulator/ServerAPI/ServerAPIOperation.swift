import Foundation

/// The operations of the App Store Server API, the realtime URL of the Retention Messaging API, and the group
/// and seat calls.
enum ServerAPIOperation: String, Codable, Sendable, CaseIterable {
    case statuses
    case extend
    case massExtend = "mass-extend"
    case massExtendStatus = "mass-extend-status"
    case historyV1 = "history-v1"
    case history
    case transaction
    case finish
    case appTransaction = "app-transaction"
    case accountToken = "account-token"
    case consumptionV1 = "consumption-v1"
    case consumption
    case refunds
    case refundsV1 = "refunds-v1"
    case order
    case testNotification = "test-notification"
    case testNotificationStatus = "test-notification-status"
    case notificationHistory = "notification-history"
    case groups
    case groupMembers = "group-members"
    case seats
    case claimSeat = "claim-seat"
    case releaseSeat = "release-seat"
    case associateSeat = "associate-seat"
    case setRealtimeURL = "set-realtime-url"
    case realtimeURL = "realtime-url"
    case deleteRealtimeURL = "delete-realtime-url"

    /// Reads one of the words above.
    init(from decoder: any Decoder) throws { self = try Self.word(from: decoder) }

    /// The requests per app and second in production; nil if Apple's table does not have the operation. The sandbox
    /// takes a tenth.
    var requestsPerSecond: Double? {
        switch self {
        case .statuses, .historyV1, .history, .transaction, .finish, .appTransaction, .consumptionV1, .consumption,
            .notificationHistory:
            50
        case .extend, .accountToken: 20
        case .refunds, .refundsV1, .order: 10
        case .massExtend, .testNotification, .testNotificationStatus, .setRealtimeURL, .realtimeURL,
            .deleteRealtimeURL:
            1
        case .massExtendStatus, .groups, .groupMembers, .seats, .claimSeat, .releaseSeat, .associateSeat: nil
        }
    }

    /// The environments that do not have the operation.
    var missingEnvironment: StoreEnvironment? {
        switch self {
        case .order: .sandbox
        case .groups, .groupMembers, .seats, .claimSeat, .releaseSeat, .associateSeat: .production
        default: nil
        }
    }
}

/// The requests per app, environment and operation: as many at once as a second allows, and then as many per second.
struct ServerAPILimits: Sendable {
    /// By app, environment and operation.
    private var buckets: [String: Bucket] = [:]

    private struct Bucket: Sendable {
        /// The requests that may still be sent at once.
        var left: Double
        var date: Date
    }

    /// A tenth in the sandbox.
    private static let sandboxShare = 0.1

    /// Counts a request.
    /// - Parameter factor: multiplies Apple's limits.
    /// - Returns: nil if it may be answered; otherwise when the next one may.
    mutating func refuse(
        _ operation: ServerAPIOperation, of bundleID: String, at environment: StoreEnvironment, factor: Double,
        _ now: Date
    ) -> Date? {
        guard let limit = operation.requestsPerSecond else { return nil }
        let rate = limit * factor * (environment == .sandbox ? Self.sandboxShare : 1)
        let capacity = max(1, rate)
        let key = "\(bundleID)|\(environment.rawValue)|\(operation.rawValue)"
        var bucket = buckets[key] ?? Bucket(left: capacity, date: now)
        bucket.left = min(capacity, bucket.left + max(0, now.timeIntervalSince(bucket.date)) * rate)
        bucket.date = now
        let isRefused = bucket.left < 1
        if !isRefused { bucket.left -= 1 }
        buckets[key] = bucket
        return isRefused ? now.addingTimeInterval((1 - bucket.left) / rate) : nil
    }
}
