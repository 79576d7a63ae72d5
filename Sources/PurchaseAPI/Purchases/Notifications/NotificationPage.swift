/// `GET /v1/notifications`: a page of notifications, the newest first.
public struct NotificationPage: Codable, Sendable, Equatable {
    public var notifications: [NotificationMessage]
    /// The parameter `cursor` of the next request; absent on the last page.
    public var nextCursor: String?

    /// A page.
    public init(notifications: [NotificationMessage], nextCursor: String? = nil) {
        self.notifications = notifications
        self.nextCursor = nextCursor
    }

    enum CodingKeys: String, CodingKey {
        case notifications
        case nextCursor = "next_cursor"
    }
}
