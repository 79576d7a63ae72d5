/// `POST /v1/customers/{id}/grounds`: records that another shop gives a product to a customer.
public struct GroundRequest: Codable, Sendable, Equatable {
    /// The shop, such as `google_play` or `stripe`.
    public var source: String
    /// What the shop calls it, such as the id of a subscription. A repeated request has the same one.
    public var reference: String
    public var productID: String
    /// The default is Production.
    public var environment: EnvironmentName?
    /// When it ends; without it, it does not end.
    public var until: String?

    /// A ground by its parts.
    public init(
        source: String, reference: String, productID: String, environment: EnvironmentName? = nil, until: String? = nil
    ) {
        self.source = source
        self.reference = reference
        self.productID = productID
        self.environment = environment
        self.until = until
    }

    enum CodingKeys: String, CodingKey {
        case source, reference, environment, until
        case productID = "product_id"
    }
}

extension GroundRequest: RequestMessage {
    public init(members: inout RequestMembers) {
        source = members.identifier(CodingKeys.source)
        reference = members.identifier(CodingKeys.reference)
        productID = members.identifier(CodingKeys.productID)
        environment = members.optionalIdentifier(CodingKeys.environment).map(EnvironmentName.init(rawValue:))
        until = members.text(CodingKeys.until)
    }
}
