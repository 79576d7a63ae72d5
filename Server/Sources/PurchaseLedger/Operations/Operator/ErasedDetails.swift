import PurchaseVerification

import struct Foundation.UUID

/// `customer_erased`: the erased data, and the part that still affects purchases. It contains no outside names.
struct CustomerErasedDetails: JournalDetails {
    static var kind: JournalKind { .customerErased }
    var reason: String
    /// The random references of the customer, and of those who had been merged into them.
    var customers: [String]
    /// The purchases, which stay claimed.
    var transactions: [Transaction]
    /// Orders of other customers that one of the transactions had paid.
    var payments: [Payment]
    /// Orders of the customer that transactions of others had paid.
    var paidByOthers: [Payment]
    /// The entries whose details were deleted.
    var entries: [Entry]
    /// The SHA-256 of each piece of evidence whose bytes were deleted, in hexadecimal.
    var evidence: [String]

    /// Applies a recorded erasure. The parts that it kept were already applied with their entries. The erasure itself
    /// is written by `ErasureWriter`, since it also deletes what a rebuild never reads.
    func run(_ write: EntryWrite) throws {
        let (transaction, connection) = (write.transaction, write.connection)
        let changes = LedgerChanges(transaction, app: write.app)
        for erased in transactions { try changes.claim(erased: erased.facts) }
        try changes.settle()
        try changes.finish(write.entry)
        for erased in transactions {
            guard let row = try transaction.row(of: erased.key) else { continue }
            try transaction.transactions.erase(row.key, facts: erased.facts, at: transaction.now)
            try ConsumptionRequestsTable(connection: connection).deleteAll(transaction: row.key)
        }
        for erased in transactions { try ErasureWriter.deleteRest(of: erased.facts, transaction) }
        for reference in customers.compactMap({ UUID(uuidString: $0) }) {
            guard let customer = try transaction.customers.row(reference: reference.bytes) else { continue }
            try ErasureWriter.forgetTokens(of: customer, transaction)
            try transaction.entitlements.deleteAll(of: customer.key)
        }
        for order in try paidByOthers.compactMap({ try $0.order(transaction) }) {
            try transaction.orders.erase(of: order.customerKey)
        }
        for payment in payments {
            guard let id = UUID(uuidString: payment.order), let row = try transaction.row(of: payment.key) else {
                continue
            }
            try transaction.orders.pay(
                id, with: row.key, at: payment.paidAt.map { Timestamp(millisecondsSince1970: $0) }, payment.status)
        }
    }

    struct Transaction: Codable, Sendable, Equatable {
        var environment: String
        var transactionID: String
        var second: Int64?
        var originalID: String
        var originalSecond: Int64?
        var kind: String?
        var isShared: Bool
        var purchasedAt: Int64?
        /// The account token, replaced by a reference.
        var token: String?
    }

    struct Payment: Codable, Sendable, Equatable {
        var order: String
        var environment: String
        var transactionID: String
        var second: Int64?
        var status: String
        var paidAt: Int64?
    }

    struct Entry: Codable, Sendable, Equatable {
        var id: String
        /// The details without names, if they affect other customers' purchases.
        var kept: String?
    }
}

extension CustomerErasedDetails.Payment {
    func order(_ transaction: LedgerTransaction) throws(LedgerStorageError) -> OrderRow? {
        guard let id = UUID(uuidString: order) else { return nil }
        return try transaction.orders.row(id: id)
    }

    var key: TransactionKey {
        TransactionKey(
            environment: AppStoreEnvironment(environment), transactionID: ExactText(transactionID), second: second ?? 0)
    }
}

extension CustomerErasedDetails.Transaction {
    var key: TransactionKey {
        TransactionKey(
            environment: AppStoreEnvironment(environment), transactionID: ExactText(transactionID), second: second ?? 0)
    }

    /// The rest of the facts: enough to determine the owners of the other transactions of the original.
    var facts: ObservedTransaction {
        var statement = TransactionStatement(key: key, source: .signedData, stamp: .epoch)
        statement.originalTransactionID = ExactText(originalID)
        statement.originalPurchaseDate = originalSecond.map { Timestamp(millisecondsSince1970: $0 * 1000) }
        statement.purchaseDate = purchasedAt.map { Timestamp(millisecondsSince1970: $0) }
        statement.kind = kind.flatMap(ProductKind.init(rawValue:))
        statement.ownershipType = isShared ? "FAMILY_SHARED" : nil
        statement.accountToken = token.flatMap { AppAccountToken($0) }
        return ObservedTransaction(statement)
    }
}

extension LedgerTransaction {
    /// The row of a transaction.
    func row(of key: TransactionKey) throws(LedgerStorageError) -> TransactionRow? {
        try transactions.row(key, environment: try environments.keyToWrite(of: key.environment))
    }
}
