/// `POST /v1/subscriptions/{original}/seats`: gives a seat of a subscription to a customer.
public struct SeatRequest: Codable, Sendable, Equatable {
    /// The member.
    public var customerID: String
    /// Identifies the request: a repeated one answers with the seat of the first.
    public var requestID: String
    /// The member's download of the app (Apple, "appTransactionId").
    public var appTransactionID: String?
    /// The App Store's `seatClaimId`, if the App Store was asked for it; otherwise the server makes an id.
    public var seatID: String?
    /// The environment of the subscription, if there are several of this id.
    public var environment: EnvironmentName?

    /// A claim of a seat.
    public init(
        customerID: String, requestID: String, appTransactionID: String? = nil, seatID: String? = nil,
        environment: EnvironmentName? = nil
    ) {
        (self.customerID, self.requestID, self.appTransactionID) = (customerID, requestID, appTransactionID)
        (self.seatID, self.environment) = (seatID, environment)
    }

    enum CodingKeys: String, CodingKey {
        case environment
        case customerID = "customer_id"
        case requestID = "request_id"
        case appTransactionID = "app_transaction_id"
        case seatID = "seat_id"
    }
}

extension SeatRequest: RequestMessage {
    public init(members: inout RequestMembers) {
        customerID = members.identifier(CodingKeys.customerID)
        requestID = members.identifier(CodingKeys.requestID)
        appTransactionID = members.optionalIdentifier(CodingKeys.appTransactionID)
        seatID = members.optionalIdentifier(CodingKeys.seatID)
        environment = members.optionalIdentifier(CodingKeys.environment).map(EnvironmentName.init(rawValue:))
    }
}
