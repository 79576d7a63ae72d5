/// Whether a customer is a tester, for whom sandbox purchases count.
public struct TesterMessage: Codable, Sendable, Equatable {
    public var customerID: String
    /// The customer into whom they were merged; absent if they were not.
    public var mergedInto: String?
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
        case mergedInto = "merged_into"
    }
}
