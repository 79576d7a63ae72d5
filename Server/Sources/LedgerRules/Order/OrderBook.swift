/// The orders that a write knows, with its changes.
package struct OrderBook: Sendable {
    /// An order that a purchase may pay.
    package struct OpenOrder: Sendable {
        package let order: OrderState
        package let terms: OrderTerms

        package init(_ order: OrderState, _ terms: OrderTerms) { (self.order, self.terms) = (order, terms) }
    }

    /// Open orders of the owner of a transaction, those first that expire first.
    struct OpenOrders {
        let orders: [OpenOrder]
        /// Whether there are no more.
        let isComplete: Bool
    }

    private var orders: [Int64: OrderState] = [:]
    /// The orders that changed, as they were.
    private var former: [Int64: OrderState] = [:]
    /// The orders that transactions pay; `nil` for a transaction that pays none.
    private var payments: [TransactionKey: Int64?] = [:]
    private var open: [TransactionKey: OpenOrders] = [:]
    /// The orders that claims of each transaction named, with the first entry that did.
    private var named: [TransactionKey: [(entry: Int64, order: OpenOrder)]] = [:]

    package init() {}

    // MARK: What is known

    /// Whether it is known which order a transaction pays.
    package func knowsPayment(of transaction: TransactionKey) -> Bool { payments[transaction] != nil }

    /// The status of an order for a claim that names it, as far as it is known: the claim goes before the purchases
    /// that pay it in this change without being named.
    package func statusForClaim(of order: Int64) -> OrderStatus? {
        guard let state = orders[order] else { return nil }
        guard let former = former[order], state.status == .paid, former.paidBy == nil else { return state.status }
        return former.status
    }

    /// The order that a transaction pays, as far as it is known.
    package func order(paidBy transaction: TransactionKey) -> OrderState? {
        payments[transaction].flatMap(\.self).flatMap { orders[$0] }
    }

    /// Notes the stored order that a transaction pays.
    package mutating func note(_ order: OrderState?, paidBy transaction: TransactionKey) {
        guard !knowsPayment(of: transaction) else { return }
        guard let order else {
            payments[transaction] = .some(nil)
            return
        }
        note(order)
        // It can be open again, or paid by another transaction.
        payments[transaction] = .some(orders[order.key]?.paidBy == transaction ? order.key : nil)
    }

    /// Notes a stored order.
    package mutating func note(_ order: OrderState) { if orders[order.key] == nil { orders[order.key] = order } }

    /// Notes the next open orders that a transaction may pay. Those before them did not match, and are not looked at
    /// again.
    package mutating func note(_ next: [OpenOrder], for transaction: TransactionKey, isComplete: Bool) {
        open[transaction] = OpenOrders(orders: next, isComplete: isComplete)
    }

    /// The open orders that a transaction may pay; `nil` if they were not read.
    func openOrders(for transaction: TransactionKey) -> OpenOrders? { open[transaction] }

    /// Notes the orders that claims of a transaction named, with the first entry that did.
    package mutating func note(_ orders: [(entry: Int64, order: OpenOrder)], namedFor transaction: TransactionKey) {
        named[transaction] = orders
    }

    /// The orders of a customer that claims of some transactions named, the first named one first; `nil` if they were
    /// not all read.
    package func orders(of customer: CustomerNumber, namedFor transactions: [TransactionKey]) -> [OpenOrder]? {
        var orders: [(entry: Int64, order: OpenOrder)] = []
        for transaction in transactions {
            guard let known = named[transaction] else { return nil }
            orders += known.filter { $0.order.order.customer == customer }
        }
        return orders.sorted { $0.entry < $1.entry }.map(\.order)
    }

    // MARK: What changes

    /// Whether an order changes.
    package var hasChanges: Bool { !former.isEmpty }

    /// Whether an order changes.
    package func isChanged(_ order: Int64) -> Bool { former[order] != nil }

    /// Whether a transaction pays an order in this change.
    package func isNewlyPaid(by transaction: TransactionKey) -> OrderState? {
        order(paidBy: transaction).flatMap { former[$0.key]?.paidBy != transaction ? $0 : nil }
    }

    /// The orders that change, in the order in which they are written: a transaction pays only one at a time, so those
    /// that are open again come first.
    package var changes: [OrderState] {
        former.keys.compactMap { orders[$0] }.sorted {
            ($0.status == .created ? 0 : 1, $0.key) < ($1.status == .created ? 0 : 1, $1.key)
        }
    }

    /// Pays an order with a transaction. An order that the purchase paid without a claim that named it is open again.
    ///
    /// - Parameter copies: all transactions of the purchase. A copy can have arrived first.
    package mutating func pay(
        _ order: OrderState, with transaction: TransactionKey, among copies: [TransactionKey], at now: Timestamp
    ) {
        note(order)
        for copy in copies {
            if let other = self.order(paidBy: copy), other.key != order.key { reopen(other.key) }
        }
        if let other = orders[order.key]?.paidBy { payments[other] = .some(nil) }
        change(order.key) { ($0.status, $0.paidAt, $0.paidBy) = (.paid, now, transaction) }
        payments[transaction] = .some(order.key)
    }

    package mutating func reopen(_ order: Int64) {
        if let payer = orders[order]?.paidBy { payments[payer] = .some(nil) }
        change(order) { ($0.status, $0.paidAt, $0.paidBy) = (.created, nil, nil) }
    }

    package mutating func refund(_ order: Int64, at now: Timestamp) {
        change(order) { ($0.status, $0.closedAt) = (.refunded, now) }
    }

    /// Takes a refund back.
    package mutating func restore(_ order: Int64) {
        change(order) { ($0.status, $0.closedAt) = ($0.wasFulfilled ? .fulfilled : .paid, nil) }
    }

    private mutating func change(_ order: Int64, _ change: (inout OrderState) -> Void) {
        guard var state = orders[order] else { return }
        if former[order] == nil { former[order] = state }
        change(&state)
        orders[order] = state
    }
}

/// An order, as far as decisions about its payment go.
package struct OrderState: Sendable, Equatable {
    /// The number of the order.
    package let key: Int64
    /// Its customer, after all merges.
    package let customer: CustomerNumber
    /// The recorded state, which is never `expired`.
    package var status: OrderStatus
    /// The transaction that pays it; `nil` if none does, or one that the decision is not about.
    package var paidBy: TransactionKey?
    package var paidAt: Timestamp?
    /// When it was cancelled, closed or refunded.
    package var closedAt: Timestamp?
    /// Units that were delivered.
    package let fulfilledUnits: Int64
    /// Whether it was delivered as a whole.
    package let wasFulfilled: Bool

    package init(
        key: Int64, customer: CustomerNumber, status: OrderStatus, paidBy: TransactionKey? = nil,
        paidAt: Timestamp? = nil, closedAt: Timestamp? = nil, fulfilledUnits: Int64 = 0, wasFulfilled: Bool = false
    ) {
        (self.key, self.customer, self.status, self.paidBy) = (key, customer, status, paidBy)
        (self.paidAt, self.closedAt) = (paidAt, closedAt)
        (self.fulfilledUnits, self.wasFulfilled) = (fulfilledUnits, wasFulfilled)
    }

    /// Whether it is paid, and nothing of it was delivered.
    package var isUndelivered: Bool { status == .paid && fulfilledUnits == 0 }
}
