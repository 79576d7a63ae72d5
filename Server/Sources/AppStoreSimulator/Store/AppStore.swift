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

    init(state: StoreState) {
        self.state = state
    }

    /// The time of the store's clock.
    public var now: Date { state.summary.now }

    /// The apps on sale.
    public var apps: [StoreApp] { state.apps.sorted }
    /// The products of all apps.
    public var products: [StoreProduct] { state.products.sorted }
    public var customers: [StoreCustomer] { state.customers.sorted }
    /// All purchases, renewals and restored copies, oldest first within each environment.
    public var transactions: [StoreTransaction] { state.transactions.sorted }
    public var subscriptions: [StoreSubscription] { state.subscriptions.sorted }
    /// All events, oldest first.
    public var events: [StoreEvent] { state.events.sorted }

    /// - Throws: `unknown_app`.
    public func app(_ bundleID: String) throws(StoreError) -> StoreApp {
        guard let app = state.apps[bundleID] else {
            throw StoreError(.unknownApp, "There is no app '\(bundleID)'.")
        }
        return app
    }

    /// - Throws: `unknown_product`.
    public func product(_ productID: String, of bundleID: String) throws(StoreError) -> StoreProduct {
        guard let product = state.products[StoreState.key(bundleID, productID)] else {
            throw StoreError(.unknownProduct, "The app '\(bundleID)' has no product '\(productID)'.")
        }
        return product
    }

    /// - Throws: `unknown_customer`.
    public func customer(_ customerID: String) throws(StoreError) -> StoreCustomer {
        guard let customer = state.customers[customerID] else {
            throw StoreError(.unknownCustomer, "There is no customer '\(customerID)'.")
        }
        return customer
    }

    /// - Throws: `unknown_transaction`.
    public func transaction(_ transactionID: String) throws(StoreError) -> StoreTransaction {
        guard let transaction = state.transactions[transactionID] else {
            throw StoreError(.unknownTransaction, "There is no transaction '\(transactionID)'.")
        }
        return transaction
    }

    /// - Throws: `unknown_subscription`.
    public func subscription(_ originalTransactionID: String) throws(StoreError) -> StoreSubscription {
        guard let subscription = state.subscriptions[originalTransactionID] else {
            throw StoreError(.unknownSubscription, "There is no subscription '\(originalTransactionID)'.")
        }
        return subscription
    }

    /// - Throws: `unknown_event`.
    public func event(_ number: Int) throws(StoreError) -> StoreEvent {
        guard let event = state.events["\(number)"] else {
            throw StoreError(.unknownEvent, "There is no event \(number).")
        }
        return event
    }
}

extension Date {
    /// The time without its fraction of a second.
    var inWholeSeconds: Date {
        Date(timeIntervalSince1970: timeIntervalSince1970.rounded(.down))
    }
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
