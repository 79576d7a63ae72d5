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

    /// Pays the orders of customers who are erased later with the purchases of others that paid them at this time. They
    /// were delivered, and keep the purchase until the erasure.
    func payErasedOrders() throws {
        for payment in transaction.erasures?.paidByOthers[leaf.at] ?? [] {
            guard let order = try payment.order(transaction), let row = try transaction.row(of: payment.key),
                try transaction.orders.row(paidBy: row.key) == nil
            else { continue }
            try transaction.orders.pay(order.id, with: row.key, at: leaf.at, OrderStatus.closed.rawValue)
        }
    }
}
