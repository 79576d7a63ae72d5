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
