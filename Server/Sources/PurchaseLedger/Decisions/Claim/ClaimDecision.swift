import PurchaseVerification

/// The decisions about one claim: whether it binds, and its outcome. They only look at what they are given.
enum ClaimDecision {
    /// Whether the claim agrees with its own evidence. What else is known does not matter here, so a claim binds or not
    /// whatever other evidence came before it.
    ///
    /// - Parameters:
    ///   - proven: what the claim's own evidence says.
    ///   - tokenOwner: the customer of the account token in it, if it is known.
    static func requireAgreement(
        _ claim: ClaimFields, _ proven: ObservedTransaction, customer: Int64, tokenOwner: Int64?
    ) throws(Rejection) {
        if let productID = claim.productID, proven.productID != ExactText(productID) {
            throw Rejection(.productMismatch, expected: productID, found: proven.productID?.string)
        }
        if let quantity = claim.quantity, quantity != proven.quantity {
            throw Rejection(.quantityMismatch, expected: "\(quantity)", found: "\(proven.quantity)")
        }
        if let tokenOwner, tokenOwner != customer {
            throw Rejection(.appAccountTokenMismatch, found: proven.accountToken?.description)
        }
    }

    /// Whether a claim with such evidence decides about the owner, whatever its outcome: an expired, withdrawn or sandbox
    /// purchase still belongs to somebody. With `require_account_token`, receipts do not.
    static func binds(_ source: EvidenceSource, _ proven: ObservedTransaction, _ app: RegisteredApp) -> Bool {
        !app.requiresAccountToken || source == .signedData || proven.accountToken != nil
    }

    /// Why the customer is not the owner.
    ///
    /// - Parameters:
    ///   - owner: the owner of the transaction.
    ///   - tokenOwner: the customer of the account token of the facts, if it is known.
    static func requireOwner(
        _ owner: Int64?, customer: Int64, tokenOwner: Int64?, facts: ObservedTransaction
    ) throws(Rejection) {
        guard owner != customer else { return }
        if owner == nil {
            throw Rejection(.accountTokenNeeded, expected: "a signed transaction with an account token")
        }
        if let tokenOwner, tokenOwner != customer {
            throw Rejection(.appAccountTokenMismatch, found: facts.accountToken?.description)
        }
        throw Rejection.alreadyClaimed(.anotherCustomer)
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

    /// Why nothing is left of the purchase: Apple or an operator withdrew it.
    ///
    /// - Parameter proven: what the claim's own evidence says.
    static func requireNotWithdrawn(
        _ purchase: ClaimedPurchase, _ proven: ObservedTransaction
    ) throws(Rejection) {
        if let withdrawal = purchase.wholeWithdrawal {
            // Evidence that does not show the withdrawal itself is older than what is known.
            guard proven.withdrawal != nil else {
                throw Rejection(.purchaseWithdrawn, found: "\(withdrawal.date)")
            }
            throw Rejection(
                withdrawal.cause == .revoked ? .purchaseRevoked : .purchaseCancelled, found: "\(withdrawal.date)")
        }
        if purchase.isRevokedByHand {
            throw Rejection(.purchaseWithdrawn, found: NoAccessReason.revokedByHand.rawValue)
        }
    }

    /// Why the purchase gives its owner nothing now, although it was paid for.
    ///
    /// - Parameter entitlement: what the owner may use of the product now.
    static func requireAccess(
        _ purchase: ClaimedPurchase, entitlement: Entitlement?, now: Timestamp
    ) throws(Rejection) {
        let facts = purchase.facts
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
        // What begins later is the customer's already.
        case nil, .notStarted: return
        case .revoked, .cancelled, .revokedByHand:
            throw Rejection(.purchaseWithdrawn, found: entitlement?.reason?.rawValue)
        case .upgraded, .superseded: throw Rejection(.purchaseUpgraded, found: entitlement?.reason?.rawValue)
        default: throw expired(entitlement?.until ?? facts.end, now)
        }
    }

    private static func expired(_ end: Timestamp?, _ now: Timestamp) -> Rejection {
        Rejection(.subscriptionExpired, expected: "an end after \(now)", found: end.map { "\($0)" })
    }
}
