import EvidenceMint
import Foundation

/// The whole state of the store, except the evidence that it signed.
struct StoreState: Sendable {
    var summary: Summary
    var apps = StoreTable<StoreApp>()
    var products = StoreTable<StoreProduct>()
    var customers = StoreTable<StoreCustomer>()
    /// Grouped by their owners.
    var transactions = StoreTable<StoreTransaction>(groupedBy: \.owner)
    /// Grouped by their owners.
    var subscriptions = StoreTable<StoreSubscription>(groupedBy: \.owner)
    /// Grouped by the identifiers of their app transactions.
    var receipts = StoreTable<StoreReceipt>(groupedBy: \.appTransactionID)
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
        /// The number of changes of transactions; absent in files of older versions.
        var changes: Int?
        /// The refunds that customers ask for and that the store decides, by transaction; absent if there are none.
        var refundRequests: [String: RefundRequest]?
        /// How likely the store grants them; nil if it decides none.
        var refundOdds: RefundOdds?
    }

    static func key(_ bundleID: String, _ rest: String) -> String {
        "\(bundleID)|\(rest)"
    }

    /// Deletes everything except the counters of transactions, line items, customers, events and changes: a server
    /// remembers their identifiers. Apps and products are numbered from the start, because servers are configured with
    /// these numbers.
    mutating func removeAll(now: Date) {
        summary.now = now
        summary.apps = 0
        summary.products = 0
        summary.refundRequests = nil
        summary.refundOdds = nil
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
