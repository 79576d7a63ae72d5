/// How long the server's last answer counts without a newer one. The kit asks for a newer one once a day.
public struct OfflineLimit: Sendable, Equatable {
    /// For what has an end, in seconds; never beyond that end, of which a grace period is part.
    public var subscriptions: Double
    /// For what has no end, in seconds; `nil` for ever.
    public var others: Double?

    /// The usual limits: 30 days for what has an end, and none for the rest.
    public init(subscriptions: Double = 30 * 86_400, others: Double? = nil) {
        self.subscriptions = subscriptions
        self.others = others
    }
}
