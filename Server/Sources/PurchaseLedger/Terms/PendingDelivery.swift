public import PurchaseVerification

/// An event that has a row of its own, because an attempt failed or it waits behind one that did.
public struct PendingDelivery: Sendable, Equatable {
    public var event: OutgoingEvent
    public var state: WebhookDeliveryState
    /// The attempts that failed.
    public var attempts: Int
    /// The first attempt; `nil` if there was none.
    public var firstAt: Timestamp?
}
