import PurchaseVerification

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
