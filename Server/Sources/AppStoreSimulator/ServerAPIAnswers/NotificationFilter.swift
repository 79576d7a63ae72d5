import Foundation

/// The body of a request for the notification history.
struct NotificationFilter: Sendable {
    let start: Date
    /// In the customer's name: any of their transactions.
    let transactionID: String?
    /// The body as it must be repeated with a token.
    let question: [String]
    private let end: Date
    private let type: String?
    private let subtype: String?
    private let isOnlyFailures: Bool

    /// - Throws: the failure of the first member of a wrong form.
    init(_ body: APIObject) throws(ServerAPIFailure) {
        let invalidStart = ServerAPIFailure(4_000_015, "The start is no time.")
        let invalidEnd = ServerAPIFailure(4_000_016, "The end is no time.")
        guard let start = HistoryFilter.date(try body.integer("startDate", or: invalidStart) ?? -1) else {
            throw invalidStart
        }
        guard let end = HistoryFilter.date(try body.integer("endDate", or: invalidEnd) ?? -1) else {
            throw invalidEnd
        }
        guard start < end else { throw ServerAPIFailure(4_000_013, "The end is not after the start.") }
        let invalidType = ServerAPIFailure(4_000_018, "There is no such type, or no such subtype of it.")
        let type = try body.string("notificationType", or: invalidType)
        let subtype = try body.string("notificationSubtype", or: invalidType)
        let oldName = try body.string("originalTransactionId", or: .invalidTransactionID)
        let transactionID = try body.string("transactionId", or: .invalidTransactionID) ?? oldName
        guard type == nil || transactionID == nil else {
            throw ServerAPIFailure(4_000_019, "Filter by a type or by a customer, not by both.")
        }
        if let type {
            guard let subtypes = Self.subtypes[type], subtype.map({ subtypes.contains($0) }) ?? true else {
                throw invalidType
            }
        } else if subtype != nil {
            throw invalidType
        }
        let isOnlyFailures = try body.boolean("onlyFailures", or: .generalBadRequest) ?? false
        self.start = start
        self.end = end
        self.type = type
        self.subtype = subtype
        self.transactionID = transactionID
        self.isOnlyFailures = isOnlyFailures
        question = [
            "\(start.timeIntervalSince1970)", "\(end.timeIntervalSince1970)", type ?? "", subtype ?? "",
            transactionID ?? "", "\(isOnlyFailures)",
        ]
    }

    /// - Parameter customerID: the customer with the transaction.
    func admits(_ notification: ScheduledNotification, _ customerID: String?) -> Bool {
        notification.date >= start && notification.date < end && (type.map { $0 == notification.type } ?? true)
            && (subtype.map { $0 == notification.subtype } ?? true)
            && (customerID.map { $0 == notification.customerID } ?? true)
            && !(isOnlyFailures && notification.state == .accepted)
    }

    /// Apple, "notificationType" and "subtype": the subtypes of each type.
    static let subtypes: [String: Set<String>] = [
        "SUBSCRIBED": ["INITIAL_BUY", "RESUBSCRIBE"],
        "DID_CHANGE_RENEWAL_PREF": ["UPGRADE", "DOWNGRADE"],
        "DID_CHANGE_RENEWAL_STATUS": ["AUTO_RENEW_ENABLED", "AUTO_RENEW_DISABLED"],
        "OFFER_REDEEMED": ["UPGRADE", "DOWNGRADE"],
        "DID_RENEW": ["BILLING_RECOVERY"],
        "EXPIRED": ["VOLUNTARY", "BILLING_RETRY", "PRICE_INCREASE", "PRODUCT_NOT_FOR_SALE"],
        "DID_FAIL_TO_RENEW": ["GRACE_PERIOD"],
        "GRACE_PERIOD_EXPIRED": [],
        "PRICE_INCREASE": ["PENDING", "ACCEPTED"],
        "PRICE_CHANGE": [],
        "REFUND": ["SEATS"],
        "REFUND_DECLINED": [],
        "REFUND_REVERSED": [],
        "CONSUMPTION_REQUEST": [],
        "RENEWAL_EXTENDED": [],
        "RENEWAL_EXTENSION": ["SUMMARY", "FAILURE"],
        "REVOKE": [],
        "ONE_TIME_CHARGE": [],
        "TEST": [],
        "EXTERNAL_PURCHASE_TOKEN": ["UNREPORTED", "CREATED", "ACTIVE_TOKEN_REMINDER"],
        "RESCIND_CONSENT": [],
        "METADATA_UPDATE": [],
        "MIGRATION": [],
        "MIGRATE": [],
        "UNCLAIM_SEATS": [],
    ]
}
