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
        for reference in details.customers.compactMap({ UUID(uuidString: $0.reference) }) {
            guard let customer = try transaction.customers.row(reference: reference.bytes) else { continue }
            try transaction.entitlements.deleteAll(of: customer.key)
        }
        for payment in details.payments {
            let key = TransactionKey(
                environment: AppStoreEnvironment(payment.environment),
                transactionID: ExactText(payment.transactionID), second: payment.second ?? 0)
            guard let id = UUID(uuidString: payment.order), let row = try row(of: key) else { continue }
            try transaction.orders.pay(
                id, with: row.key, at: payment.paidAt.map { Timestamp(millisecondsSince1970: $0) }, payment.status)
        }
    }

    private func row(of key: TransactionKey) throws(LedgerStorageError) -> TransactionRow? {
        try transaction.transactions.row(
            key, environment: try transaction.environments.keyToWrite(of: key.environment))
    }
}
