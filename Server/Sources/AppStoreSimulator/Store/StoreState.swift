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

    static func key(_ bundleID: String, _ rest: String) -> String { "\(bundleID)|\(rest)" }

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

/// Rows by their keys. It records which rows changed, so that only those are written.
struct StoreTable<Row: Codable & Equatable & Sendable>: Sendable {
    private var rows: [String: Row]
    /// The keys of rows that were set or removed since the changes were last forgotten.
    private(set) var changedKeys: Set<String> = []
    /// The keys of the rows of each group, in the order in which they came; empty without groups.
    private var groups: [String: [String]] = [:]
    private let group: (@Sendable (Row) -> String)?

    /// - Parameter group: the group of a row, which never changes; nil for a table without groups.
    init(_ rows: [String: Row] = [:], groupedBy group: (@Sendable (Row) -> String)? = nil) {
        (self.rows, self.group) = (rows, group)
        guard let group else { return }
        for (key, row) in rows.sorted(by: { ($0.key.utf8.count, $0.key) < ($1.key.utf8.count, $1.key) }) {
            groups[group(row), default: []].append(key)
        }
    }

    /// The rows of a group, in the order in which they came.
    func rows(ofGroup name: String) -> [Row] { (groups[name] ?? []).compactMap { rows[$0] } }

    var count: Int { rows.count }
    var values: Dictionary<String, Row>.Values { rows.values }

    /// The rows in the order of their keys; keys with numbers of different lengths are also in numeric order.
    var sorted: [Row] { sorted { _ in true } }

    /// The matching rows in the same order. Only they are sorted, because sorting all rows costs more than checking
    /// each.
    func sorted(where isIncluded: (Row) -> Bool) -> [Row] {
        rows.filter { isIncluded($0.value) }
            .sorted { ($0.key.utf8.count, $0.key) < ($1.key.utf8.count, $1.key) }.map(\.value)
    }

    subscript(key: String) -> Row? {
        get { rows[key] }
        set {
            let earlier = rows.updateOrRemove(newValue, forKey: key)
            changedKeys.insert(key)
            guard let group, (earlier == nil) != (newValue == nil) else { return }
            if let newValue {
                groups[group(newValue), default: []].append(key)
            } else if let earlier {
                groups[group(earlier)]?.removeAll { $0 == key }
            }
        }
    }

    mutating func removeAll() {
        changedKeys.formUnion(rows.keys)
        rows.removeAll()
        groups.removeAll()
    }

    mutating func forgetChanges() { changedKeys.removeAll() }
}

extension Dictionary {
    /// Sets a value, or removes it if it is nil.
    /// - Returns: the value before.
    fileprivate mutating func updateOrRemove(_ value: Value?, forKey key: Key) -> Value? {
        guard let value else { return removeValue(forKey: key) }
        return updateValue(value, forKey: key)
    }
}
