/// What is known about a claimed purchase; `nil` is not known yet.
package struct ClaimSituation {
    /// The owner, with this claim.
    package var owner: ClaimedOwner?
    package var purchase: ClaimedPurchase?
    /// The owner's entitlement to the product, known with the purchase; `nil` if there is none.
    package var entitlement: Entitlement?
    /// The terms of the order.
    package var order: OrderTerms?

    package init() {}
}
