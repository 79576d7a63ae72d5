import PurchaseVerification

/// An event, or a notification, to be delivered to a webhook.
public struct OutgoingEvent: Sendable, Equatable {
    /// Its position among all events; of a notification, its entry.
    public var key: Int64
    /// The customer's key, the negative key of an original that nobody owns, or 0. Notifications do not wait for each
    /// other, so each has its own entry here.
    public var customer: Int64
    /// The id of its message, the same for each attempt and each webhook.
    public var id: String
    public var content: Content
    /// Whether it is delivered. Events of an import are skipped unless they are announced, and so are notifications of
    /// other environments.
    public var isAnnounced = true

    /// What is delivered.
    public enum Content: Sendable, Equatable {
        case event(EventContent)
        /// The body of the App Store's request; `nil` after an erasure.
        case notification(body: [UInt8]?)
    }

    /// Whether it is a notification.
    public var isNotification: Bool {
        if case .notification = content { true } else { false }
    }

    package init(key: Int64, customer: Int64, id: String, content: Content, isAnnounced: Bool = true) {
        (self.key, self.customer, self.id, self.content) = (key, customer, id, content)
        self.isAnnounced = isAnnounced
    }
}
