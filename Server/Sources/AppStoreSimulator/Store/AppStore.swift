public import Foundation

/// A store as a plain value: only its calls change its state. It uses no clock, no randomness and no storage, so that
/// the same calls always lead to the same content.
///
/// After a call that throws, use the value from before the call.
///
/// ```swift
/// var store = AppStore(startingAt: start)
/// try store.addApp(bundleID: "com.example.app")
/// try store.addProduct(bundleID: "com.example.app", productID: "coins", kind: .consumable)
/// let customer = try store.addCustomer()
/// let purchase = try store.buy("coins", of: "com.example.app", by: customer.customerID)
/// ```
public struct AppStore: Sendable {
    var state: StoreState

    /// An empty store.
    /// - Parameters:
    ///   - date: the time of its clock, in whole seconds.
    ///   - firstTransaction: the number of its first transaction, at least 1 and at most `maximumFirstTransaction`.
    public init(startingAt date: Date, firstTransaction: UInt64 = 1) {
        state = StoreState(
            now: date.inWholeSeconds,
            firstTransaction: min(max(1, firstTransaction), Self.maximumFirstTransaction))
    }

    /// The largest number to start from. Above it, ids of production would soon have more than the 15 digits of
    /// Apple's.
    public static let maximumFirstTransaction: UInt64 = 400_000_000_000_000

    init(state: StoreState) { self.state = state }

    /// The time of the store's clock.
    public var now: Date { state.summary.now }

    public var apps: [StoreApp] { state.apps.sorted }
    public var products: [StoreProduct] { state.products.sorted }
    public var customers: [StoreCustomer] { state.customers.sorted }
    /// All purchases, renewals and restored copies, oldest first within each environment.
    public var transactions: [StoreTransaction] { state.transactions.sorted }
    public var subscriptions: [StoreSubscription] { state.subscriptions.sorted }
    /// All events, oldest first.
    public var events: [StoreEvent] { state.events.sorted }

    /// - Throws: `unknown_app`.
    public func app(_ bundleID: String) throws(StoreError) -> StoreApp {
        try found(state.apps[bundleID], .unknownApp, "There is no app '\(bundleID)'.")
    }

    /// - Throws: `unknown_product`.
    public func product(_ productID: String, of bundleID: String) throws(StoreError) -> StoreProduct {
        try found(
            state.products[StoreState.key(bundleID, productID)], .unknownProduct,
            "The app '\(bundleID)' has no product '\(productID)'.")
    }

    /// - Throws: `unknown_customer`.
    public func customer(_ customerID: String) throws(StoreError) -> StoreCustomer {
        try found(state.customers[customerID], .unknownCustomer, "There is no customer '\(customerID)'.")
    }

    /// - Throws: `unknown_transaction`.
    public func transaction(_ transactionID: String) throws(StoreError) -> StoreTransaction {
        try found(state.transactions[transactionID], .unknownTransaction, "There is no transaction '\(transactionID)'.")
    }

    /// - Throws: `unknown_subscription`.
    public func subscription(_ originalTransactionID: String) throws(StoreError) -> StoreSubscription {
        try found(
            state.subscriptions[originalTransactionID], .unknownSubscription,
            "There is no subscription '\(originalTransactionID)'.")
    }

    /// - Throws: `unknown_event`.
    public func event(_ number: Int) throws(StoreError) -> StoreEvent {
        try found(state.events["\(number)"], .unknownEvent, "There is no event \(number).")
    }
}

/// A row of the store, or the error that it does not have it.
private func found<Row>(
    _ row: Row?, _ code: StoreError.Code, _ message: @autoclosure () -> String
) throws(StoreError) -> Row {
    guard let row else { throw StoreError(code, message()) }
    return row
}

extension Date {
    /// The time without its fraction of a second.
    var inWholeSeconds: Date { Date(timeIntervalSince1970: timeIntervalSince1970.rounded(.down)) }
}

