import PurchaseVerification

/// The orders that one change pays, refunds or restores.
final class OrderPayments {
    /// The number of open orders that are read at a time.
    static let openOrders: Int64 = 16

    private let transaction: LedgerTransaction
    private let app: RegistryApp
    private let identities: CustomerIdentities
    /// The changes of orders, by key.
    private var orders: [Int64: (former: OrderRow, row: OrderRow)] = [:]
    /// The transaction that pays each order. Its key is known once it is written.
    private var paying: [Int64: TransactionKey] = [:]

    init(_ transaction: LedgerTransaction, app: RegistryApp, _ identities: CustomerIdentities) {
        self.transaction = transaction
        self.app = app
        self.identities = identities
    }

    /// Whether an order changes.
    var hasChanges: Bool { !orders.isEmpty }

    // MARK: Paying

    /// Pays an order with a transaction. An order that the purchase paid without a claim that named it is open again.
    ///
    /// - Parameter copies: all transactions of the purchase. A copy can have arrived first.
    func pay(
        _ order: OrderRow, with record: TransactionRecord, among copies: [TransactionRecord]
    ) throws(LedgerStorageError) {
        for copy in copies {
            if let other = try self.order(paidBy: copy), other.key != order.key { try reopen(other) }
        }
        try change(order) {
            $0.status = .paid
            $0.paidAt = transaction.now
        }
        paying[order.key] = record.facts.key
    }

    private func reopen(_ order: OrderRow) throws(LedgerStorageError) {
        paying[order.key] = nil
        try change(order) { ($0.status, $0.paidAt, $0.paidBy) = (.created, nil, nil) }
    }

    private func change(_ order: OrderRow, _ change: (inout OrderRow) -> Void) throws(LedgerStorageError) {
        try identities.lock { [order.customerKey] }
        let former = orders[order.key]?.former ?? order
        var row = orders[order.key]?.row ?? order
        change(&row)
        orders[order.key] = (former, row)
    }

    /// The order that a transaction paid earlier or pays now.
    func order(paidBy record: TransactionRecord) throws(LedgerStorageError) -> OrderRow? {
        if let key = paying.first(where: { $0.value == record.facts.key })?.key { return orders[key]?.row }
        guard !record.isNew, let order = try storedOrder(paidBy: record.row.key) else { return nil }
        guard let changed = orders[order.key]?.row else { return order }
        // The order can be open again, or paid by another transaction.
        return changed.paidBy == record.row.key && paying[order.key] == nil ? changed : nil
    }

    /// The order that a transaction paid, after the decisions before this one.
    private func storedOrder(paidBy key: Int64) throws(LedgerStorageError) -> OrderRow? {
        guard let situation = transaction.situation else {
            return try transaction.orders.row(paidBy: key)
        }
        if let changed = situation.order(paidBy: key) { return changed }
        let order = try transaction.orders.row(paidBy: key, addsChanges: true)
        return order.flatMap { situation.order($0.key) == nil ? $0 : nil }
    }

    /// The id of the order that a transaction pays in this change.
    func orderPaid(by record: TransactionRecord) -> String? {
        paying.first { $0.value == record.facts.key }.flatMap { orders[$0.key]?.row.id.text }
    }

    /// Whether a transaction keeps the order that it paid: a claim named the order, units were delivered, or the order
    /// has ended. A payment that no claim asked for can move to an order that a claim names later.
    func isBound(_ order: OrderRow, to record: TransactionRecord) throws(LedgerStorageError) -> Bool {
        guard order.isUndelivered, !record.isNew else { return !order.isUndelivered }
        return try JournalTable(connection: transaction.connection)
            .hasClaim(naming: order.key, transaction: record.row.key)
    }

    // MARK: Following purchases

    /// Pays open orders with purchases that have just got their first owner, or another one by a token, and applies
    /// refunds.
    ///
    /// - Parameter named: a transaction whose claim names an order; it pays no other order.
    func settle(_ history: PurchaseHistory, except named: TransactionKey?) throws(LedgerStorageError) {
        guard history.records.contains(where: \.isChanged) else { return }
        let change = history.change
        let (formerWithdrawals, places) = (change.formerWithdrawals, change.places)
        for purchase in change.purchases {
            let members = purchase.transactions.compactMap { places[$0.key] }
            let isNews = members.contains {
                formerWithdrawals[history.records[$0].facts.key] != purchase.withdrawal
            }
            // Nothing follows from the other purchases of a subscription.
            guard isNews || members.contains(where: { history.records[$0].isChanged }) else { continue }
            let records = members.map { history.records[$0] }
            for record in records where !record.isNew { try followOwner(of: record) }
            // A copy pays nothing.
            if let first = records.first, first.hasOwnerToPayFor, let owner = first.row.ownerKey,
                first.facts.key != named
            {
                try payOpenOrder(of: owner, with: first, among: records, purchase, history)
            }
            guard isNews else { continue }
            for record in records where !record.isNew {
                try followWithdrawal(of: record, purchase)
            }
        }
    }

