/// The account token of a customer.
public struct AccountTokenMessage: Codable, Sendable, Equatable {
    public var customerID: String
    /// The customer into whom they were merged; absent if they were not.
    public var mergedInto: String?
    public var appAccountToken: String
    /// Whether the token named the customer before.
    public var replayed: Bool

    /// A token of a customer.
    public init(customerID: String, appAccountToken: String, replayed: Bool) {
        self.customerID = customerID
        self.appAccountToken = appAccountToken
        self.replayed = replayed
    }

    enum CodingKeys: String, CodingKey {
        case replayed
        case customerID = "customer_id"
        case mergedInto = "merged_into"
        case appAccountToken = "app_account_token"
    }
}
