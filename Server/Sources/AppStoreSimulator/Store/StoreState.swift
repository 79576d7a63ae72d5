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

    init(now: Date) {
        summary = Summary(now: now)
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

    mutating func removeAll(now: Date) {
        summary = Summary(now: now)
        apps.removeAll()
        products.removeAll()
        customers.removeAll()
        transactions.removeAll()
        subscriptions.removeAll()
        receipts.removeAll()
        events.removeAll()
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
