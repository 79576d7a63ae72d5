public import PurchaseVerification

/// A webhook as operators see it.
public struct WebhookStatus: Sendable, Equatable {
    /// What it gets.
    public var stream: WebhookStream
    public var url: String
    /// The last event up to which every event was delivered or is listed below.
    public var cursor: Int64
    /// The events after the cursor, counted up to `WebhookList.behindLimit`.
    public var behind: Int
    /// The events to be attempted again, and those that wait behind them.
    public var pending: Int
    /// The events that were given up.
    public var dead: [DeadDelivery]
    public var disabledAt: Timestamp?
    public var disabledReason: String?
}
