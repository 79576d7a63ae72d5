/// The claim of one purchase, and its outcome.
struct PurchaseClaim {
    let step: ClaimStep
    /// The position of the transaction in the histories.
    let place: (history: Int, record: Int)
    /// Whether the purchase had no owner before.
    let isFirst: Bool
    var binds = false
    /// Whether the same customer claimed the transaction before, whatever became of that claim.
    var isReplayed = false
    var verdict = ClaimVerdict()
    /// The customer's entitlement to the product, before `sandbox_access` is applied.
    var entitlement: UncountedEntitlement?

    /// The statement of the claim's own evidence.
    var proven: ObservedTransaction { step.statement.proven }
    /// Why it is refused; `nil` if it is accepted.
    var refusal: Rejection? { verdict.refusal }
    var hasPurchase: Bool { verdict.hasPurchase }
    /// Whether it is accepted, and gives the purchase its first owner.
    var isFirstGrant: Bool { isFirst && refusal == nil }
    /// `accepted`, or the code of the refusal.
    var code: String { refusal?.code ?? DecisionCode.accepted.rawValue }
}
