/// What became of the customer and the order that a claim names.
struct NamedParties {
    /// The order that the claim names.
    var orderID: String?
    /// Whether the order belongs to another customer than the one that the claim names.
    var isOrderOfAnother = false
    /// Whether the claim has a customer, named or by its order.
    var hasCustomer: Bool
}
