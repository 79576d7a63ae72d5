import PurchaseVerification

/// The rules for claims, in their order: the first one that objects gives the claim its code (docs/ledger.md, "The
/// rules of a claim").
///
/// Claims, restores, imports and the audit use the same rules. A stage is a part of the list that knows more than the
/// part before it.
package enum ClaimRules {
    package enum Stage: String, CaseIterable {
        case evidence, parties, proof, statement, owner, purchase, order, access
    }

    /// The codes of all rules in their order. The code of the core is `nil`.
    package static var codes: [(stage: Stage, code: DecisionCode?)] {
        Stage.allCases.flatMap { stage in
            let codes =
                switch stage {
                case .evidence: evidence.map(\.code)
                case .parties: parties.map(\.code)
                case .proof: proof.map(\.code)
                case .statement: statement.map(\.code)
                case .owner: owner.map(\.code)
                case .purchase: purchase.map(\.code)
                case .order: order.map(\.code)
                case .access: access.map(\.code)
                }
            return codes.map { (stage, $0) }
        }
    }

    /// Whether the evidence is genuine, and the app's settings accept it.
    package static let evidence: [ClaimRule<ClaimedEvidence>] = [
        ClaimRule(ofCore: \.failure), ClaimRule(ofCore: \.objection),
    ]

    /// Whether the order that the claim names is the customer's.
    package static let parties: [ClaimRule<NamedParties>] = [
        ClaimRule(.orderOfAnotherCustomer) { $0.isOrderOfAnother ? .init() : nil },
        ClaimRule(.orderUnknown) { $0.hasCustomer ? nil : .init(expected: $0.orderID) },
    ]

    /// Whether the evidence of the claim itself proves a transaction. Facts that the ledger already knows prove nothing
    /// here.
    package static let proof: [ClaimRule<ClaimedEvidence>] = [
        ClaimRule(.noPurchases) { $0.proven.isEmpty && $0.isEmptyReceipt ? .init() : nil },
        ClaimRule(.evidenceNotAPurchase) {
            $0.provesTransactions
                ? nil : .init(expected: "evidence of a transaction", found: $0.kind?.rawValue)
        },
        ClaimRule(.transactionNotFound) { $0.proven.isEmpty ? .init(expected: $0.transactionID) : nil },
    ]

    /// Whether the claim agrees with its own evidence. A claim that does not never binds.
    package static let statement: [ClaimRule<ClaimStatement>] = [
        ClaimRule(.purchaseErased) { $0.isErased ? .init() : nil },
        ClaimRule(.productMismatch) { statement in
            guard let productID = statement.claim.productID, statement.proven.productID != ExactText(productID)
            else { return nil }
            return .init(expected: productID, found: statement.proven.productID?.string)
        },
        ClaimRule(.quantityMismatch) { statement in
            guard let quantity = statement.claim.quantity, quantity != statement.proven.quantity else { return nil }
            return .init(expected: "\(quantity)", found: "\(statement.proven.quantity)")
        },
    ]

    /// Whether the customer owns the purchase.
    package static let owner: [ClaimRule<ClaimedOwner>] = [
        ClaimRule(.purchaseErased) { $0.isOfErasedCustomer ? .init() : nil },
        ClaimRule(.signedTransactionNeeded) {
            $0.owner == nil && $0.app.requiresSignedTransaction && !$0.app.requiresAccountToken
                ? .init(expected: "a signed transaction") : nil
        },
        ClaimRule(.accountTokenNeeded) {
            $0.owner == nil ? .init(expected: "a signed transaction with an account token of the customer") : nil
        },
        ClaimRule(.appAccountTokenMismatch) { claim in
            guard claim.owner != claim.customer, let tokenOwner = claim.tokenOwner, tokenOwner != claim.customer
            else { return nil }
            return .init(found: claim.facts.accountToken?.description)
        },
        ClaimRule(.alreadyClaimed) { $0.owner != $0.customer ? .init(.anotherCustomer) : nil },
    ]

    /// Whether the purchase counts under the settings, and neither Apple nor an operator withdrew it. Evidence that
    /// does not show a withdrawal itself is older than the known facts.
    static let purchase: [ClaimRule<ClaimStanding>] = [
        ClaimRule(.productKindMismatch) { claim in
            guard claim.purchase.kind == nil, let productID = claim.purchase.facts.productID?.string,
                let product = claim.app.product(productID), let stated = claim.purchase.facts.kind,
                stated != product.kind
            else { return nil }
            return .init(expected: product.kind.rawValue, found: stated.rawValue)
        },
        ClaimRule(.productUnknown) {
            $0.purchase.kind == nil ? .init(found: $0.purchase.facts.productID?.string) : nil
        },
        ClaimRule(.purchaseWithdrawn) { claim in
            guard let withdrawal = claim.purchase.wholeWithdrawal, claim.proven.withdrawal == nil else { return nil }
            return .init(found: "\(withdrawal.date)")
        },
        ClaimRule(.purchaseRevoked) { claim in
            guard let withdrawal = claim.purchase.wholeWithdrawal, withdrawal.cause == .revoked else { return nil }
            return .init(found: "\(withdrawal.date)")
        },
        ClaimRule(.purchaseCancelled) { claim in
            claim.purchase.wholeWithdrawal.map { .init(found: "\($0.date)") }
        },
        ClaimRule(.purchaseWithdrawn) {
            $0.purchase.isRevokedByHand ? .init(found: NoAccessReason.revokedByHand.rawValue) : nil
        },
    ]

    /// Whether the purchase pays the named order. Payment decides about an order, so it does not matter whether the
    /// paid time has ended.
    static let order: [ClaimRule<OrderMatch>] = [
        ClaimRule(.productMismatch) { match in
            guard match.facts.productID != match.terms.productID else { return nil }
            return .init(expected: match.terms.productID.string, found: match.facts.productID?.string)
        },
        ClaimRule(.quantityMismatch) { match in
            guard match.facts.quantity != match.terms.quantity else { return nil }
            return .init(expected: "\(match.terms.quantity)", found: "\(match.facts.quantity)")
        },
        ClaimRule(.orderEnvironmentMismatch) { match in
            guard !match.terms.environments.contains(match.facts.key.environment) else { return nil }
            return .init(expected: match.terms.expectedEnvironments, found: match.facts.key.environment.name)
        },
        ClaimRule(.orderAlreadyPaid) { $0.isPaidByAnother ? .init() : nil },
        ClaimRule(.orderCancelled) { $0.terms.status == .cancelled ? .init() : nil },
        ClaimRule(.orderRefunded) { $0.terms.status == .refunded ? .init() : nil },
        ClaimRule(.alreadyClaimed) { $0.isUnpaid && $0.purchase.hasPaidAnotherOrder ? .init(.anotherOrder) : nil },
        ClaimRule(.purchaseNotPaid) { $0.isUnpaid && !$0.purchase.isPaidFor ? .init() : nil },
        ClaimRule(.purchaseOutsideOrder) { match in
            guard match.isUnpaid, !(match.facts.purchaseDate.map(match.terms.contains) ?? false) else { return nil }
            return .init(
                expected: "a purchase from \(match.terms.createdAt) to \(match.terms.expiresAt)",
                found: match.facts.purchaseDate.map { "\($0)" })
        },
    ]

    /// Whether a purchase whose claim names no order gives its owner access now.
    static let access: [ClaimRule<ClaimStanding>] = [
        // A consumable is granted once, even if it has copies.
        ClaimRule(.alreadyClaimed) {
            $0.purchase.kind == .consumable && $0.purchase.isCopy ? .init(.restoredCopy) : nil
        },
        ClaimRule(.purchaseUpgraded) { claim in
            claim.purchase.facts.upgradedAt.map { .init(found: "\($0)") }
        },
        ClaimRule(.subscriptionExpired) { claim in
            claim.isOver ? claim.expired(claim.purchase.facts.end) : nil
        },
        ClaimRule(.periodUnknown) {
            $0.reason == .periodUnknown ? .init(expected: "evidence that states the end of the period") : nil
        },
        ClaimRule(.purchaseWithdrawn) { claim in
            guard let reason = claim.reason, [.revoked, .familyRevoked, .cancelled, .revokedByHand].contains(reason)
            else { return nil }
            return .init(found: reason.rawValue)
        },
        ClaimRule(.purchaseUpgraded) { claim in
            guard let reason = claim.reason, [.upgraded, .superseded].contains(reason) else { return nil }
            return .init(found: reason.rawValue)
        },
        ClaimRule(.subscriptionExpired) { claim in
            claim.reason == nil ? nil : claim.expired(claim.entitlement?.until ?? claim.purchase.facts.end)
        },
    ]
}

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
