/// Whether a customer is a tester, for whom sandbox purchases count.
public struct TesterMessage: Codable, Sendable, Equatable {
    public var customerID: String
    public var tester: Bool
    /// Whether the customer already had this state.
    public var replayed: Bool

    /// A customer, and whether they are a tester.
    public init(customerID: String, tester: Bool, replayed: Bool) {
        self.customerID = customerID
        self.tester = tester
        self.replayed = replayed
    }

    enum CodingKeys: String, CodingKey {
        case tester, replayed
        case customerID = "customer_id"
    }
}
