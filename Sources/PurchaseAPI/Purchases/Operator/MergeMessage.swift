/// A customer was merged into another.
public struct MergeMessage: Codable, Sendable, Equatable {
    /// The customer who was merged into another.
    public var customerID: String
    /// The customer who remains.
    public var into: String
    /// The reason; it is recorded.
    public var reason: String?

    /// A merge by its parts.
    public init(customerID: String, into: String, reason: String? = nil) {
        self.customerID = customerID
        self.into = into
        self.reason = reason
    }

    enum CodingKeys: String, CodingKey {
        case into, reason
        case customerID = "customer_id"
    }
}
