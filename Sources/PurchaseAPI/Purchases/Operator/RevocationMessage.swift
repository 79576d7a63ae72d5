/// A revocation by an operator.
public struct RevocationMessage: Codable, Sendable, Equatable {
    /// Lifts it: `DELETE /v1/customers/{id}/revocations/{revocation_id}`.
    public var revocationID: String
    public var customerID: String
    /// The customer into whom they were merged; absent if they were not.
    public var mergedInto: String?
    public var transactionID: String?
    public var grantID: String?
    /// The reason; it is recorded.
    public var reason: String

    /// A revocation by its parts.
    public init(
        revocationID: String, customerID: String, transactionID: String? = nil, grantID: String? = nil, reason: String
    ) {
        self.revocationID = revocationID
        self.customerID = customerID
        self.transactionID = transactionID
        self.grantID = grantID
        self.reason = reason
    }

    enum CodingKeys: String, CodingKey {
        case reason
        case revocationID = "revocation_id"
        case customerID = "customer_id"
        case mergedInto = "merged_into"
        case transactionID = "transaction_id"
        case grantID = "grant_id"
    }
}
