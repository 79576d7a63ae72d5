/// What Apple is told about the use of a purchase (Apple, "ConsumptionRequest"). It is only made with the customer's
/// consent.
public struct ConsumptionAnswer: Sendable, Equatable, Codable {
    /// Whether it was delivered; otherwise Apple is told that it was not, for a reason that has no name of its own.
    public var isDelivered: Bool
    /// The used part in thousandths of a percent, from 0 to 100,000; `nil` if it is not measured, and for
    /// auto-renewable subscriptions, of which Apple takes none.
    public var percentage: Int64?
    public var preference: PreferredRefund
    public var providesSample: Bool

    /// An answer by its parts.
    public init(isDelivered: Bool, percentage: Int64?, preference: PreferredRefund, providesSample: Bool) {
        self.isDelivered = isDelivered
        self.percentage = percentage
        self.preference = preference
        self.providesSample = providesSample
    }
}
