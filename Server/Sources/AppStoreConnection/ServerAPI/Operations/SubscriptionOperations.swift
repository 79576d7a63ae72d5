// The statuses of subscriptions, and their extension.

public import PurchaseVerification

/// The statuses of all subscriptions of a customer in the app (Apple, "Get All Subscription Statuses").
public struct GetSubscriptionStatuses: AppStoreServerOperation {
    /// The original transaction id. With any other id, the answer can be compared with what was asked only if that
    /// transaction is the latest of its subscription.
    public var id: String
    /// Only subscriptions with one of these statuses; empty for all.
    public var statuses: [AppStoreSubscriptionStatus]

    public init(_ id: String, statuses: [AppStoreSubscriptionStatus] = []) {
        self.id = id
        self.statuses = statuses
    }

    public var request: AppStoreServerRequest {
        var request = AppStoreServerRequest(.get, ["inApps", "v1", "subscriptions", id])
        request.query = statuses.map { ("status", "\($0.rawValue)") }
        return request
    }

    public func read(_ reply: AppStoreServerReply) throws(AppStoreServerReplyFault) -> SubscriptionStatuses {
        let body = try reply.decoded(StatusBody.self)
        try reply.require(bundleID: body.bundleId, environment: body.environment)
        try reply.require(entries: body.data.reduce(0) { $0 + $1.lastTransactions.count })
        var subscriptions: [SubscriptionStatuses.Subscription] = []
        for group in body.data {
            for item in group.lastTransactions {
                subscriptions.append(try subscription(item, group.subscriptionGroupIdentifier, reply))
            }
        }
        guard subscriptions.isEmpty || subscriptions.contains(where: { $0.concerns(id) }) else {
            throw .otherAnswer(
                expected: "a subscription of \(id)", found: "\(subscriptions[0].originalTransactionID)")
        }
        return SubscriptionStatuses(subscriptions: subscriptions)
    }

    private func subscription(
        _ item: StatusBody.Item, _ group: String?, _ reply: AppStoreServerReply
    ) throws(AppStoreServerReplyFault) -> SubscriptionStatuses.Subscription {
        let transaction = try reply.transaction(item.signedTransactionInfo)
        let original = transaction.content.originalTransactionID ?? transaction.content.transactionID
        var renewalInfo: RenewalInfoJWS?
        if let text = item.signedRenewalInfo { renewalInfo = try reply.renewalInfo(text) }
        for found in [item.originalTransactionId, renewalInfo?.content.originalTransactionID] {
            guard let found, found != original else { continue }
            throw .otherAnswer(expected: "the subscription \(original)", found: "\(found.prefix(100))")
        }
        return SubscriptionStatuses.Subscription(
            group: group, originalTransactionID: original,
            status: AppStoreSubscriptionStatus(rawValue: item.status), transaction: transaction,
            renewalInfo: renewalInfo)
    }
}

/// The subscriptions of a customer in the app.
public struct SubscriptionStatuses: Sendable {
    /// One subscription; a customer has at most one of each group that runs.
    public struct Subscription: Sendable {
        public let group: String?
        public let originalTransactionID: String
        /// Apple does not sign it.
        public let status: AppStoreSubscriptionStatus
        /// The latest transaction.
        public let transaction: TransactionJWS
        public let renewalInfo: RenewalInfoJWS?

        fileprivate func concerns(_ id: String) -> Bool {
            let content = transaction.content
            return originalTransactionID == id || content.transactionID == id || content.appTransactionID == id
        }
    }

    public let subscriptions: [Subscription]

    /// The subscription with an original transaction id.
    public func subscription(of originalTransactionID: String) -> Subscription? {
        subscriptions.first { $0.originalTransactionID == originalTransactionID }
    }
}

/// Extends a subscription (Apple, "Extend a Subscription Renewal Date"). A call whose outcome is unknown is not made
/// again: Apple may have extended the subscription already.
public struct ExtendRenewalDate: AppStoreServerOperation {
    public static var callsPerSecond: Double { 20 }
    public static var isRepeatable: Bool { false }

    public var originalTransactionID: String
    /// 1 to 90.
    public var days: Int
    public var reason: ExtensionReason
    /// At most 128 bytes.
    public var requestIdentifier: String

    public init(_ originalTransactionID: String, days: Int, reason: ExtensionReason, requestIdentifier: String) {
        self.originalTransactionID = originalTransactionID
        self.days = days
        self.reason = reason
        self.requestIdentifier = requestIdentifier
    }

    private struct Body: Encodable {
        let extendByDays: Int
        let extendReasonCode: Int64
        let requestIdentifier: String
    }

    public var request: AppStoreServerRequest {
        AppStoreServerRequest(
            .put, ["inApps", "v1", "subscriptions", "extend", originalTransactionID],
            json: Body(
                extendByDays: days, extendReasonCode: reason.rawValue, requestIdentifier: requestIdentifier))
    }

    public func read(_ reply: AppStoreServerReply) throws(AppStoreServerReplyFault) -> ExtendedRenewalDate {
        let extended = try reply.decoded(ExtendedRenewalDate.self)
        if let found = extended.originalTransactionId, found != originalTransactionID {
            throw .otherAnswer(expected: "the subscription \(originalTransactionID)", found: "\(found.prefix(100))")
        }
        return extended
    }
}

/// The reason for an extension (Apple, "extendReasonCode").
public struct ExtensionReason: OpenValue {
    public let rawValue: Int64
    public init(rawValue: Int64) { self.rawValue = rawValue }

    public static let undeclared = Self(rawValue: 0)
    public static let customerSatisfaction = Self(rawValue: 1)
    public static let other = Self(rawValue: 2)
    public static let serviceIssue = Self(rawValue: 3)
}

/// The outcome of an extension (Apple, "ExtendRenewalDateResponse"). Apple does not sign it.
public struct ExtendedRenewalDate: Sendable, Decodable {
    public let originalTransactionId: String?
    public let webOrderLineItemId: String?
    public let success: Bool?
    /// The new end of the period, in milliseconds since 1970.
    public let effectiveDate: Int64?
}

private struct StatusBody: Decodable {
    let environment: String?
    let bundleId: String?
    let data: [Group]

    struct Group: Decodable {
        let subscriptionGroupIdentifier: String?
        let lastTransactions: [Item]
    }

    struct Item: Decodable {
        let status: Int64
        let originalTransactionId: String?
        let signedTransactionInfo: String
        let signedRenewalInfo: String?
    }
}
