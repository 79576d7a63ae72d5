import EvidenceMint
import Foundation

/// The whole state of the store, except the evidence that it signed.
struct StoreState: Sendable {
    var summary: Summary
    var apps = StoreTable<StoreApp>()
    var products = StoreTable<StoreProduct>()
    var customers = StoreTable<StoreCustomer>()
    var transactions = StoreTable<StoreTransaction>()
    var subscriptions = StoreTable<StoreSubscription>()
    var receipts = StoreTable<StoreReceipt>()
    var events = StoreTable<StoreEvent>()

    init(now: Date, firstTransaction: UInt64 = 1) {
        let issued = Int(clamping: firstTransaction) - 1
        summary = Summary(now: now, transactions: issued, lineItems: issued)
    }

    /// The single values of the state.
    struct Summary: Codable, Equatable, Sendable {
        /// The time of the store's clock.
        var now: Date
        /// The number of identifiers issued, by kind.
        var transactions = 0
        var lineItems = 0
        var customers = 0
        var events = 0
        var apps = 0
        var products = 0
    }

    static func key(_ bundleID: String, _ rest: String) -> String {
        "\(bundleID)|\(rest)"
    }

    /// Deletes everything except the counters of transactions, line items, customers and events: a server remembers
    /// their identifiers. Apps and products are numbered from the start, because servers are configured with these
    /// numbers.
    mutating func removeAll(now: Date) {
        summary.now = now
        summary.apps = 0
        summary.products = 0
        apps.removeAll()
        products.removeAll()
        customers.removeAll()
        transactions.removeAll()
        subscriptions.removeAll()
        receipts.removeAll()
        events.removeAll()
    }

    /// The number of rows that changed since the changes were last written.
    var changeCount: Int {
        apps.changedKeys.count + products.changedKeys.count + customers.changedKeys.count
            + transactions.changedKeys.count + subscriptions.changedKeys.count + receipts.changedKeys.count
            + events.changedKeys.count
    }

    mutating func forgetChanges() {
        apps.forgetChanges()
        products.forgetChanges()
        customers.forgetChanges()
        transactions.forgetChanges()
        subscriptions.forgetChanges()
        receipts.forgetChanges()
        events.forgetChanges()
    }
}
