import PurchaseVerification

/// The withdrawals of transactions as the ledger decides them: by the statements of all copies of the purchase
/// together.
struct PurchaseWithdrawals {
    /// The most transactions of one original that are read. A page must not cost what a history costs; of a longer one,
    /// each transaction is shown with its own withdrawal. Nine years of a weekly subscription have fewer.
    private static let transactions = 500

    let reader: LedgerTransaction
    /// The withdrawals of the transactions of each original that was read.
    private var originals: [Int64: [TransactionKey: Withdrawal]?] = [:]

    init(_ reader: LedgerTransaction) { self.reader = reader }

    /// The withdrawal of the purchase that a transaction belongs to.
    mutating func withdrawal(of row: TransactionRow) throws(LedgerStorageError) -> Withdrawal? {
        let environment = try reader.environments.environment(row.environment)
        let facts = try row.observed(in: environment)
        if originals[row.originalKey] == nil {
            originals[row.originalKey] = .some(try withdrawals(ofOriginal: row.originalKey, in: environment))
        }
        guard let known = originals[row.originalKey] ?? nil else { return facts.withdrawal }
        return known[facts.key]
    }

    /// - Returns: `nil` if there are too many transactions.
    private func withdrawals(
        ofOriginal originalKey: Int64, in environment: AppStoreEnvironment
    ) throws(LedgerStorageError) -> [TransactionKey: Withdrawal]? {
        let rows = try reader.transactions.rows(originalKey: originalKey, limit: Self.transactions + 1)
        guard rows.count <= Self.transactions else { return nil }
        var records: [TransactionRecord] = []
        for row in rows {
            let facts = try row.observed(in: environment)
            records.append(TransactionRecord(row, facts: facts, productID: ""))
        }
        guard records.contains(where: { $0.facts.lastWithdrawal != nil }), let first = records.first else { return [:] }
        let history = PurchaseHistory(
            original: try OriginalsTable(connection: reader.connection).row(originalKey), key: first.facts.original,
            records: records, acts: [])
        var withdrawals: [TransactionKey: Withdrawal] = [:]
        for purchase in history.purchases {
            for transaction in purchase.transactions { withdrawals[transaction.key] = purchase.withdrawal }
        }
        return withdrawals
    }
}
