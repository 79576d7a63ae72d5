import PurchaseVerification

/// The withdrawals of transactions as the ledger decides them: by the statements of all copies of the purchase together.
struct PurchaseWithdrawals {
    let reader: LedgerTransaction
    /// The withdrawals of the transactions of each original that was read.
    private var originals: [Int64: [TransactionKey: Withdrawal]] = [:]

    init(_ reader: LedgerTransaction) { self.reader = reader }

    /// The withdrawal of the purchase that a transaction belongs to.
    mutating func withdrawal(of row: TransactionRow) throws(LedgerStorageError) -> Withdrawal? {
        let environment = try reader.environments.environment(row.environment)
        let key = try row.observed(in: environment).key
        if let known = originals[row.originalKey] { return known[key] }
        let found = try withdrawals(ofOriginal: row.originalKey, in: environment)
        originals[row.originalKey] = found
        return found[key]
    }

    private func withdrawals(
        ofOriginal originalKey: Int64, in environment: AppStoreEnvironment
    ) throws(LedgerStorageError) -> [TransactionKey: Withdrawal] {
        var records: [TransactionRecord] = []
        for row in try reader.transactions.rows(originalKey: originalKey) {
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
