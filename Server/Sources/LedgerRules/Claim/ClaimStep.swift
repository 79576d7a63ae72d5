import PurchaseVerification

/// The decision about the claim of one purchase. It reads nothing: what it does not know yet, it names, and is asked
/// again.
package struct ClaimStep {
    package let statement: ClaimStatement
    package let order: OrderRole

    package init(_ statement: ClaimStatement, order: OrderRole = .none) {
        (self.statement, self.order) = (statement, order)
    }

    /// What an order means for the claim.
    package enum OrderRole {
        /// The claim names none, so the purchase has to give access now.
        case none
        /// The order that the claim names: its refusal is that of the claim.
        case ofClaim
        /// The order of a row of an import: the purchase is accepted or not whatever becomes of the order.
        case ofRow
    }

    /// What is needed next.
    package enum Need: Equatable { case owner, purchase, order }

    package enum Decision {
        case needs(Need)
        case decided(ClaimVerdict)
    }

    /// Whether the claim affects the owner.
    package var binds: Bool { ClaimRules.statement.refusal(of: statement) == nil && statement.binds }

    /// Decides the claim, as far as its situation is known.
    package func decide(_ situation: ClaimSituation, at now: Timestamp) -> Decision {
        if let refusal = ClaimRules.statement.refusal(of: statement) { return refused(refusal) }
        guard let owner = situation.owner else { return .needs(.owner) }
        if let refusal = ClaimRules.owner.refusal(of: owner) { return refused(refusal) }
        guard let purchase = situation.purchase else { return .needs(.purchase) }
        let standing = ClaimStanding(
            purchase: purchase, proven: statement.proven, app: statement.app, entitlement: situation.entitlement,
            now: now)
        let withdrawal = ClaimRules.purchase.refusal(of: standing)
        var verdict = ClaimVerdict(refusal: withdrawal, hasPurchase: purchase.isHad)
        if order != .ofClaim { verdict.refusal = withdrawal ?? ClaimRules.access.refusal(of: standing) }
        guard order != .none else { return .decided(verdict) }
        guard let terms = situation.order else { return .needs(.order) }
        let mismatch = ClaimRules.order.refusal(of: OrderMatch(terms: terms, purchase: purchase))
        if order == .ofClaim {
            verdict.refusal = withdrawal ?? mismatch?.aboutOrder
        } else if !purchase.hasPaidOrder {
            // What an earlier purchase paid stays paid, whatever became of the purchase since.
            verdict.orderRefusal = withdrawal ?? mismatch
        }
        verdict.pays = withdrawal == nil && mismatch == nil && !purchase.hasPaidOrder
        return .decided(verdict)
    }

    private func refused(_ refusal: Rejection) -> Decision {
        .decided(ClaimVerdict(refusal: refusal, orderRefusal: order == .ofRow ? refusal : nil))
    }
}
