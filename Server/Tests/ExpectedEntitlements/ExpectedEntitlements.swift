public import AppStoreSimulator
public import Foundation

/// The expected entitlements of every customer at each time, derived from the store's events and the customers' actions
/// at the server, in order.
///
/// It reads no evidence, and shares no code with the ledger: this target does not depend on it. Its rules are a
/// separate implementation of docs/ledger.md. A reversed refund, and an owner before a transfer, leave no trace at any
/// time.
public struct ExpectedEntitlements: Sendable {
    /// The settings of the app.
    public struct Rules: Sendable {
        /// Whether a claim transfers a purchase that another customer claimed.
        public var claimsTransfer = false
        /// Whether units that were used and then refunded are subtracted.
        public var isShortfallDebt = false
        /// The duration of the non-renewing subscriptions.
        public var passes: [String: StorePeriod] = [:]

        /// The defaults.
        public init() {}
    }

    /// The expected entitlement of a customer to a product.
    public struct Access: Hashable, Sendable {
        /// Whether they may use it.
        public var isActive = false
        /// Until when, without a gap; nil if it does not end, and for balances.
        public var until: Date?
        /// The units of a consumable that are left.
        public var balance: Int64 = 0
        /// The units of a consumable that were used and then refunded, or used of a purchase that now belongs to
        /// another customer.
        public var shortfall: Int64 = 0

        /// No entitlement.
        public init() {}
    }

    let rules: Rules
    /// By their original transaction.
    private(set) var purchases: [String: ExpectedPurchase] = [:]
    /// The purchase of a transaction and, for a subscription, its period.
    private var places: [String: (original: String, period: Int)] = [:]

    /// No event has happened yet.
    public init(rules: Rules) {
        self.rules = rules
    }

    // MARK: The store

    /// Something happened in the store.
    public mutating func record(_ event: StoreEvent) {
        if let transaction = event.transaction { record(event.kind, transaction) }
        // For an event of any kind, the subscription states whether it is in its grace period.
        guard let subscription = event.subscription, subscription.status == .gracePeriod,
            let place = places[subscription.transactionID]
        else { return }
        purchases[place.original]?.periods[place.period].graceEnd = subscription.gracePeriodExpiresDate
    }

    private mutating func record(_ kind: StoreEvent.Kind, _ transaction: StoreTransaction) {
        switch kind {
        case .purchased, .subscribed, .resubscribed, .renewed, .recovered, .upgraded, .shared, .seatAssigned:
            add(transaction)
        case .seatsAdded:
            guard let place = transaction.seatsAddedTo.flatMap({ places[$0] }) else { return }
            places[transaction.transactionID] = place
            purchases[place.original]?.periods[place.period].revocations
                .updateValue(nil, forKey: transaction.transactionID)
        case .restored: places[transaction.transactionID] = transaction.restoredFrom.flatMap { places[$0] }
        case .refunded, .revoked: revoke(transaction, transaction.revocation)
        case .refundReversed: revoke(transaction, nil)
        case .renewalExtended:
            guard let place = places[transaction.transactionID], let end = transaction.expiresDate else { return }
            purchases[place.original]?.periods[place.period].end = end
        case .expired, .finished, .downgraded, .billingFailed, .gracePeriodExpired, .autoRenewalChanged,
            .priceIncreaseAsked, .priceIncreaseAccepted, .refundAsked, .refundDeclined, .receiptRefreshed,
            .renewalSeatsChanged, .extensionFailed, .accountTokenSet, .notified:
            break
        }
    }

    private mutating func add(_ transaction: StoreTransaction) {
        let original = transaction.originalTransactionID
        var purchase = purchases[original] ?? ExpectedPurchase(transaction)
        if let end = transaction.expiresDate {
            purchase.periods.append(
                ExpectedPurchase.Period(
                    transactionID: transaction.transactionID, productID: transaction.productID,
                    start: transaction.purchaseDate, end: end, revocations: [transaction.transactionID: nil]))
        }
        places[transaction.transactionID] = (original, purchase.periods.count - 1)
        purchases[original] = purchase
    }

    private mutating func revoke(_ transaction: StoreTransaction, _ revocation: StoreTransaction.Revocation?) {
        guard let place = places[transaction.transactionID] else { return }
        if place.period >= 0 {
            let period = purchases[place.original]?.periods[place.period]
            // A restored copy is revoked with its source.
            let id = transaction.transactionID
            let known = period?.revocations.keys.contains(id) ?? false ? id : period?.transactionID ?? id
            purchases[place.original]?.periods[place.period].revocations.updateValue(revocation?.date, forKey: known)
        } else {
            purchases[place.original]?.revocation = revocation
        }
    }

    // MARK: People

