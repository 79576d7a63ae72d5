import PurchaseVerification

/// The decisions about one claim: whether it binds, and its outcome. They depend only on their arguments.
enum ClaimDecision {
    /// Checks that the claim agrees with its own evidence.
    ///
    /// - Parameter proven: the facts of the claim's own evidence.
    static func requireAgreement(_ claim: ClaimFields, _ proven: ObservedTransaction) throws(Rejection) {
        if let productID = claim.productID, proven.productID != ExactText(productID) {
            throw Rejection(.productMismatch, expected: productID, found: proven.productID?.string)
        }
        if let quantity = claim.quantity, quantity != proven.quantity {
            throw Rejection(.quantityMismatch, expected: "\(quantity)", found: "\(proven.quantity)")
        }
    }

    /// Whether a claim with such evidence affects the owner, whatever its outcome: an expired, withdrawn or sandbox purchase
    /// still belongs to somebody. With `require_signed_transaction`, claims with receipts do not bind, and with
    /// `require_account_token`, claims without a token of the customer. An unknown token counts as absent.
    ///
    /// - Parameters:
    ///   - token: the account token in the claim's evidence, or the one that the App Store stated.
    ///   - tokenOwner: its customer, if it is known.
    static func binds(
        _ source: EvidenceSource, token: AppAccountToken?, tokenOwner: Int64?, customer: Int64, _ app: RegisteredApp
    ) -> Bool {
        if app.requiresAccountToken, tokenOwner != customer { return false }
        return !app.requiresSignedTransaction || source == .signedData || token != nil
    }

    /// Whether the account token in the claim's own evidence lets the claim bind. A token of another customer prevents that and
    /// refuses nothing: the purchase may have been transferred to the claimant, and still carries its former owner's token.
    ///
    /// - Parameter tokenOwner: the customer of the token, if it is known.
    static func isOfToken(_ customer: Int64, tokenOwner: Int64?) -> Bool { tokenOwner.map { $0 == customer } ?? true }

    /// The reason why the customer is not the owner.
    ///
    /// - Parameters:
    ///   - owner: the owner of the transaction.
    ///   - tokenOwner: the customer of the account token of the facts, if it is known.
    static func requireOwner(
        _ owner: Int64?, customer: Int64, tokenOwner: Int64?, facts: ObservedTransaction, _ app: RegisteredApp
    ) throws(Rejection) {
        guard owner != customer else { return }
        if owner == nil {
            guard !app.requiresSignedTransaction || app.requiresAccountToken else {
                throw Rejection(.signedTransactionNeeded, expected: "a signed transaction")
            }
            throw Rejection(
                .accountTokenNeeded, expected: "a signed transaction with an account token of the customer")
        }
        if let tokenOwner, tokenOwner != customer {
            throw Rejection(.appAccountTokenMismatch, found: facts.accountToken?.description)
        }
        throw Rejection.alreadyClaimed(.anotherCustomer)
    }

    /// The reason why the purchase does not count under the settings.
    static func requireTerms(_ purchase: ClaimedPurchase, _ app: RegisteredApp) throws(Rejection) {
        guard purchase.kind == nil else { return }
        let productID = purchase.facts.productID?.string
        guard let productID, let product = app.product(productID), let stated = purchase.facts.kind,
            stated != product.kind
        else { throw Rejection(.productUnknown, found: productID) }
        throw Rejection(.productKindMismatch, expected: product.kind.rawValue, found: stated.rawValue)
    }

    /// The reason why Apple or an operator withdrew the whole purchase.
    ///
    /// - Parameter proven: the facts of the claim's own evidence.
    static func requireNotWithdrawn(
        _ purchase: ClaimedPurchase, _ proven: ObservedTransaction
    ) throws(Rejection) {
        if let withdrawal = purchase.wholeWithdrawal {
            // Evidence that does not show the withdrawal itself is older than the known facts.
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

    /// The reason why the purchase currently gives its owner no access although it was paid for.
    ///
    /// - Parameter entitlement: the owner's current entitlement to the product.
    static func requireAccess(
        _ purchase: ClaimedPurchase, entitlement: Entitlement?, now: Timestamp
    ) throws(Rejection) {
        let facts = purchase.facts
        if let upgradedAt = facts.upgradedAt { throw Rejection(.purchaseUpgraded, found: "\(upgradedAt)") }
        switch purchase.kind {
        case .consumable, nil: return
        case .autoRenewable:
            // The App Store charges up to a day before a period begins.
            if let start = facts.purchaseDate, now < start, facts.end.map({ start < $0 }) ?? false { return }
            // A period that is over still counts in its grace period.
            if let end = facts.end, end <= now, entitlement?.transactionID != facts.key.transactionID.string {
                throw expired(end, now)
            }
        case .nonConsumable, .nonRenewing: break
        }
        switch entitlement?.reason {
        // A purchase that begins later already belongs to the customer.
        case nil, .inGrace, .notStarted: return
        case .periodUnknown: throw Rejection(.periodUnknown, expected: "evidence that states the end of the period")
        case .revoked, .familyRevoked, .cancelled, .revokedByHand:
            throw Rejection(.purchaseWithdrawn, found: entitlement?.reason?.rawValue)
        case .upgraded, .superseded: throw Rejection(.purchaseUpgraded, found: entitlement?.reason?.rawValue)
        default: throw expired(entitlement?.until ?? facts.end, now)
        }
    }

    private static func expired(_ end: Timestamp?, _ now: Timestamp) -> Rejection {
        Rejection(.subscriptionExpired, expected: "an end after \(now)", found: end.map { "\($0)" })
    }
}
