/// A purchase has a new owner.
public struct MoveMessage: Codable, Sendable, Equatable {
    public var transactionID: String
    /// The new owner.
    public var customerID: String
    /// The customer into whom the new owner was merged; absent if they were not.
    public var mergedInto: String?
    /// The former owner; absent if there was none.
    public var formerCustomerID: String?
    /// The reason; it is recorded.
    public var reason: String

    /// A transfer by its parts.
    public init(transactionID: String, customerID: String, formerCustomerID: String? = nil, reason: String) {
        self.transactionID = transactionID
        self.customerID = customerID
        self.formerCustomerID = formerCustomerID
        self.reason = reason
    }

    enum CodingKeys: String, CodingKey {
        case reason
        case transactionID = "transaction_id"
        case customerID = "customer_id"
        case mergedInto = "merged_into"
        case formerCustomerID = "former_customer_id"
    }
}
