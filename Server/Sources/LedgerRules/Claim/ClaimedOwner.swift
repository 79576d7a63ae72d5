/// The owner of a claimed transaction.
package struct ClaimedOwner {
    /// The claimant.
    package let customer: Int64
    /// The owner of the transaction, with this claim.
    package var owner: Int64?
    /// The customer of the account token of the facts; `nil` if it is not known.
    package var tokenOwner: Int64?
    /// Whether it belongs to another customer, who was erased.
    package var isOfErasedCustomer = false
    package let facts: ObservedTransaction
    package let app: RegisteredApp

    package init(_ owner: Int64?, of facts: ObservedTransaction, claimedBy customer: Int64, _ app: RegisteredApp) {
        (self.owner, self.facts, self.customer, self.app) = (owner, facts, customer, app)
    }
}
