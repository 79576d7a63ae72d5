public import PurchaseVerification

/// The units that one purchase or manual grant of a consumable gives.
public struct ConsumableLot: Sendable, Hashable {
    /// The purchase or grant.
    public var source: AccessSource
    public var productID: ExactText
    public var environment: AppStoreEnvironment
    /// Whose it is; `nil` if it is held.
    public var owner: CustomerNumber?
    /// Others who had it (`TransactionOwner.others`).
    public var others: [CustomerNumber]
    /// How many were bought.
    public var quantity: Int64
    /// When it was bought.
    public var date: Timestamp
    /// When it ends; only of manual grants.
    public var until: Timestamp?
    /// How many of them Apple withdrew, and when.
    public var withdrawal: Withdrawal?
    public var transaction: TransactionKey?
    /// Why the settings keep it from giving anything; `nil` if they do not.
    public var refusal: NoAccessReason?
    /// Revocations by hand.
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
        (date, until) = (grant.from, grant.until)
        self.revocations = revocations
    }

    /// How many units it has at a time, used ones included. At `nil`, by everything that is known, whatever its date.
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

    /// What keeps units from being used at a time, apart from use.
    func denial(at moment: Timestamp?) -> NoAccessReason? {
        if let refusal { return refusal }
        let isRevoked = revocations.contains { revocation in
            moment.map(revocation.isInForce) ?? (revocation.liftedAt == nil)
        }
        if isRevoked { return .revokedByHand }
        if let until, let moment, until <= moment { return .expired }
        guard let withdrawal, moment.map({ withdrawal.date <= $0 }) ?? true, withdrawal.units > 0 else { return nil }
        return withdrawal.cause == .cancelled ? .cancelled : .revoked
    }

    /// The order in which lots are used: the oldest purchase first, grants before purchases of the same moment.
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