extension AppStore {
    /// Numbers the transactions that look different than before, those of lower identifiers first.
    /// - Parameter earlier: the store before.
    mutating func numberChanges(since earlier: AppStore) {
        let keys = state.transactions.changedKeys
        guard !keys.isEmpty else { return }
        for key in keys.sorted(by: { ($0.utf8.count, $0) < ($1.utf8.count, $1) }) {
            guard var transaction = state.transactions[key] else { continue }
            if let before = earlier.state.transactions[key], before.lastChange != nil,
                !transaction.looksDifferent(from: before)
            {
                continue
            }
            let number = (state.summary.changes ?? 0) + 1
            state.summary.changes = number
            transaction.lastChange = number
            state.transactions[key] = transaction
        }
    }
}

extension AppStore {
    /// The greatest number of customers that one call may open.
    public static let largestCrowd = 100_000

    /// Opens accounts, and sells each of them the same product: the customers of an app that existed before.
    /// - Parameters:
    ///   - prefix: of the customers' identifiers, which end in `-1`, `-2`, ….
    ///   - count: 1 to `largestCrowd`.
    /// - Returns: the purchases, in the order of the customers.
    /// - Throws: `already_exists`, `invalid_value`, and the errors of a purchase.
    public mutating func sellToCrowd(
        _ productID: String, of bundleID: String, prefix: String, count: Int, environment: StoreEnvironment,
        storefront: String = "USA"
    ) throws(StoreError) -> [StoreTransaction] {
        guard (1...Self.largestCrowd).contains(count) else {
            throw StoreError(.invalidValue, "'count' is 1 to \(Self.largestCrowd) customers, not \(count).")
        }
        var sold: [StoreTransaction] = []
        for number in 1...count {
            let customer = try addCustomer("\(prefix)-\(number)", environment: environment, storefront: storefront)
            sold.append(try buy(productID, of: bundleID, by: customer.customerID))
        }
        return sold
    }
}

extension AppStore {
    /// Puts an app on sale.
    /// - Parameters:
    ///   - appID: its number; nil takes the next free number.
    ///   - sharedSecret: the secret that `verifyReceipt` requires; nil requires none.
    ///   - gracePeriodDays: 0, 3, 16 or 28, as the store offers them.
    /// - Throws: `already_exists`, `invalid_value`.
    @discardableResult
    public mutating func addApp(
        bundleID: String, appID: UInt64? = nil, name: String? = nil, version: String = "1.0",
        sharedSecret: String? = nil, gracePeriodDays: Int = 0, environmentNames: EnvironmentNames = .simulator
    ) throws(StoreError) -> StoreApp {
        try Self.check(bundleID, "bundle id")
        guard [0, 3, 16, 28].contains(gracePeriodDays) else {
            throw StoreError(.invalidValue, "A grace period has 0, 3, 16 or 28 days, not \(gracePeriodDays).")
        }
        try require(state.apps[bundleID] == nil, .alreadyExists, "The app '\(bundleID)' already exists.")
        state.summary.apps += 1
        let app = StoreApp(
            bundleID: bundleID, appID: appID ?? 1_600_000_000 + UInt64(state.summary.apps),
            name: name ?? bundleID, version: version, sharedSecret: sharedSecret, gracePeriodDays: gracePeriodDays,
            environmentNames: environmentNames)
        state.apps[bundleID] = app
        return app
    }

    /// Releases an app, or makes it one that was never released: production refuses its API tokens then.
    /// - Throws: `unknown_app`.
    @discardableResult
    mutating func setReleased(_ isReleased: Bool, _ bundleID: String) throws(StoreError) -> StoreApp {
        var app = try app(bundleID)
        app.isReleased = isReleased
        state.apps[bundleID] = app
        return app
    }

