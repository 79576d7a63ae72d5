/// Whether the evidence of a claim itself proves what is claimed. Only such a claim binds, whatever the state of the purchase:
/// expired, withdrawn or from the sandbox.
public enum ClaimProof: Sendable, Equatable {
    /// The claim binds. The facts are those of its own evidence, not of the ledger.
    case binds(ObservedTransaction)
    /// The evidence does not prove the transaction, even if the ledger knows it already.
    case transactionNotFound
    /// The transaction is of another product, which is named.
    case productMismatch(found: ExactText?)
    /// The transaction carries the account token of another customer.
    case tokenMismatch(CustomerNumber)

    /// Judges a claim.
    ///
    /// - Parameters:
    ///   - evidence: the facts that the evidence of the claim alone gives.
    ///   - tokens: the tokens known when the claim is judged; an unknown token counts as absent.
    ///   - merges: the merges of customers so far.
    public init(
        of transactionID: ExactText, product productID: ExactText?, by customer: CustomerNumber,
        evidence: [ObservedTransaction], tokens: TokenAssignments, merges: CustomerMerges = CustomerMerges()
    ) {
        guard let proven = evidence.first(where: { $0.key.transactionID == transactionID }) else {
            self = .transactionNotFound
            return
        }
        if let productID, proven.productID != productID {
            self = .productMismatch(found: proven.productID)
        } else if let named = tokens.customer(of: proven.accountToken).map(merges.resolve),
            named != merges.resolve(customer)
        {
            self = .tokenMismatch(named)
        } else {
            self = .binds(proven)
        }
    }
}
