import PurchaseVerification

/// The decisions about one claim: whether it binds, and its outcome. Both only look at what they are given.
enum ClaimDecision {
    /// Whether the claim's own evidence proves the transaction, and product and token agree. Then it decides about the owner,
    /// whatever its outcome: an expired, withdrawn or sandbox purchase still belongs to somebody.
    ///
    /// - Parameters:
    ///   - proven: what the claim's own evidence says.
    ///   - facts: the same transaction with everything that is known.
    ///   - tokenOwner: whose the account token is, if it is known.
    ///   - isOwned: whether somebody owns the transaction already.
    static func requireBinding(
        _ claim: ClaimFields, _ proven: ObservedTransaction, facts: ObservedTransaction, customer: Int64,
        tokenOwner: Int64?, isOwned: Bool, source: EvidenceSource, app: RegisteredApp
    ) throws(Rejection) {
        if let productID = claim.productID, proven.productID != ExactText(productID) {
            throw Rejection(.productMismatch, expected: productID, found: proven.productID?.string)
        }
        if let quantity = claim.quantity, quantity != proven.quantity {
            throw Rejection(.quantityMismatch, expected: "\(quantity)", found: "\(proven.quantity)")
        }
        if let tokenOwner, tokenOwner != customer {
            throw Rejection(.appAccountTokenMismatch, found: facts.accountToken?.description)
        }
        if app.requiresAccountToken, source != .signedData, facts.accountToken == nil, !isOwned {
            throw Rejection(.accountTokenNeeded, expected: "a signed transaction with an account token")
        }
    }

    /// Why the settings keep the purchase from counting.
    static func requireTerms(_ purchase: ClaimedPurchase, _ app: RegisteredApp) throws(Rejection) {
        guard purchase.kind == nil else { return }
        let productID = purchase.facts.productID?.string
        guard let productID, let product = app.product(productID), let stated = purchase.facts.kind,
            stated != product.kind
        else { throw Rejection(.productUnknown, found: productID) }
        throw Rejection(.productKindMismatch, expected: product.kind.rawValue, found: stated.rawValue)
    }

    /// Why the purchase gives its owner nothing now.
    ///
    /// - Parameters:
    ///   - proven: what the claim's own evidence says.
    ///   - entitlement: what the owner may use of the product now.
    static func requireState(
        _ purchase: ClaimedPurchase, _ proven: ObservedTransaction, entitlement: Entitlement?, now: Timestamp
    ) throws(Rejection) {
        let facts = purchase.facts
        if let withdrawal = facts.withdrawal, isWhole(withdrawal, purchase) {
            // Evidence that does not show the withdrawal itself is older than what is known.
            guard proven.withdrawal != nil else {
                throw Rejection(.purchaseWithdrawn, found: "\(withdrawal.date)")
            }
            throw Rejection(
                withdrawal.cause == .revoked ? .purchaseRevoked : .purchaseCancelled, found: "\(withdrawal.date)")
        }
        if let upgradedAt = facts.upgradedAt { throw Rejection(.purchaseUpgraded, found: "\(upgradedAt)") }
        switch purchase.kind {
        case .consumable, nil: return
        case .autoRenewable:
            // A period that is over still counts in its grace period.
            if let end = facts.end, end <= now, entitlement?.transactionID != facts.key.transactionID.string {
                throw expired(end, now)
            }
        case .nonConsumable, .nonRenewing: break
        }
        switch entitlement?.reason {
        case nil: return
        case .revoked, .cancelled, .revokedByHand:
            throw Rejection(.purchaseWithdrawn, found: entitlement?.reason?.rawValue)
        case .upgraded, .superseded: throw Rejection(.purchaseUpgraded, found: entitlement?.reason?.rawValue)
        default: throw expired(entitlement?.until ?? facts.end, now)
        }
    }

    private static func expired(_ end: Timestamp?, _ now: Timestamp) -> Rejection {
        Rejection(.subscriptionExpired, expected: "an end after \(now)", found: end.map { "\($0)" })
    }

    /// Any part withdraws what cannot be divided.
    private static func isWhole(_ withdrawal: Withdrawal, _ purchase: ClaimedPurchase) -> Bool {
        switch purchase.kind {
        case .consumable, .nonRenewing: withdrawal.units >= purchase.facts.quantity
        case .nonConsumable, .autoRenewable, nil: withdrawal.units > 0
        }
    }
}
