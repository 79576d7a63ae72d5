import PurchaseVerification

/// A rule for claims: a code, and the condition under which a claim is refused with it.
package struct ClaimRule<Subject>: Sendable {
    /// The code; `nil` if the core states it.
    package let code: DecisionCode?
    /// The refusal; `nil` if the rule does not object.
    package let refusal: @Sendable (Subject) -> Rejection?

    /// A rule whose condition gives the two facts that disagree.
    init(_ code: DecisionCode, _ conflict: @escaping @Sendable (Subject) -> Conflict?) {
        self.code = code
        refusal = { subject in
            conflict(subject).map { Rejection(code, expected: $0.expected, found: $0.found) }
        }
    }

    /// A rule with a code of the core.
    init(ofCore error: @escaping @Sendable (Subject) -> VerificationError?) {
        code = nil
        refusal = { error($0).map { Rejection($0) } }
    }

    /// The two facts that disagree.
    struct Conflict {
        var expected: String?
        var found: String?

        init(expected: String? = nil, found: String? = nil) { (self.expected, self.found) = (expected, found) }

        /// A conflict with an earlier claim.
        init(_ prior: PriorClaim) { found = prior.rawValue }
    }
}

extension Array {
    /// The refusal by the first rule that objects.
    package func refusal<Subject>(of subject: Subject) -> Rejection? where Element == ClaimRule<Subject> {
        for rule in self {
            if let refusal = rule.refusal(subject) { return refusal }
        }
        return nil
    }
}
