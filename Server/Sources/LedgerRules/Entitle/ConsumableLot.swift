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

/// What the change of one lot does to balances: a function of the lot before and after, and of the units that were
/// taken from it.
package struct LotChange: Sendable, Equatable {
    /// A lot of a customer, as it is stored.
    package struct Lot: Sendable, Equatable {
        package var owner: CustomerNumber
        /// The number of the product.
        package var product: Int64
        package var quantity: Int64
        /// Units that Apple withdrew.
        package var withdrawn: Int64
        /// Units that the owner consumed.
        package var taken: Int64
        package var purchasedAt: Timestamp
        /// Why units were withdrawn; `nil` if none were.
        package var reason: NoAccessReason?

        package init(
            owner: CustomerNumber, product: Int64, quantity: Int64, withdrawn: Int64 = 0, taken: Int64 = 0,
            purchasedAt: Timestamp, reason: NoAccessReason? = nil
        ) {
            (self.owner, self.product, self.quantity, self.withdrawn) = (owner, product, quantity, withdrawn)
            (self.taken, self.purchasedAt, self.reason) = (taken, purchasedAt, reason)
        }

        /// The stored form of a lot of which nothing was used; `nil` if it is held.
        package init?(_ lot: ConsumableLot, product: Int64) {
            guard let owner = lot.owner else { return nil }
            self.init(
                owner: owner, product: product, quantity: lot.quantity, withdrawn: lot.quantity - lot.units(at: nil),
                purchasedAt: lot.date, reason: lot.denial(at: nil))
        }

        /// The part of the lot in the balance of a customer.
        package func part(of customer: CustomerNumber, taken: Int64) -> ConsumableBalance {
            ConsumableBalance(units: customer == owner ? quantity - withdrawn : 0, taken: taken)
        }
    }

    /// One row that changes.
    package enum Step: Sendable, Equatable {
        case delete
        case write(Lot, isNew: Bool)
        /// A customer's balance of a product, and its shortfall, change by these numbers.
        case add(remaining: Int64, shortfall: Int64, to: CustomerNumber, product: Int64)
        /// The reason of an empty balance can be another one.
        case explain(CustomerNumber, product: Int64)
    }

    /// The lot afterwards.
    package let lot: Lot?
    /// The rows, in the order in which they are written: the newest lot explains an empty balance, so lots come first.
    package let steps: [Step]

    /// - Parameters:
    ///   - lot: the lot afterwards; its taken units follow from `takes`.
    ///   - takes: the units that each customer took from it.
    package init(from former: Lot?, to lot: Lot?, takes: [CustomerNumber: Int64]) {
        var lot = lot
        if let owner = lot?.owner { lot?.taken = takes[owner] ?? 0 }
        self.lot = lot
        guard lot != former else {
            steps = []
            return
        }
        if let lot, let former, lot.product != former.product {
            // The units of the lot are subtracted from the balance of its former product.
            steps = Self.steps(from: former, to: nil, takes) + Self.steps(from: nil, to: lot, takes)
        } else {
            steps = Self.steps(from: former, to: lot, takes)
        }
    }

    private static func steps(from former: Lot?, to lot: Lot?, _ takes: [CustomerNumber: Int64]) -> [Step] {
        guard let product = (lot ?? former)?.product else { return [] }
        var steps: [Step] = [lot.map { .write($0, isNew: former == nil) } ?? .delete]
        for customer in Set(takes.keys).union([lot?.owner, former?.owner].compactMap(\.self)).sorted() {
            let taken = takes[customer] ?? 0
            // A lot that is gone adds nothing, however many units were consumed: its product is not known when it
            // becomes one again.
            let before = former?.part(of: customer, taken: taken) ?? ConsumableBalance()
            let after = lot?.part(of: customer, taken: taken) ?? ConsumableBalance()
            // A new owner gets a balance, even if it is empty.
            let isNewOwner = customer == lot?.owner && customer != former?.owner
            steps.append(
                before == after && !isNewOwner
                    ? .explain(customer, product: product)
                    : .add(
                        remaining: after.remaining - before.remaining, shortfall: after.shortfall - before.shortfall,
                        to: customer, product: product))
        }
        return steps
    }
}

/// The remaining units of a customer's consumable, and the used units that no longer belong to the customer.
///
/// It is a sum over lots: each lot adds its own part, so a changed lot changes the sum by the difference, and the whole
/// history is never read.
public struct ConsumableBalance: Sendable, Hashable {
    /// The unused units of all lots.
    public var remaining: Int64 = 0
    /// Units that were used and later withdrawn, or used from lots that now belong to another customer.
    public var shortfall: Int64 = 0

    /// An empty balance.
    public init() {}

    /// The part of one lot in the balance of one customer.
    ///
    /// - Parameters:
    ///   - units: the units of the lot, if it is the customer's; otherwise 0.
    ///   - taken: how many units the customer used from it.
    package init(units: Int64, taken: Int64) {
        remaining = max(0, units - taken)
        shortfall = max(0, taken - units)
    }

    /// The part of one lot in the balance of one customer.
    ///
    /// - Parameters:
    ///   - taken: how many units the customer used from it.
    ///   - moment: the time of the query; `nil` for the stored sum.
    public init(_ lot: ConsumableLot, of customer: CustomerNumber, taken: Int64, at moment: Timestamp? = nil) {
        self.init(units: lot.owner == customer ? lot.units(at: moment) : 0, taken: taken)
    }

    public static func + (left: ConsumableBalance, right: ConsumableBalance) -> ConsumableBalance {
        var sum = left
        sum.remaining = left.remaining.saturatingSum(right.remaining)
        sum.shortfall = left.shortfall.saturatingSum(right.shortfall)
        return sum
    }

    /// The number of units that the customer may use.
    public func available(under policy: RefundShortfallPolicy) -> Int64 {
        switch policy {
        case .forgive: remaining
        case .debt: max(0, remaining - shortfall)
        }
    }
}

/// Chooses the lots that a consumption takes units from.
public enum ConsumableUse {
    /// Takes units from lots, the oldest purchase first.
    ///
    /// - Parameters:
    ///   - lots: the lots of one customer, product and environment with the remaining units of each, in any order.
    /// - Returns: the units from each lot; `nil` if there are not enough.
    public static func takings(
        _ units: Int64, from lots: [(lot: ConsumableLot, remaining: Int64)]
    ) -> [ConsumedUnits.Taking]? {
        var (left, takings): (Int64, [ConsumedUnits.Taking]) = (units, [])
        for (lot, remaining) in lots.sorted(by: { $0.lot.isBefore($1.lot) }) where left > 0 && remaining > 0 {
            let taken = min(left, remaining)
            takings.append(ConsumedUnits.Taking(lot: lot.source, units: taken))
            left -= taken
        }
        return left == 0 && units > 0 ? takings : nil
    }
}
