import PurchaseVerification

import struct Foundation.UUID

extension LedgerTransaction {
    /// An order as it is answered.
    func order(_ row: OrderRow) throws(LedgerStorageError) -> Order {
        var payment: OrderPayment?
        if let key = row.paidBy, let paid = try transactions.row(key) {
            let environment = try environments.environment(paid.environment)
            let facts = try paid.observed(in: environment)
            payment = OrderPayment(
                environment: environment, transactionID: paid.transactionID, price: facts.price, offer: facts.offer)
        }
        return Order(
            id: row.id, app: registry.app(key: row.appKey)?.settings.id ?? "",
            customerID: try customers.surviving(try customers.row(row.customerKey)).name ?? "",
            productID: try products.id(row.productKey), quantity: row.quantity,
            environment: try row.environment.map { key throws(LedgerStorageError) in try environments.environment(key)
            },
            appAccountToken: row.token, metadata: row.metadata, status: row.status(at: now), createdAt: row.createdAt,
            expiresAt: row.expiresAt, paidAt: row.paidAt, fulfilledAt: row.fulfilledAt, closedAt: row.closedAt,
            payment: payment)
    }

    /// An order of an app by its id.
    func existingOrder(_ id: UUID, _ app: RegistryApp) throws -> OrderRow {
        guard let row = try orders.row(id: id), row.appKey == app.key else {
            throw LedgerRefusal(.orderUnknown, expected: id.text)
        }
        return row
    }
}
