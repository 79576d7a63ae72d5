import PurchaseVerification

/// Reads the orders that one change may pay, refund or restore, for the decisions about them (`OrderSettlement`).
final class OrderPayments {
    /// The number of open orders that are read at a time.
    static let openOrders: Int64 = 16

    private let transaction: LedgerTransaction
    private let app: RegistryApp
    private let identities: CustomerIdentities
    /// What the decisions so far leave of the orders.
    var book = OrderBook()
    /// The rows of the orders that were read.
    private var rows: [Int64: OrderRow] = [:]
    /// The last of the open orders that were read for a transaction.
    private var cursors: [TransactionKey: OrderCursor] = [:]

    init(_ transaction: LedgerTransaction, app: RegistryApp, _ identities: CustomerIdentities) {
        self.transaction = transaction
        self.app = app
        self.identities = identities
    }

    /// Whether an order changes.
    var hasChanges: Bool { book.hasChanges }

    // MARK: Paying

    /// Pays an order with a transaction.
    ///
    /// - Parameter copies: all transactions of the purchase.
    func pay(
        _ order: OrderRow, with record: TransactionRecord, among copies: [TransactionRecord]
    ) throws(LedgerStorageError) {
        for copy in copies { try readPayment(of: copy) }
        // A claim for an order is of the customer who owns the purchase.
        let state = state(of: order, customer: record.row.ownerKey ?? order.customerKey)
        var paid = book
        paid.pay(state, with: record.facts.key, among: copies.map(\.facts.key), at: transaction.now)
        try take(paid)
    }

    /// Takes over what was decided, after the balances and orders of the customers whose orders change were locked.
    private func take(_ decided: OrderBook) throws(LedgerStorageError) {
        if decided.hasChanges {
            try identities.lock { Set(decided.changes.compactMap { rows[$0.key]?.customerKey }) }
        }
        book = decided
    }

    /// The order that a transaction paid earlier or pays now.
    func order(paidBy record: TransactionRecord) throws(LedgerStorageError) -> OrderRow? {
        try readPayment(of: record)
        return book.order(paidBy: record.facts.key).flatMap(row)
    }

    /// The id of the order that a transaction pays in this change.
    func orderPaid(by record: TransactionRecord) -> String? {
        book.isNewlyPaid(by: record.facts.key).flatMap { rows[$0.key]?.id.text }
    }

    /// Whether a purchase keeps the order that it paid: a claim of a copy named the order, units were delivered, or the
    /// order has ended. A payment that no claim asked for can move to an order that a claim names later.
    func isBound(_ order: OrderRow, to copies: [TransactionRecord]) throws(LedgerStorageError) -> Bool {
        guard order.status == .paid, order.fulfilledUnits == 0 else { return true }
        for copy in copies where !copy.isNew {
            if try journal.orders(namedFor: copy.row.key).contains(where: { $0.order == order.key }) { return true }
        }
        return false
    }

    private var journal: JournalTable { JournalTable(connection: transaction.connection) }

    /// Pays open orders with purchases that have just got their first owner, or another one by a token, and applies
    /// refunds.
    ///
    /// - Parameters:
    ///   - change: what changed in the history.
    ///   - claim: a claim that names an order; if it is the owner's, its purchase pays no other order.
    func settle(
        _ history: PurchaseHistory, _ change: ChangedHistory, _ claim: OrderSettlement.NamingClaim?
    ) throws(LedgerStorageError) {
        for record in history.records where record.isNew { book.note(nil, paidBy: record.facts.key) }
        let settlement = OrderSettlement(change, claim: claim, at: transaction.now)
        while true {
            switch settlement.decide(book) {
            case .needs(let needs):
                for need in needs { try read(need, of: history) }
            case .decided(let decided): return try take(decided)
            }
        }
    }

    // MARK: Reading

    /// Reads what a decision needs. The transactions of its needs are those of the history.
    private func read(_ need: OrderSettlement.Need, of history: PurchaseHistory) throws(LedgerStorageError) {
        switch need {
        case .payment(of: let key):
            guard let place = history.index(of: key) else { return book.note(nil, paidBy: key) }
            try readPayment(of: history.records[place])
        case .openOrders(for: let key, at: let date):
            guard let place = history.index(of: key) else { return book.note([], for: key, isComplete: true) }
            try readOpenOrders(for: history.records[place], at: date)
        case .namedOrders(for: let key):
            guard let place = history.index(of: key) else { return book.note([], namedFor: key) }
            try readNamedOrders(for: history.records[place])
        }
    }

    /// Reads the order that a transaction paid, after the decisions before this one.
    private func readPayment(of record: TransactionRecord) throws(LedgerStorageError) {
        let key = record.facts.key
        guard !book.knowsPayment(of: key) else { return }
        guard !record.isNew, let order = try storedOrder(paidBy: record.row.key) else {
            return book.note(nil, paidBy: key)
        }
        let customer = try transaction.customers.surviving(try transaction.customers.row(order.customerKey))
        book.note(state(of: order, customer: customer.key, paidBy: key), paidBy: key)
    }

