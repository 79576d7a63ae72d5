/// The outcome of the claim of one purchase.
package struct ClaimVerdict: Equatable {
    /// Why it is refused; `nil` if it is accepted.
    package var refusal: Rejection?
    /// Why the order of a row of an import is refused.
    package var orderRefusal: Rejection?
    /// Whether the customer owns the purchase, and neither Apple nor an operator withdrew it.
    package var hasPurchase = false
    /// Whether the purchase pays the order now.
    package var pays = false

    package init(
        refusal: Rejection? = nil, orderRefusal: Rejection? = nil, hasPurchase: Bool = false, pays: Bool = false
    ) {
        (self.refusal, self.orderRefusal, self.hasPurchase, self.pays) = (refusal, orderRefusal, hasPurchase, pays)
    }
}
