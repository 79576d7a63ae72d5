public import PurchaseVerification

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

/// Deliveries that must be made in order.
public enum WebhookLane: Sendable, Hashable {
    /// The events of a customer, by the customer's key; those of an original that nobody owns, by its negative key; 0
    /// for the others.
    case customer(Int64)
    /// An event that an operator resends.
    case resend(event: Int64)
}

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

/// An event or a notification that was given up after its last attempt.
public struct DeadDelivery: Sendable, Equatable {
    /// Its cursor in the list of events; of a notification, the number of its entry.
    public var event: Int64
    public var type: String
    public var attempts: Int
    public var firstAt: Timestamp?
    public var lastError: String?
}
