/// The App Store withdrew a purchase: a refund, a revocation or a cancellation.
public struct WithdrawalMessage: Codable, Sendable, Equatable {
    /// From when on.
    public var at: String
    /// The number of withdrawn units.
    public var units: Int64
    public var reason: Reason

    /// A withdrawal by its parts.
    public init(at: String, units: Int64, reason: Reason) {
        self.at = at
        self.units = units
        self.reason = reason
    }

    enum CodingKeys: String, CodingKey {
        case at, units, reason
    }
}

extension WithdrawalMessage {
    /// The evidence that proves it.
    public struct Reason: WireEnumeration {
        public let rawValue: String

        public init(rawValue: String) { self.rawValue = rawValue }

        /// The cancellation date of a receipt.
        public static let cancelled = Reason(rawValue: "cancelled")
        /// The revocation of a signed transaction.
        public static let revoked = Reason(rawValue: "revoked")
    }
}
