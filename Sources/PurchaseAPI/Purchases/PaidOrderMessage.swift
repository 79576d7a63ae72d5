/// The order that a purchase paid. `GET /v1/orders/{id}` has all of it.
public struct PaidOrderMessage: Codable, Sendable, Equatable {
    public var orderID: String
    public var status: OrderMessage.Status

    /// An order and its state.
    public init(orderID: String, status: OrderMessage.Status) {
        self.orderID = orderID
        self.status = status
    }

    enum CodingKeys: String, CodingKey {
        case status
        case orderID = "order_id"
    }
}