    /// Puts a product on sale.
    /// - Parameters:
    ///   - price: in thousandths of the currency.
    ///   - subscription: the terms; needed for auto-renewable subscriptions, and for no other kind.
    /// - Throws: `unknown_app`, `already_exists`, `invalid_value`.
    @discardableResult
    public mutating func addProduct(
        bundleID: String, productID: String, kind: StoreProduct.Kind, price: Int64 = 990, currency: String = "USD",
        isFamilyShareable: Bool = false, subscription: StoreProduct.Terms? = nil
    ) throws(StoreError) -> StoreProduct {
        _ = try app(bundleID)
        try Self.check(productID, "product id")
        try require(
            (0...1_000_000_000).contains(price), .invalidValue, "A price is 0 to 1000000000 thousandths, not \(price).")
        guard (kind == .autoRenewable) == (subscription != nil) else {
            throw StoreError(.invalidValue, "Auto-renewable subscriptions need terms; other products have none.")
        }
        for offer in subscription?.offers ?? [] {
            guard (1...60).contains(offer.periods), (0...1_000_000_000).contains(offer.price) else {
                throw StoreError(.invalidValue, "The offer '\(offer.offerID)' has an invalid length or price.")
            }
        }
        guard state.products[StoreState.key(bundleID, productID)] == nil else {
            throw StoreError(.alreadyExists, "The app '\(bundleID)' already has a product '\(productID)'.")
        }
        state.summary.products += 1
        let product = StoreProduct(
            bundleID: bundleID, productID: productID, kind: kind,
            productNumber: 1_700_000_000 + UInt64(state.summary.products), price: price, currency: currency,
            isFamilyShareable: isFamilyShareable, isForSale: true, subscription: subscription)
        state.products[StoreState.key(bundleID, productID)] = product
        return product
    }

    /// Removes a product from sale, or puts it on sale again. Existing purchases stay valid; renewals stop.
    /// - Throws: `unknown_product`.
    @discardableResult
    public mutating func setForSale(
        _ isForSale: Bool, _ productID: String, of bundleID: String
    ) throws(StoreError) -> StoreProduct {
        var product = try product(productID, of: bundleID)
        product.isForSale = isForSale
        state.products[StoreState.key(bundleID, productID)] = product
        return product
    }

    /// Opens an account.
    /// - Parameters:
    ///   - customerID: nil takes the next free `customer-1`, `customer-2`, ….
    ///   - deviceID: a UUID; nil derives it from the customer's identifier.
    ///   - renewalRate: how fast a tester's subscriptions renew.
    /// - Throws: `already_exists`, `invalid_value`.
    @discardableResult
    public mutating func addCustomer(
        _ customerID: String? = nil, environment: StoreEnvironment = .sandbox, deviceID: String? = nil,
        storefront: String = "USA", renewalRate: SandboxRenewalRate? = nil
    ) throws(StoreError) -> StoreCustomer {
        try require(
            renewalRate == nil || environment == .sandbox, .invalidValue,
            "Only the subscriptions of the sandbox are accelerated; the customer is of \(environment.rawValue).")
        state.summary.customers += 1
        let customerID = customerID ?? "customer-\(state.summary.customers)"
        try Self.check(customerID, "customer id")
        try require(state.customers[customerID] == nil, .alreadyExists, "The customer '\(customerID)' already exists.")
        let device: UUID?
        if let deviceID {
            device = UUID(uuidString: deviceID)
        } else {
            device = UUID(derivedFrom: "device|\(customerID)")
        }
        guard let device else { throw StoreError(.invalidValue, "A device id is a UUID.") }
        let customer = StoreCustomer(
            customerID: customerID, environment: environment, deviceID: device.uuidString, storefront: storefront,
            subscriptionRenewalRate: renewalRate)
        state.customers[customerID] = customer
        return customer
    }

    private static func check(_ identifier: String, _ what: String) throws(StoreError) {
        // Keys are joined with a vertical bar, and control characters would garble output for people.
        let isFine = identifier.unicodeScalars.allSatisfy {
            $0.value > 0x20 && $0.value != 0x7F && $0 != "|" && $0 != "/"
        }
        guard isFine, (1...255).contains(identifier.utf8.count) else {
            throw StoreError(.invalidValue, "A \(what) has 1 to 255 bytes, and no space, '|' or '/'.")
        }
    }
}

