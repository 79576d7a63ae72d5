/// The owner of a claimed transaction.
struct ClaimedOwner {
    /// The claimant.
    let customer: Int64
    /// The owner of the transaction, with this claim.
    let owner: Int64?
    /// The customer of the account token of the facts; `nil` if it is not known.
    let tokenOwner: Int64?
    /// Whether it belongs to another customer, who was erased.
    let isOfErasedCustomer: Bool
    let facts: ObservedTransaction
    let app: RegisteredApp
}
