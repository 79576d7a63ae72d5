import PurchaseVerification

/// An event and its cursor.
public struct StoredEvent: Sendable, Equatable {
    /// The cursor after this event.
    public var cursor: Int64
    public var content: EventContent

    public var type: String { content.type }
}
