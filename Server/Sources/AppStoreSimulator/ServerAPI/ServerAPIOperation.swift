import Foundation
import HTTPTypes

/// The operations of the App Store Server API, the realtime URL of the Retention Messaging API, and the group
/// and seat calls.
enum ServerAPIOperation: String, Codable, Sendable, Word {
    case statuses, extend, history, transaction, finish, consumption, refunds, order, groups, seats
    case massExtend = "mass-extend"
    case massExtendStatus = "mass-extend-status"
    case historyV1 = "history-v1"
    case appTransaction = "app-transaction"
    case accountToken = "account-token"
    case consumptionV1 = "consumption-v1"
    case refundsV1 = "refunds-v1"
    case testNotification = "test-notification"
    case testNotificationStatus = "test-notification-status"
    case notificationHistory = "notification-history"
    case groupMembers = "group-members"
    case claimSeat = "claim-seat"
    case releaseSeat = "release-seat"
    case associateSeat = "associate-seat"
    case setRealtimeURL = "set-realtime-url"
    case realtimeURL = "realtime-url"
    case deleteRealtimeURL = "delete-realtime-url"
    case sendExternalReport = "send-external-report"
    case externalReport = "external-report"

    /// What is fixed: the requests per app and second are those in production, and the sandbox takes a tenth; nil if
    /// Apple's table does not have the operation. The last is the environment that does not have it.
    typealias Row = (
        method: HTTPRequest.Method, path: String, requestsPerSecond: Double?, missingEnvironment: StoreEnvironment?
    )

    var row: Row {
        switch self {
        case .statuses: (.get, "/inApps/v1/subscriptions/{id}", 50, nil)
        case .extend: (.put, "/inApps/v1/subscriptions/extend/{id}", 20, nil)
        case .massExtend: (.post, "/inApps/v1/subscriptions/extend/mass", 1, nil)
        case .massExtendStatus: (.get, "/inApps/v1/subscriptions/extend/mass/{id}/{second}", nil, nil)
        case .historyV1: (.get, "/inApps/v1/history/{id}", 50, nil)
        case .history: (.get, "/inApps/v2/history/{id}", 50, nil)
        case .transaction: (.get, "/inApps/v1/transactions/{id}", 50, nil)
        case .finish: (.post, "/inApps/v1/transactions/{id}/finish", 50, nil)
        case .appTransaction: (.get, "/inApps/v1/transactions/appTransactions/{id}", 50, nil)
        case .accountToken: (.put, "/inApps/v1/transactions/{id}/appAccountToken", 20, nil)
        case .consumptionV1: (.put, "/inApps/v1/transactions/consumption/{id}", 50, nil)
        case .consumption: (.put, "/inApps/v2/transactions/consumption/{id}", 50, nil)
        case .refunds: (.get, "/inApps/v2/refund/lookup/{id}", 10, nil)
        case .refundsV1: (.get, "/inApps/v1/refund/lookup/{id}", 10, nil)
        case .order: (.get, "/inApps/v1/lookup/{id}", 10, .sandbox)
        case .testNotification: (.post, "/inApps/v1/notifications/test", 1, nil)
        case .testNotificationStatus: (.get, "/inApps/v1/notifications/test/{id}", 1, nil)
        case .notificationHistory: (.post, "/inApps/v1/notifications/history", 50, nil)
        case .groups: (.get, "/groups/v1/currentGroups/{id}", nil, .production)
        case .groupMembers: (.get, "/groups/v1/group/{id}", nil, .production)
        case .seats: (.get, "/groups/v1/transactions/{id}/seats", nil, .production)
        case .claimSeat: (.post, "/groups/v1/transactions/{id}/seats", nil, .production)
        case .releaseSeat: (.delete, "/groups/v1/transactions/{id}/seats/{second}", nil, .production)
        case .associateSeat: (.post, "/groups/v1/transactions/{id}/seats/{second}/associate", nil, .production)
        case .setRealtimeURL: (.put, "/inApps/v1/messaging/realtime/url", 1, nil)
        case .realtimeURL: (.get, "/inApps/v1/messaging/realtime/url", 1, nil)
        case .sendExternalReport: (.put, "/externalPurchase/v1/reports", nil, nil)
        case .externalReport: (.get, "/externalPurchase/v1/reports/{id}", nil, nil)
        case .deleteRealtimeURL: (.delete, "/inApps/v1/messaging/realtime/url", 1, nil)
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
        guard let limit = operation.row.requestsPerSecond else { return nil }
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
