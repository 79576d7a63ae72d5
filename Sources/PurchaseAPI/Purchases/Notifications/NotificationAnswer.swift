/// The answer to a notification, after it was committed. The App Store reads only the status.
public struct NotificationAnswer: Codable, Sendable, Equatable {
    /// The journal entry of the notification.
    public var entryID: String
    /// Whether it was received before.
    public var repeated: Bool

    /// An answer.
    public init(entryID: String, repeated: Bool) {
        self.entryID = entryID
        self.repeated = repeated
    }

    enum CodingKeys: String, CodingKey {
        case repeated
        case entryID = "entry_id"
    }
}
