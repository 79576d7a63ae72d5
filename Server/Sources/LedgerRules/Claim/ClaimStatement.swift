/// A claim of one transaction, with the statement of its own evidence about it.
package struct ClaimStatement {
    /// The fields of the claim; none if every purchase of the evidence is claimed.
    package var claim: ClaimFields
    package let proven: ObservedTransaction
    package let source: EvidenceSource
    package let app: RegisteredApp
    /// The claimant.
    package let customer: Int64
    /// The account token in the claim's evidence, or the one that the App Store stated.
    package var token: AppAccountToken?
    /// The customer of that token; `nil` if it is not known.
    package var tokenOwner: Int64?
    /// Whether the transaction belonged to an erased customer.
    package var isErased = false

    package init(
        _ claim: ClaimFields = ClaimFields(), of proven: ObservedTransaction, _ source: EvidenceSource,
        by customer: Int64, _ app: RegisteredApp
    ) {
        (self.claim, self.proven, self.source, self.customer, self.app) = (claim, proven, source, customer, app)
    }

    /// Whether a claim with such evidence affects the owner, whatever its outcome: an expired, withdrawn or sandbox
    /// purchase still belongs to somebody.
    ///
    /// A token of another customer prevents binding and refuses nothing: the purchase may have been transferred to the
    /// claimant, and still carries its former owner's token. An unknown token counts as absent. With
    /// `require_signed_transaction`, claims with receipts do not bind, and with `require_account_token`, claims without
    /// a token of the customer.
    package var binds: Bool {
        guard isOfToken, !app.requiresAccountToken || tokenOwner == customer else { return false }
        return !app.requiresSignedTransaction || source == .signedData || token != nil
    }

    /// Whether the account token in the evidence lets the claim bind.
    package var isOfToken: Bool { tokenOwner.map { $0 == customer } ?? true }
}
