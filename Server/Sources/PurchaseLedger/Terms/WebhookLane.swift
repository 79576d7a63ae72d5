public import PurchaseVerification

/// Deliveries that must be made in order.
public enum WebhookLane: Sendable, Hashable {
    /// The events of a customer, by the customer's key; those of an original that nobody owns, by its negative key; 0
    /// for the others.
    case customer(Int64)
    /// An event that an operator resends.
    case resend(event: Int64)
}

/// The messages that a webhook gets.
public enum WebhookStream: Sendable, Hashable {
    /// The events of the app.
    case events
    /// The notifications of the app in an environment, with the bodies that the App Store sent (`forward:` in the
    /// settings).
    case notifications(AppStoreEnvironment)
}

/// The state of an event that was not delivered at the first attempt, or waits behind such an event.
public enum WebhookDeliveryState: String, Sendable, CaseIterable {
    /// It waits behind an earlier event of its customer.
    case waiting
    /// It will be attempted again.
    case retry
    /// It was given up; a `gap` precedes the customer's next event.
    case gap
    /// It was given up. It stays in the list until it is resent.
    case dead
    /// An operator resends it, out of order.
    case resend
}

/// An event that has a row of its own, because an attempt failed or it waits behind one that did.
public struct PendingDelivery: Sendable, Equatable {
    public var event: OutgoingEvent
    public var state: WebhookDeliveryState
    /// The attempts that failed.
    public var attempts: Int
    /// The first attempt; `nil` if there was none.
    public var firstAt: Timestamp?
}

/// An event or a notification that was given up after its last attempt.
public struct DeadDelivery: Sendable, Equatable {
    /// Its number among all events; of a notification, the number of its entry.
    public var event: Int64
    /// The id of its message; of a notification, that of its entry.
    public var id: String
    public var type: String
    public var attempts: Int
    public var firstAt: Timestamp?
    public var lastError: String?
}

/// The results of the deliveries of a lane.
public struct LaneOutcome: Sendable, Equatable {
    public var lane: WebhookLane
    /// The events that no longer need a row.
    public var delivered: [Int64]
    /// The events that were not delivered, or were given up.
    public var undelivered: [UndeliveredEvent]

    /// Creates the outcome of a lane.
    public init(lane: WebhookLane, delivered: [Int64] = [], undelivered: [UndeliveredEvent] = []) {
        (self.lane, self.delivered, self.undelivered) = (lane, delivered, undelivered)
    }
}
