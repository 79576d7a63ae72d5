public import PurchaseVerification

/// The next step for an event that was not delivered.
public struct UndeliveredEvent: Sendable, Equatable {
    public var eventKey: Int64
    public var customer: Int64
    public var state: WebhookDeliveryState
    public var attempts: Int
    public var firstAt: Timestamp?
    /// The next attempt; `nil` for an event that waits or was given up.
    public var nextAt: Timestamp?
    /// Why the last attempt failed, without URLs and secrets; `nil` keeps the recorded reason.
    public var lastError: String?

    /// Creates an event that waits behind another.
    public init(waiting event: OutgoingEvent) {
        (eventKey, customer, state, attempts) = (event.key, event.customer, .waiting, 0)
    }

    /// Creates an event after a failed attempt.
    public init(
        _ event: OutgoingEvent, _ state: WebhookDeliveryState, attempts: Int, firstAt: Timestamp?, nextAt: Timestamp?,
        lastError: String?
    ) {
        (eventKey, customer) = (event.key, event.customer)
        (self.state, self.attempts, self.firstAt, self.nextAt) = (state, attempts, firstAt, nextAt)
        self.lastError = lastError
    }
}