    private func storedOrder(paidBy key: Int64) throws(LedgerStorageError) -> OrderRow? {
        guard let situation = transaction.situation else {
            return try transaction.orders.row(paidBy: key)
        }
        if let changed = situation.order(paidBy: key) { return changed }
        let order = try transaction.orders.row(paidBy: key, addsChanges: true)
        return order.flatMap { situation.order($0.key) == nil ? $0 : nil }
    }

    /// Reads the orders that claims of a transaction named.
    private func readNamedOrders(for record: TransactionRecord) throws(LedgerStorageError) {
        var orders: [(entry: Int64, order: OrderBook.OpenOrder)] = []
        if let situation = transaction.situation, !situation.namesOrders, situation.hasInserted(record.row.key) {
            return book.note([], namedFor: record.facts.key)
        }
        for (entry, key) in try journal.orders(namedFor: record.row.key) {
            var order = transaction.situation?.order(key)
            if order == nil { order = try transaction.orders.row(key: key) }
            guard let order else { continue }
            let customer = try transaction.customers.surviving(try transaction.customers.row(order.customerKey))
            let state = state(of: order, customer: customer.key)
            orders.append((entry, OrderBook.OpenOrder(state, try terms(of: order, purchase: record))))
        }
        book.note(orders, namedFor: record.facts.key)
    }

    /// Reads a page of the open orders that a transaction may pay, for a purchase at a time.
    private func readOpenOrders(for record: TransactionRecord, at date: Timestamp) throws(LedgerStorageError) {
        let key = record.facts.key
        guard let owner = record.row.ownerKey else { return book.note([], for: key, isComplete: true) }
        let cursor = cursors[key] ?? OrderCursor(expiresAt: date, key: .max)
        let situation = transaction.situation
        let open = try transaction.orders.open(
            of: owner, product: record.row.productKey, quantity: record.facts.quantity, after: cursor,
            limit: Self.openOrders, skipsChanges: situation?.hasOnlyClosedOrders ?? false)
        var orders: [OrderBook.OpenOrder] = []
        for order in open where situation?.hasClosed(order.key) != true {
            let state = state(of: order, customer: owner)
            orders.append(OrderBook.OpenOrder(state, try terms(of: order, purchase: record)))
        }
        cursors[key] = open.last.map { OrderCursor(expiresAt: $0.expiresAt, key: $0.key) }
        book.note(orders, for: key, isComplete: open.count < Self.openOrders)
    }

    /// The state of a stored order.
    ///
    /// - Parameter customer: its customer, after all merges.
    private func state(of order: OrderRow, customer: Int64, paidBy payer: TransactionKey? = nil) -> OrderState {
        rows[order.key] = rows[order.key] ?? order
        return OrderState(
            key: order.key, customer: CustomerNumber(rawValue: customer), status: order.status, paidBy: payer,
            paidAt: order.paidAt, closedAt: order.closedAt, fulfilledUnits: order.fulfilledUnits,
            wasFulfilled: order.fulfilledAt != nil)
    }

    /// The terms of an order for the decision.
    func terms(of order: OrderRow, purchase record: TransactionRecord) throws(LedgerStorageError) -> OrderTerms {
        var environments: [AppStoreEnvironment] = []
        let named = try order.environment.map { key throws(LedgerStorageError) in
            try transaction.environments.environment(key)
        }
        // Purchases that do not count for the customer pay nothing, even if the order names their environment.
        let isSandbox = record.facts.key.environment == .sandbox
        for environment in named.map({ [$0] }) ?? (isSandbox ? [.production, .sandbox] : [.production])
        where try transaction.counts(environment, for: order.customerKey, app) {
            environments.append(environment)
        }
        let productID =
            order.productKey == record.row.productKey
            ? record.productID : try transaction.products.id(order.productKey)
        var terms = OrderTerms(
            ExactText(productID), quantity: order.quantity, environments: environments, from: order.createdAt,
            to: order.expiresAt, status: book.statusForClaim(of: order.key) ?? order.status)
        (terms.acceptsRenewal, terms.token) = (order.acceptsRenewal, AppAccountToken(order.token))
        return terms
    }

    // MARK: Changes

    /// The row of an order in the state that the decisions left.
    private func row(_ state: OrderState) -> OrderRow? {
        guard var row = rows[state.key] else { return nil }
        (row.status, row.paidAt, row.closedAt) = (state.status, state.paidAt, state.closedAt)
        return row
    }

    /// The orders that change, with the keys of the transactions that pay them.
    func changes(of histories: [PurchaseHistory]) -> [Delta.ChangedOrder] {
        book.changes.compactMap { state in
            guard let former = rows[state.key], var row = row(state) else { return nil }
            row.paidBy = state.paidBy.flatMap { key in
                histories.lazy.compactMap { history in
                    history.index(of: key).map { history.records[$0].row.key }
                }.first ?? former.paidBy
            }
            return Delta.ChangedOrder(former: former, row: row)
        }
    }
}
