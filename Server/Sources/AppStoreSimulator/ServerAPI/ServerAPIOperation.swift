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
