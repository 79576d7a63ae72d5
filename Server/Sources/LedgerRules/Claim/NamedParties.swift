/// What became of the customer and the order that a claim names.
package struct NamedParties {
    /// The order that the claim names.
    package var orderID: String?
    /// Whether the order belongs to another customer than the one that the claim names.
    package var isOrderOfAnother = false
    /// Whether the claim has a customer, named or by its order.
    package var hasCustomer: Bool

    package init(orderID: String?, isOrderOfAnother: Bool, hasCustomer: Bool) {
        (self.orderID, self.isOrderOfAnother, self.hasCustomer) = (orderID, isOrderOfAnother, hasCustomer)
    }
}
