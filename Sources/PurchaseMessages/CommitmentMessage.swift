/// The commitment of a subscription that is paid in several billing periods, as the App Store signed it. A member that
/// it did not sign is absent.
public struct CommitmentMessage: Codable, Sendable, Equatable {
    /// The number of the billing period, from 1.
    public var period: Int64?
    /// The billing periods of the commitment.
    public var periods: Int64?
    /// When the commitment ends.
    public var until: String?
    /// Whether another commitment follows.
    public var autoRenew: Bool?

    /// A commitment by its parts.
    public init(period: Int64? = nil, of periods: Int64? = nil, until: String? = nil, autoRenew: Bool? = nil) {
        self.period = period
        self.periods = periods
        self.until = until
        self.autoRenew = autoRenew
    }

    enum CodingKeys: String, CodingKey {
        case period, until
        case periods = "of"
        case autoRenew = "auto_renew"
    }
}
