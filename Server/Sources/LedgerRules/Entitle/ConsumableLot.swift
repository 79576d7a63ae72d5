public import PurchaseVerification

/// The units that one purchase or manual grant of a consumable gives.
public struct ConsumableLot: Sendable, Hashable {
    /// The purchase or grant.
    public var source: AccessSource
    public var productID: ExactText
    public var environment: AppStoreEnvironment
    /// The owner; `nil` if the purchase is held.
    public var owner: CustomerNumber?
    /// Other owners (`TransactionOwner.others`).
    public var others: [CustomerNumber]
    /// The purchased quantity.
    public var quantity: Int64
    /// When it was bought.
    public var date: Timestamp
    /// When it ends; only for manual grants.
    public var until: Timestamp?
    /// Whether an operator ended the manual grant.
    public var isLifted = false
    /// The number of units that Apple withdrew, and when.
    public var withdrawal: Withdrawal?
    public var transaction: TransactionKey?
    /// The reason why it gives nothing under the settings; `nil` if it counts.
    public var refusal: NoAccessReason?
    /// Manual revocations.
    public var revocations: [HandRevocation]

    /// The lot of a purchase; `nil` if its product is not known.
    public init?(_ purchase: OwnedPurchase, revocations: [HandRevocation] = []) {
        guard let productID = purchase.productID else { return nil }
        source = .purchase(purchase.ownership)
        self.productID = productID
        environment = purchase.ownership.original.environment
        (owner, others) = (purchase.owner, purchase.others)
        quantity = purchase.quantity
        date = purchase.start
        withdrawal = purchase.withdrawal
        transaction = purchase.transaction
        refusal = purchase.refusal
        self.revocations = revocations
    }

    /// The lot of a manual grant.
    public init(_ grant: HandGrant, revocations: [HandRevocation] = []) {
        source = .grant(grant.entry)
        (productID, environment) = (grant.productID, grant.environment)
        (owner, others) = (grant.customer, [])
        quantity = max(0, grant.quantity)
        (date, until, isLifted) = (grant.from, grant.until, grant.isLifted)
        self.revocations = revocations
    }

    /// The number of its units at a time, including used ones. If the time is `nil`, all known facts count, regardless
    /// of date.
    public func units(at moment: Timestamp?) -> Int64 {
        guard refusal == nil, denial(at: moment) != .revokedByHand else { return 0 }
        if let moment {
            guard moment.isAtOrAfter(startOf: date),
                until.map({ moment < $0 }) ?? true
            else { return 0 }
        }
        guard let withdrawal, moment.map({ withdrawal.date <= $0 }) ?? true else { return quantity }
        return max(0, quantity - withdrawal.units)
    }

    /// The reason, other than consumption, why its units cannot be used at a time.
    package func denial(at moment: Timestamp?) -> NoAccessReason? {
        if let refusal { return refusal }
        let isRevoked = revocations.contains { revocation in
            moment.map(revocation.isInForce) ?? (revocation.liftedAt == nil)
        }
        if isRevoked || isLifted && moment == nil { return .revokedByHand }
        if let until, let moment, until <= moment { return isLifted ? .revokedByHand : .expired }
        guard let withdrawal, moment.map({ withdrawal.date <= $0 }) ?? true, withdrawal.units > 0 else { return nil }
        return withdrawal.reason
    }

    /// The order in which lots are used: the oldest purchase first, grants before purchases of the same time.
    func isBefore(_ other: ConsumableLot) -> Bool {
        if date != other.date { return date < other.date }
        switch (source, other.source) {
        case (.grant(let left), .grant(let right)): return left < right
        case (.grant, _): return true
        case (_, .grant): return false
        default:
            guard let left = transaction, let right = other.transaction else { return false }
            return ExactText.isNumericallyBefore(left.transactionID, right.transactionID)
        }
    }
}
