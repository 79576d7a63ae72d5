/// A subscription of a customer, for one product.
public struct SubscriptionMessage: Codable, Sendable, Equatable {
    public var originalTransactionID: String
    /// What this subscription alone gives the customer.
    public var entitlement: EntitlementMessage
    /// The seat that the customer claimed; absent if they own the subscription.
    public var seat: SeatMessage?

    public init(originalTransactionID: String, entitlement: EntitlementMessage, seat: SeatMessage? = nil) {
        (self.originalTransactionID, self.entitlement, self.seat) = (originalTransactionID, entitlement, seat)
    }

    enum CodingKeys: String, CodingKey {
        case entitlement, seat
        case originalTransactionID = "original_transaction_id"
    }
}

/// `GET /v1/customers/{id}/subscriptions`
public struct SubscriptionList: Codable, Sendable, Equatable {
    public var customerID: String
    /// The customer into whom they were merged; absent if they were not.
    public var mergedInto: String?
    /// One for each subscription and product that is or was the customer's, or of which they claimed a seat.
    public var subscriptions: [SubscriptionMessage]
    /// What became of `refresh=true`: `answered`, `unanswered`, `not_configured` or `no_subscription`; otherwise
    /// absent.
    public var refresh: String?

    /// The subscriptions of a customer.
    public init(
        customerID: String, mergedInto: String? = nil, subscriptions: [SubscriptionMessage], refresh: String? = nil
    ) {
        (self.customerID, self.mergedInto, self.subscriptions) = (customerID, mergedInto, subscriptions)
        self.refresh = refresh
    }

    enum CodingKeys: String, CodingKey {
        case subscriptions, refresh
        case customerID = "customer_id"
        case mergedInto = "merged_into"
    }
}
