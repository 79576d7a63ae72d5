import PurchaseVerification

import struct Foundation.UUID

/// The remaining data of an erased customer.
extension ReplayStep {
    /// Applies an entry without details.
    func applyErased(_ entry: JournalEntry, _ app: RegistryApp?) throws {
        let customer = try app.flatMap { try self.customer(nil, $0) }
        switch leaf.kind {
        case .orderCreated:
            guard let customer, let id = leaf.order else { return }
            _ = try transaction.orders.insert(OrderRow(erased: id, customerKey: customer.key, at: leaf.at))
        case .evidence, .claim, .decision:
            guard !isWithoutEffect else { return }
            try observe(entry, app, claims: nil)
        default: return
        }
    }

    /// What a notification whose details were erased stated. It is still stored if its purchase belonged to another
    /// customer when its owner at the time of the notification was erased, and then it closed that customer's refund
    /// requests.
    func keptDecision(_ details: NotificationDetails) -> NotificationDetails? {
        guard details.transactionID == nil, transaction.erasures?.entries[leaf.id] != nil else { return nil }
        return evidence?.examined.notification.map { NotificationDetails($0) }
    }

    /// Applies an erasure. The parts that it kept were already applied with their entries.
    func erase(_ details: CustomerErasedDetails, _ entry: JournalEntry, _ app: RegistryApp) throws {
        let changes = LedgerChanges(transaction, app: app)
        for erased in details.transactions { try changes.claim(erased: erased.facts) }
        try changes.settle()
        try changes.finish(entry)
        for erased in details.transactions {
            guard let row = try row(of: erased.key) else { continue }
            try transaction.transactions.erase(row.key, facts: erased.facts, at: leaf.at)
            try ConsumptionRequestsTable(connection: connection).deleteAll(transaction: row.key)
        }
        for erased in details.transactions { try ErasureWriter.deleteRest(of: erased.facts, transaction) }
        for reference in details.customers.compactMap({ UUID(uuidString: $0) }) {
            guard let customer = try transaction.customers.row(reference: reference.bytes) else { continue }
            try ErasureWriter.forgetTokens(of: customer, transaction)
            try transaction.entitlements.deleteAll(of: customer.key)
        }
        for order in try details.paidByOthers.compactMap({ try order($0) }) {
            try transaction.orders.erase(of: order.customerKey)
        }
        for payment in details.payments {
            guard let id = UUID(uuidString: payment.order), let row = try row(of: payment.key) else { continue }
            try transaction.orders.pay(
                id, with: row.key, at: payment.paidAt.map { Timestamp(millisecondsSince1970: $0) }, payment.status)
        }
    }

    /// Pays the orders of customers who are erased later with the purchases of others that paid them at this time. They
    /// were delivered, and keep the purchase until the erasure.
    func payErasedOrders() throws {
        for payment in transaction.erasures?.paidByOthers[leaf.at] ?? [] {
            guard let order = try order(payment), let row = try row(of: payment.key),
                try transaction.orders.row(paidBy: row.key) == nil
            else { continue }
            try transaction.orders.pay(order.id, with: row.key, at: leaf.at, OrderStatus.closed.rawValue)
        }
    }

    private func order(_ payment: CustomerErasedDetails.Payment) throws(LedgerStorageError) -> OrderRow? {
        guard let id = UUID(uuidString: payment.order) else { return nil }
        return try transaction.orders.row(id: id)
    }

    private func row(of key: TransactionKey) throws(LedgerStorageError) -> TransactionRow? {
        try transaction.transactions.row(
            key, environment: try transaction.environments.keyToWrite(of: key.environment))
    }
}
