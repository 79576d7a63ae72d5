import PurchaseVerification

import struct Foundation.UUID

/// The details of an erasure in the journal.
extension ErasureScope {
    func details(reason: String) throws -> CustomerErasedDetails {
        let transactions = try rows.map(erased)
        let assignments = try self.assignments()
        return CustomerErasedDetails(
            reason: reason, customers: customers.map(\.reference.text),
            transactions: transactions, payments: try payments(transactions),
            paidByOthers: try paidByOthers(),
            entries: try entries.map { entry in
                let kept =
                    try assignments[entry.key].map { token throws(LedgerStorageError) in
                        try TokenAssignedDetails(customer: "", token: token.text).encoded()
                    }
                    ?? entry.details.flatMap { details in
                        try UInt8(exactly: entry.kind).flatMap(JournalKind.init(rawValue:))?.input
                            .redacted(encoded: details, self)
                    }
                return CustomerErasedDetails.Entry(
                    id: entry.id.text, kept: kept.map { String(decoding: $0, as: UTF8.self) })
            },
            evidence: evidence.values.map(\.hexadecimal).sorted())
    }

    /// The facts of an erased transaction that are kept.
    func erased(_ row: TransactionRow) throws(LedgerStorageError) -> CustomerErasedDetails.Transaction {
        let environment = try transaction.environments.environment(row.environment)
        let facts = try row.observed(in: environment)
        var token: UUID?
        if let stated = row.token,
            let assignment = try AccountTokensTable(connection: connection).assignment(of: stated, appKey: app.key)
        {
            // The reference replaces the customer's own tokens; a token of another customer is kept.
            token = customers.first { $0.key == assignment.customer }?.reference ?? stated
        }
        return CustomerErasedDetails.Transaction(
            environment: environment.name, transactionID: row.transactionID,
            second: row.xcodeSecond == 0 ? nil : row.xcodeSecond, originalID: facts.original.transactionID.string,
            originalSecond: facts.original.second == 0 ? nil : facts.original.second, kind: row.kind?.rawValue,
            isShared: facts.ownership.holder != .buyer,
            purchasedAt: (facts.purchaseDate ?? facts.originalPurchaseDate)?.millisecondsSince1970,
            token: token?.text)
    }

    /// The entries that assigned a token which decides who owns a transaction of somebody else, or may have decided it
    /// before newer evidence stated another token. It decides that from its assignment until the erasure.
    private func assignments() throws(LedgerStorageError) -> [Int64: UUID] {
        let own = Set(rows.map(\.key))
        let areFormerOwners = try EventsTable(connection: connection).tellOthers(ofFormer: keys, appKey: app.key)
        var found: [Int64: UUID] = [:]
        for entry in entries {
            guard let details = entry.details, let stated = try Self.token(assignedBy: entry.kind, details),
                // Only the first assignment counts; later ones name the same customer.
                let token = UUID(uuidString: stated), !found.values.contains(token)
            else { continue }
            let carriers = try transaction.transactions.rows(token: token)
            if areFormerOwners || carriers.contains(where: { !own.contains($0.key) }) { found[entry.key] = token }
        }
        return found
    }

    private static func token(assignedBy kind: Int64, _ details: [UInt8]) throws(LedgerStorageError) -> String? {
        switch UInt8(exactly: kind).flatMap(JournalKind.init(rawValue:)) {
        case .tokenAssigned: return try TokenAssignedDetails(encoded: details).token
        case .orderCreated:
            let order = try OrderCreatedDetails(encoded: details)
            return order.assignsToken ? order.token : nil
        default: return nil
        }
    }

    /// Orders of other customers that one of the transactions paid.
    private func payments(
        _ transactions: [CustomerErasedDetails.Transaction]
    ) throws(LedgerStorageError) -> [CustomerErasedDetails.Payment] {
        var payments: [CustomerErasedDetails.Payment] = []
        for (row, erased) in zip(rows, transactions) {
            guard let order = try transaction.orders.row(paidBy: row.key), !keys.contains(order.customerKey) else {
                continue
            }
            payments.append(payment(of: order, by: row, in: erased.environment))
        }
        return payments
    }

    /// Orders of the customer that transactions of others paid. Until the erasure, these pay no other order.
    private func paidByOthers() throws(LedgerStorageError) -> [CustomerErasedDetails.Payment] {
        var payments: [CustomerErasedDetails.Payment] = []
        let own = Set(rows.map(\.key))
        var orders: [OrderRow] = []
        for key in keys {
            orders += try transaction.orders.order(ListIndex("customer_key = ?1", key), by: ["order_key"]).rows()
        }
        for order in orders.sorted(by: { $0.key > $1.key }) {
            guard let key = order.paidBy, !own.contains(key), let row = try transaction.transactions.row(key) else {
                continue
            }
            let environment = try transaction.environments.environment(row.environment)
            payments.append(payment(of: order, by: row, in: environment.name))
        }
        return payments
    }

    private func payment(
        of order: OrderRow, by row: TransactionRow, in environment: String
    ) -> CustomerErasedDetails.Payment {
        CustomerErasedDetails.Payment(
            order: order.id.text, environment: environment, transactionID: row.transactionID,
            second: row.xcodeSecond == 0 ? nil : row.xcodeSecond, status: order.status.rawValue,
            paidAt: order.paidAt?.millisecondsSince1970)
    }

    /// Whether a manual revocation is kept.
    func isKept(_ id: String) throws -> Bool {
        guard let id = UUID(uuidString: id), let row = try HandGrantsTable(connection: connection).row(id: id) else {
            return false
        }
        return try isKept(row)
    }

    /// Whether a manual revocation is kept: it concerns an original of which others own a part. That of a member's copy
    /// ends with the erasure of the customer of whom it was said. It is kept only if it was lifted before, since the
    /// later owner who lifted it was told.
    func isKept(_ row: HandGrantRow) throws(LedgerStorageError) -> Bool {
        guard let original = row.revokedOriginal, !row.revokedShared || row.liftedAt != nil else { return false }
        return try hasRest(original)
    }

    /// Whether an original has transactions that are not erased.
    func hasRest(_ original: Int64) throws(LedgerStorageError) -> Bool {
        let own = Set(rows.map(\.key))
        return try transaction.transactions.rows(originalKey: original).contains {
            !$0.isErased && !own.contains($0.key)
        }
    }
}
