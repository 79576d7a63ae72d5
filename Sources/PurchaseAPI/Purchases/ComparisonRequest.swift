/// `POST /v1/compare`: what another system says about a customer, as one object or as one line of NDJSON.
public struct ComparisonRequest: Codable, Sendable, Equatable {
    public var customerID: String
    /// The product; or `entitlement`.
    public var productID: String?
    /// A named entitlement of the settings; or `product_id`.
    public var entitlement: String?
    /// Whether the customer has access; it can be left out if `until` says it.
    public var active: Bool?
    /// The end of the access, a time or `unlimited`. If it is left out, ends are not compared.
    public var until: String?
    /// The environment that the answer is about; left out, every purchase that counts for the customer.
    public var environment: EnvironmentName?
    /// The time at which the answer was given; left out, now.
    public var asOf: String?
    /// The transaction, or original transaction, on which the answer rests.
    public var transactionID: String?

    /// The value of `until` for access without an end.
    public static let unlimited = "unlimited"

    /// An answer about a product.
    public init(customerID: String, productID: String? = nil, entitlement: String? = nil, active: Bool? = nil) {
        (self.customerID, self.productID, self.entitlement, self.active) = (customerID, productID, entitlement, active)
    }

    enum CodingKeys: String, CodingKey {
        case entitlement, active, until, environment
        case customerID = "customer_id"
        case productID = "product_id"
        case asOf = "as_of"
        case transactionID = "transaction_id"
    }
}

extension ComparisonRequest: RequestMessage {
    public init(members: inout RequestMembers) {
        customerID = members.identifier(CodingKeys.customerID)
        productID = members.optionalIdentifier(CodingKeys.productID)
        entitlement = members.optionalIdentifier(CodingKeys.entitlement)
        active = members.flag(CodingKeys.active)
        until = members.text(CodingKeys.until)
        environment = members.optionalIdentifier(CodingKeys.environment).map { EnvironmentName(rawValue: $0) }
        asOf = members.text(CodingKeys.asOf)
        transactionID = members.optionalIdentifier(CodingKeys.transactionID)
        switch (productID, entitlement) {
        case (nil, nil): members.miss("product_id or entitlement")
        case (.some, .some): members.refuse(CodingKeys.entitlement, "either product_id or entitlement")
        default: break
        }
        if active == nil, until == nil { members.miss("active or until") }
    }
}
