/// A subscription of a customer, for one product.
public struct SubscriptionMessage: Codable, Sendable, Equatable {
    public var originalTransactionID: String
    /// What this subscription alone gives the customer.
    public var entitlement: EntitlementMessage
    /// The seat that the customer claimed; absent if they own the subscription.
    public var seat: SeatMessage?

    /// A subscription by its parts.
    public init(originalTransactionID: String, entitlement: EntitlementMessage, seat: SeatMessage? = nil) {
        self.originalTransactionID = originalTransactionID
        self.entitlement = entitlement
        self.seat = seat
    }

    enum CodingKeys: String, CodingKey {
        case entitlement, seat
        case originalTransactionID = "original_transaction_id"
    }
}
