import PurchaseVerification

/// `order_created`.
struct OrderCreatedDetails: JournalDetails {
    static var kind: JournalKind { .orderCreated }
    var customer: String
    var productID: String
    var quantity: Int64
    var environment: String?
    /// Whether an automatic renewal pays it; `nil` for `false`.
    var acceptsRenewal: Bool?
    var token: String
    /// Whether the token is new and is assigned to the customer by this order.
    var assignsToken: Bool
    var metadata: String?
    var expiresAt: Int64
}