    private func payOpenOrder(
        of owner: Int64, with record: TransactionRecord, among copies: [TransactionRecord], _ purchase: OwnedPurchase,
        _ history: PurchaseHistory
    ) throws(LedgerStorageError) {
        guard record.row.kind != nil, let date = record.facts.purchaseDate else { return }
        // A copy that arrived first has paid already.
        for copy in copies where try order(paidBy: copy) != nil { return }
        var claimed = ClaimedPurchase(record.facts, kind: record.row.kind, withdrawal: purchase.withdrawal)
        claimed.isRepurchase = purchase.isRepurchase
        guard claimed.wholeWithdrawal == nil else { return }
        let isRenewal = claimed.isAutomaticRenewal(among: history.records.map(\.facts))
        var cursor = OrderCursor(expiresAt: date, key: .max)
        let situation = transaction.situation
        while true {
            let open = try transaction.orders.open(
                of: owner, product: record.row.productKey, quantity: record.facts.quantity, after: cursor,
                limit: Self.openOrders, skipsChanges: situation?.hasOnlyClosedOrders ?? false)
            for order in open where orders[order.key] == nil && situation?.hasClosed(order.key) != true {
                let terms = try terms(of: order, purchase: record)
                if terms.isPaidUnnamed(by: claimed, isRenewal: isRenewal) {
                    try pay(order, with: record, among: copies)
                    return
                }
            }
            guard let last = open.last, open.count == Self.openOrders else { return }
            cursor = OrderCursor(expiresAt: last.expiresAt, key: last.key)
        }
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
            to: order.expiresAt, status: order.status)
        terms.acceptsRenewal = order.acceptsRenewal
        terms.isPaidByThis = order.paidBy.map { $0 == record.row.key } ?? false
        return terms
    }

    /// Refunds an order whose purchase is withdrawn as a whole, and restores it if the withdrawal is reversed. A
    /// receipt's cancellation of a subscription does not refund an order, since it may be an upgrade.
    private func followWithdrawal(
        of record: TransactionRecord, _ purchase: OwnedPurchase
    ) throws(LedgerStorageError) {
        guard let order = try order(paidBy: record) else { return }
        let claimed = ClaimedPurchase(record.facts, kind: record.row.kind, withdrawal: purchase.withdrawal)
        let isCancelled = record.row.kind == .autoRenewable && purchase.withdrawal?.cause == .cancelled
        let isRefunded = !isCancelled && claimed.wholeWithdrawal != nil
        if isRefunded, order.status == .paid || order.status == .fulfilled {
            try change(order) { ($0.status, $0.closedAt) = (.refunded, transaction.now) }
        } else if !isRefunded, order.status == .refunded {
            try change(order) { ($0.status, $0.closedAt) = ($0.fulfilledAt == nil ? .paid : .fulfilled, nil) }
        }
    }

    /// Unpays an order whose purchase was transferred to another customer, unless units of it were delivered before.
    private func followOwner(of record: TransactionRecord) throws(LedgerStorageError) {
        guard let former = record.formerRow?.ownerKey, let owner = record.row.ownerKey, former != owner,
            let order = try order(paidBy: record), order.isUndelivered
        else { return }
        let customer = try transaction.customers.surviving(try transaction.customers.row(order.customerKey))
        if customer.key != owner { try reopen(order) }
    }

    // MARK: Changes

    /// The orders that change, with the keys of the transactions that pay them. Reopened orders come first: a
    /// transaction pays only one order at a time.
    func changes(of histories: [PurchaseHistory]) -> [Delta.ChangedOrder] {
        let changes = orders.values.sorted {
            ($0.row.status == .created ? 0 : 1, $0.row.key) < ($1.row.status == .created ? 0 : 1, $1.row.key)
        }
        return changes.map { former, row in
            var row = row
            if let key = paying[row.key] {
                row.paidBy =
                    histories.lazy.compactMap { history in
                        history.index(of: key).map { history.records[$0].row.key }
                    }.first
            }
            return Delta.ChangedOrder(former: former, row: row)
        }
    }
}

extension OrderRow {
    /// Whether it is paid, and nothing of it was delivered.
    fileprivate var isUndelivered: Bool { status == .paid && fulfilledUnits == 0 }
}

extension TransactionRow {
    /// Whether a token decided about the owner.
    fileprivate var isOwnedByToken: Bool { ownerReason == "account_token" || ownerReason == "inherited_token" }
}

extension TransactionRecord {
    /// Whether it has its first owner, or a token transferred it to another one. Claims and operators transfer what was
    /// paid for before, so the order of the new owner stays open.
    fileprivate var hasOwnerToPayFor: Bool {
        hasFirstOwner || row.isOwnedByToken && formerRow?.ownerKey != row.ownerKey
    }
}
