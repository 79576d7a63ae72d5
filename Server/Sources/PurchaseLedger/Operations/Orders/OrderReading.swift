import PurchaseVerification

import struct Foundation.UUID

extension LedgerTransaction {
    /// An order in the form of an answer.
    func order(_ row: OrderRow) throws(LedgerStorageError) -> Order {
        let customerID = try customers.surviving(try customers.row(row.customerKey)).name
        guard let key = row.paidBy, let paid = try transactions.row(key) else {
            return try order(row, of: customerID, paidBy: nil)
        }
        let environment = try environments.environment(paid.environment)
        return try order(row, of: customerID, paidBy: OrderPayment(try paid.observed(in: environment)))
    }

    /// An order in the form of an answer, with its known customer and payment.
    func order(
        _ row: OrderRow, of customerID: String?, paidBy payment: OrderPayment?
    ) throws(LedgerStorageError) -> Order {
        Order(
            id: row.id, app: registry.app(key: row.appKey)?.settings.id ?? "",
            customerID: customerID ?? "",
            productID: try products.id(row.productKey), quantity: row.quantity,
            environment: try row.environment.map { key throws(LedgerStorageError) in try environments.environment(key)
            },
            acceptsRenewal: row.acceptsRenewal, appAccountToken: row.token, metadata: row.metadata,
            status: row.status(at: now), createdAt: row.createdAt,
            expiresAt: row.expiresAt, paidAt: row.paidAt, fulfilledUnits: row.fulfilledUnits,
            fulfilledAt: row.fulfilledAt, closedAt: row.closedAt,
            payment: payment)
    }

    /// The transactions of the purchase that a transaction belongs to, including itself. One of them may pay its order.
    func copies(of row: TransactionRow) throws(LedgerStorageError) -> [Int64] {
        guard let history = try HistoryReader(transaction: self).histories([row.originalKey]).first else { return [] }
        let purchase = history.purchases.first { purchase in
            purchase.transactions.contains { $0.key.transactionID.string == row.transactionID }
        }
        return purchase?.transactions.compactMap { copy in
            history.index(of: copy.key).map { history.records[$0].row.key }
        } ?? [row.key]
    }

    func existingOrder(_ id: UUID, _ app: RegistryApp) throws -> OrderRow {
        guard let row = try orders.row(id: id), row.appKey == app.key else {
            throw LedgerRefusal(.orderUnknown, expected: id.text)
        }
        return row
    }

    /// The order of an app with an id, with its customer locked.
    func orderToWrite(_ id: UUID, _ app: RegistryApp) throws -> OrderRow {
        let row = try existingOrder(id, app)
        try lock(customers: { [row.customerKey] })
        return row
    }
}

extension OrderPayment {
    /// The payment by a transaction.
    init(_ facts: ObservedTransaction) {
        self.init(
            environment: facts.key.environment, transactionID: facts.key.transactionID.string, price: facts.price,
            offer: facts.offer)
    }
}
