/// `POST /v1/subscriptions/{original}/extensions`: asks Apple to extend a subscription.
public struct ExtensionRequest: Codable, Sendable, Equatable {
    /// Identifies the request, also for Apple: a repeated one answers with the first. At most 128 bytes.
    public var requestID: String
    /// 1 to 90.
    public var days: Int64
    /// Apple's reason: `undeclared` (the default), `customer_satisfaction`, `service_issue` or `other`.
    public var extensionReason: String?
    /// The operator's reason, for the record.
    public var reason: String
    /// The environment of the subscription, if there are several of this id.
    public var environment: EnvironmentName?

    public init(
        requestID: String, days: Int64, extensionReason: String? = nil, reason: String,
        environment: EnvironmentName? = nil
    ) {
        (self.requestID, self.days, self.extensionReason, self.reason) = (requestID, days, extensionReason, reason)
        self.environment = environment
    }

    enum CodingKeys: String, CodingKey {
        case days, reason, environment
        case requestID = "request_id"
        case extensionReason = "extension_reason"
    }
}

extension ExtensionRequest: RequestMessage {
    public init(members: inout RequestMembers) {
        requestID = members.identifier(CodingKeys.requestID)
        let days = members.number(CodingKeys.days, in: 1...90)
        if days == nil { members.miss(CodingKeys.days.rawValue) }
        self.days = days ?? 1
        extensionReason = members.text(CodingKeys.extensionReason)
        reason = members.reason(CodingKeys.reason)
        environment = members.optionalIdentifier(CodingKeys.environment).map(EnvironmentName.init(rawValue:))
    }
}