    /// A customer proves to the server that a purchase exists, and claims it.
    public mutating func claim(_ original: String, by customer: String) {
        guard var purchase = purchases[original] else { return }
        purchase.claimants.insert(customer)
        // An account token takes precedence over any claim.
        if purchase.tokenOwner == nil {
            let isTransferred =
                rules.claimsTransfer && (purchase.kind == .autoRenewable || purchase.kind == .nonConsumable)
            if purchase.owner == nil || isTransferred { purchase.owner = customer }
        }
        purchases[original] = purchase
    }

    /// An operator transfers a purchase from its owner.
    public mutating func move(_ original: String, to customer: String) {
        purchases[original]?.owner = customer
    }

    /// The owner of a purchase; nil if it is held.
    public func owner(of original: String) -> String? { purchases[original]?.owner }

    /// Every original transaction.
    public var originals: [String] { purchases.keys.sorted { ($0.utf8.count, $0) < ($1.utf8.count, $1) } }

    // MARK: The answer

    /// The expected entitlement of a customer to a product in an environment at a time.
    public func access(
        of customer: String, to product: StoreProduct, in environment: StoreEnvironment, at time: Date
    ) -> Access {
        if product.kind == .consumable { return balance(of: customer, product, environment, at: time) }
        var access = Access()
        let open = runs(of: customer, product, environment).filter { $0.contains(time) }
        guard let latest = open.map(\.end).max() else { return access }
        access.isActive = true
        access.until = latest == .distantFuture ? nil : latest
        return access
    }

    /// When something begins for a customer. The ledger gives access some minutes earlier.
    public func starts(of customer: String, _ product: StoreProduct, _ environment: StoreEnvironment) -> [Date] {
        if product.kind == .consumable {
            return purchases.values.filter { $0.owner == customer && $0.productID == product.productID }.map(\.date)
        }
        return runs(of: customer, product, environment).flatMap(\.starts)
    }

    /// Every time at which the access of a customer changes.
    public func boundaries(of customer: String, _ product: StoreProduct, _ environment: StoreEnvironment) -> [Date] {
        if product.kind == .consumable {
            return purchases.values.filter { $0.productID == product.productID && $0.concerns(customer) }.flatMap {
                [$0.date] + [$0.revocation?.date].compactMap(\.self) + $0.uses.map(\.date)
            }
        }
        return runs(of: customer, product, environment).flatMap { $0.starts + [$0.end] }.filter { $0 != .distantFuture }
    }

    private func runs(
        of customer: String, _ product: StoreProduct, _ environment: StoreEnvironment
    ) -> [ExpectedRun] {
        let own = purchases.values.filter {
            $0.owner == customer && $0.environment == environment && $0.kind == product.kind
        }
        switch product.kind {
        case .consumable: return []
        case .nonConsumable:
            return own.filter { $0.productID == product.productID }.flatMap { purchase in
                ExpectedRun.joined([(purchase.date, purchase.revocation?.date ?? .distantFuture)])
            }
        case .autoRenewable: return own.flatMap { $0.subscriptionRuns(of: product.productID) }
        case .nonRenewing:
            guard let length = rules.passes[product.productID] else { return [] }
            return ExpectedPurchase.passRuns(own.filter { $0.productID == product.productID }, length)
        }
    }

    // MARK: Consumables

    /// A customer uses units, from the oldest purchase first.
    /// - Returns: whether there are enough; otherwise nothing is used.
    public mutating func use(
        _ quantity: Int64, of product: StoreProduct, in environment: StoreEnvironment, by customer: String,
        at time: Date
    ) -> Bool {
        guard balance(of: customer, product, environment, at: time).balance >= quantity else { return false }
        var left = quantity
        for lot in lots(of: customer, product, environment) where left > 0 && lot.owner == customer {
            let units = min(left, max(0, lot.units(at: time) - lot.used(by: customer, until: time)))
            guard units > 0 else { continue }
            purchases[lot.original]?.uses.append(.init(customer: customer, units: units, date: time))
            left -= units
        }
        return true
    }

    /// The lots that a customer bought, claimed, has or used, the oldest first.
    public func lots(concerning customer: String, _ productID: String) -> [String] {
        purchases.values.filter { $0.productID == productID && $0.concerns(customer) }
            .sorted(by: ExpectedPurchase.isBefore).map(\.original)
    }

    private func balance(
        of customer: String, _ product: StoreProduct, _ environment: StoreEnvironment, at time: Date
    ) -> Access {
        var access = Access()
        for lot in lots(of: customer, product, environment) {
            let used = lot.used(by: customer, until: time)
            let units = lot.owner == customer ? lot.units(at: time) : 0
            access.balance += max(0, units - used)
            access.shortfall += max(0, used - units)
        }
        if rules.isShortfallDebt { access.balance = max(0, access.balance - access.shortfall) }
        access.isActive = access.balance > 0
        return access
    }

    private func lots(
        of customer: String, _ product: StoreProduct, _ environment: StoreEnvironment
    ) -> [ExpectedPurchase] {
        purchases.values.filter {
            $0.productID == product.productID && $0.environment == environment && $0.concerns(customer)
        }.sorted(by: ExpectedPurchase.isBefore)
    }
}
