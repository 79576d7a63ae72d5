// The history of notifications, and test notifications.

public import PurchaseVerification

/// One page of the notifications that Apple has sent, or tried to send (Apple, "Get Notification History").
public struct GetNotificationHistory: PagedOperation {
    /// A page has 20 notifications; the reader of a large shop divides its history into days.
    public static var mostPages: Int { 5000 }
    public static var place: AppStoreServerPlace { .anyEnvironment }

    public var filter: Filter
    /// The token of the page before; `nil` for the first page.
    public var paginationToken: String?

    public init(_ filter: Filter, paginationToken: String? = nil) {
        self.filter = filter
        self.paginationToken = paginationToken
    }

    /// The wanted notifications. Each page has the same.
    public struct Filter: Sendable, Equatable, Encodable {
        /// In milliseconds since 1970: at most 180 days ago in production, 30 in the sandbox.
        public var startDate: Int64
        /// In milliseconds since 1970; the future counts as now.
        public var endDate: Int64
        public var notificationType: String?
        public var notificationSubtype: String?
        /// Only without a type.
        public var transactionId: String?
        /// Only those that were not delivered, including those that Apple still sends again.
        public var onlyFailures: Bool?

        public init(from startDate: Int64, to endDate: Int64) {
            self.startDate = startDate
            self.endDate = endDate
        }
    }

    public var place: String? {
        get { paginationToken }
        set { paginationToken = newValue }
    }

    public var request: AppStoreServerRequest {
        var request = AppStoreServerRequest(.post, ["inApps", "v1", "notifications", "history"], json: filter)
        if let paginationToken { request.query = [("paginationToken", paginationToken)] }
        return request
    }

    public func read(_ reply: AppStoreServerReply) throws(AppStoreServerReplyFault) -> NotificationHistoryPage {
        let body = try reply.decoded(NotificationHistoryBody.self)
        // An object without it is no page: taken for an empty one, it would end a period that nobody has read.
        guard let hasMore = body.hasMore else { throw .unreadable("no hasMore") }
        guard !hasMore || body.paginationToken != nil else { throw .unreadable("more pages, and no token") }
        try reply.require(entries: body.notificationHistory?.count ?? 0)
        var notifications: [SentNotification] = []
        for item in body.notificationHistory ?? [] {
            notifications.append(
                SentNotification(
                    text: item.signedPayload, notification: try notification(item.signedPayload, reply),
                    attempts: item.sendAttempts ?? []))
        }
        return NotificationHistoryPage(
            notifications: notifications, paginationToken: hasMore ? body.paginationToken : nil)
    }

    /// A notification that this version cannot read is kept as its text, because a later version may read it, and
    /// because one of them must not hide all others. A forged one is never believed.
    private func notification(
        _ text: String, _ reply: AppStoreServerReply
    ) throws(AppStoreServerReplyFault) -> AppStoreNotification? {
        do throws(AppStoreServerReplyFault) {
            return try reply.notification(text).content
        } catch {
            if case .unverified(let reason) = error, reason.code.conclusion == .unread { return nil }
            throw error
        }
    }
}

/// A page of notifications.
public struct NotificationHistoryPage: AppStorePage {
    public let notifications: [SentNotification]
    /// For the next page; `nil` on the last one. It expires.
    public let paginationToken: String?

    public var next: String? { paginationToken }
}

/// A notification that Apple has sent, or tried to send.
public struct SentNotification: Sendable {
    /// The signed payload, as Apple sent it.
    public let text: String
    /// The notification; `nil` if this version cannot read it.
    public let notification: AppStoreNotification?
    /// At most six.
    public let attempts: [SendAttempt]
}

/// An attempt to deliver a notification (Apple, "sendAttemptItem").
public struct SendAttempt: Sendable, Decodable {
    /// In milliseconds since 1970.
    public let attemptDate: Int64?
    /// `SUCCESS`, or the reason of the failure.
    public let sendAttemptResult: String?
}

/// Has a test notification sent (Apple, "Request a Test Notification"). It goes to the address of the environment that
/// is called.
public struct RequestTestNotification: AppStoreServerOperation {
    public static var callsPerSecond: Double { 1 }
    public static var place: AppStoreServerPlace { .anyEnvironment }
    public static var isRepeatable: Bool { false }

    public init() {}

    public var request: AppStoreServerRequest {
        AppStoreServerRequest(.post, ["inApps", "v1", "notifications", "test"])
    }

    private struct Reply: Decodable {
        let testNotificationToken: String
    }

    /// - Returns: the token, with which the outcome is asked for.
    public func read(_ reply: AppStoreServerReply) throws(AppStoreServerReplyFault) -> String {
        try reply.decoded(Reply.self).testNotificationToken
    }
}

/// The outcome of a test notification (Apple, "Get Test Notification Status").
public struct GetTestNotification: AppStoreServerOperation {
    public static var callsPerSecond: Double { 1 }
    public static var place: AppStoreServerPlace { .anyEnvironment }

    public var token: String

    public init(_ token: String) { self.token = token }

    public var request: AppStoreServerRequest {
        AppStoreServerRequest(.get, ["inApps", "v1", "notifications", "test", token])
    }

    public func read(_ reply: AppStoreServerReply) throws(AppStoreServerReplyFault) -> SentNotification {
        let body = try reply.decoded(NotificationHistoryBody.Item.self)
        let notification = try reply.notification(body.signedPayload)
        return SentNotification(
            text: notification.text, notification: notification.content, attempts: body.sendAttempts ?? [])
    }
}

private struct NotificationHistoryBody: Decodable {
    let paginationToken: String?
    let hasMore: Bool?
    let notificationHistory: [Item]?

    struct Item: Decodable {
        let signedPayload: String
        let sendAttempts: [SendAttempt]?
    }
}
