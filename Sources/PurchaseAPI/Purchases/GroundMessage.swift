/// A product that another shop gives to a customer.
public struct GroundMessage: Codable, Sendable, Equatable {
    /// Ends it: `DELETE /v1/customers/{id}/grounds/{ground_id}`.
    public var groundID: String
    /// The shop.
    public var source: String
    /// What the shop calls it.
    public var reference: String
    public var productID: String
    public var environment: EnvironmentName
    public var since: String
    /// When it ends; absent if it does not end.
    public var until: String?
    /// When your backend ended it.
    public var endedAt: String?
    /// Whether an earlier request recorded the same; only in the answer to a request.
    public var replayed: Bool?
    /// The customer into whom the one of the request was merged; absent if they were not, and in a list.
    public var mergedInto: String?

    public init(
        groundID: String, source: String, reference: String, productID: String, environment: EnvironmentName,
        since: String, until: String? = nil, endedAt: String? = nil
    ) {
        (self.groundID, self.source, self.reference, self.productID) = (groundID, source, reference, productID)
        (self.environment, self.since, self.until, self.endedAt) = (environment, since, until, endedAt)
    }

    enum CodingKeys: String, CodingKey {
        case source, reference, environment, since, until, replayed
        case groundID = "ground_id"
        case productID = "product_id"
        case endedAt = "ended_at"
        case mergedInto = "merged_into"
    }
}

/// What other shops gave to a customer, the newest first.
public struct GroundList: Codable, Sendable, Equatable {
    public var grounds: [GroundMessage]
    /// The customer into whom the one of the request was merged; absent if they were not.
    public var mergedInto: String?

    public init(grounds: [GroundMessage], mergedInto: String? = nil) {
        (self.grounds, self.mergedInto) = (grounds, mergedInto)
    }

    enum CodingKeys: String, CodingKey {
        case grounds
        case mergedInto = "merged_into"
    }
}

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

    public init(
        source: String, reference: String, productID: String, environment: EnvironmentName? = nil, until: String? = nil
    ) {
        (self.source, self.reference, self.productID, self.environment) = (source, reference, productID, environment)
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