extension AppStore {
    /// The number of renewals that one move of the clock may cause; a move that would cause more is refused as a whole.
    public static let renewalsPerMove = 20_000

    /// Moves the clock forward. Everything that falls due in between happens at its own time and in order: the earliest
    /// first, and at the same time the older subscription first.
    /// - Parameter date: the new time of the clock, in whole seconds; a fraction is cut off.
    /// - Throws: `clock_backwards` if anything has happened already, `too_many_renewals`, `invalid_value` beyond the
    ///   year 9000.
    public mutating func moveClock(to date: Date) throws(StoreError) {
        try moveClock(to: date, stopsEarly: false)
    }

    /// - Parameter stopsEarly: if too many renewals would fall due, the clock stops at the last one within the limit.
    mutating func moveClock(to date: Date, stopsEarly: Bool) throws(StoreError) {
        while let (transactionID, decisionDate) = nextRefundDecision, decisionDate <= date {
            try moveClockOverRenewals(to: max(now, decisionDate), stopsEarly: stopsEarly)
            guard now >= decisionDate.inWholeSeconds else { return }
            try decideRefund(of: transactionID)
        }
        try moveClockOverRenewals(to: date, stopsEarly: stopsEarly)
    }

    private mutating func moveClockOverRenewals(to date: Date, stopsEarly: Bool) throws(StoreError) {
        let target = date.inWholeSeconds
        guard target < Self.latestDate, target > Self.earliestDate else {
            throw StoreError(.invalidValue, "The clock shows years from 1990 to 9000.")
        }
        try require(
            target >= now || state.events.count == 0, .clockBackwards,
            "The clock shows \(now.internet) and the store has events; it cannot go back to \(target.internet).")
        var due = state.subscriptions.values.compactMap { DueSubscription($0) }.filter { $0.date <= target }
        due.sort(by: >)
        var handled = 0
        // The next one is the last element, so that removing it is cheap.
        while let next = due.popLast() {
            handled += 1
            guard handled <= Self.renewalsPerMove else {
                if stopsEarly { return }
                throw StoreError(
                    .tooManyRenewals,
                    "More than \(Self.renewalsPerMove) renewals would fall due until \(target.internet); move in smaller steps."
                )
            }
            state.summary.now = max(now, next.date)
            let changed = handleDue(next.originalTransactionID)
            if let again = changed.flatMap({ DueSubscription($0) }), again.date <= target {
                due.insert(again, at: Self.place(of: again, in: due))
            }
        }
        state.summary.now = target
    }

    /// The index at which a time belongs in a list that is sorted from the latest to the earliest.
    private static func place(of subscription: DueSubscription, in due: [DueSubscription]) -> Int {
        var (low, high) = (0, due.count)
        while low < high {
            let middle = (low + high) / 2
            if due[middle] < subscription { high = middle } else { low = middle + 1 }
        }
        return low
    }

    /// The last time that the clock can show.
    static let lastDate = latestDate.addingTimeInterval(-1)
    private static let earliestDate = Date(timeIntervalSince1970: 631_152_000)
    private static let latestDate = Date(timeIntervalSince1970: 221_845_392_000)
}

/// A subscription that the store must look at, at a time.
private struct DueSubscription: Comparable {
    let date: Date
    let originalTransactionID: String

    init?(_ subscription: StoreSubscription) {
        guard let date = subscription.dueDate else { return nil }
        self.date = date
        originalTransactionID = subscription.originalTransactionID
    }

    static func < (left: DueSubscription, right: DueSubscription) -> Bool {
        if left.date != right.date { return left.date < right.date }
        let (leftID, rightID) = (left.originalTransactionID, right.originalTransactionID)
        return (leftID.utf8.count, leftID) < (rightID.utf8.count, rightID)
    }
}
