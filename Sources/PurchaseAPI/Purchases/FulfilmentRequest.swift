/// `POST /v1/orders/{id}/fulfil`: the delivery of an order, or of some of its units.
public struct FulfilmentRequest: Codable, Sendable, Equatable {
    /// The number of units to deliver; at most the remaining ones are taken. The default is the whole order.
    public var units: Int64?

    /// A fulfilment of the whole order, or of some units.
    public init(units: Int64? = nil) { self.units = units }

    enum CodingKeys: String, CodingKey {
        case units
    }
}

extension FulfilmentRequest: RequestMessage {
    public init(members: inout RequestMembers) {
        units = members.quantity(CodingKeys.units)
    }
}
