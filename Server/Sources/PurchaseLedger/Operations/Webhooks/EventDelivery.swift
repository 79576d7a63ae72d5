/// How far an event is delivered to a webhook.
public struct EventDelivery: Sendable, Equatable {
    /// Whether it arrived.
    public enum State: Sendable {
        /// The receiver accepted it, or it is older than the webhook.
        case delivered
        /// It was not attempted yet, or will be attempted again.
        case waiting
        /// It was given up.
        case givenUp
    }

    public var event: Int64
    public var url: String
    public var state: State
    /// The attempts that failed.
    public var attempts = 0
    /// Why the last attempt failed.
    public var lastError: String?
}
