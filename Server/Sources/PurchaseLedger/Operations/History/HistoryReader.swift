import PurchaseVerification

/// Reads the history of an original.
struct HistoryReader {
    let transaction: LedgerTransaction

    private var connection: any LedgerConnection { transaction.connection }

    /// The history of a stored original.
    func history(_ original: OriginalRow) throws(LedgerStorageError) -> PurchaseHistory {
        let environment = try transaction.environments.environment(original.environment)
        let key = OriginalKey(
            environment: environment, transactionID: ExactText(original.originalID), second: original.xcodeSecond)
        try connection.lock { () throws(LedgerStorageError) in [.original(environment, original.originalID)] }
        var records: [TransactionRecord] = []
        var productIDs: [Int64: String] = [:]
        for row in try transaction.transactions.rows(originalKey: original.key) {
            let facts = try row.observed(in: environment)
            if productIDs[row.productKey] == nil, !row.isErased {
                productIDs[row.productKey] = try transaction.products.id(row.productKey)
            }
            records.append(TransactionRecord(row, facts: facts, productID: productIDs[row.productKey] ?? ""))
        }
        var keys: [Int64: TransactionKey] = [:]
        for record in records { keys[record.row.key] = record.facts.key }
        let acts = try OwnershipActsTable(connection: connection).rows(originalKey: original.key).compactMap { act in
            keys[act.row.transactionKey].map {
                RecordedAct(
                    entry: act.row.entryKey, transaction: $0, customerKey: act.row.customerKey,
                    formerKey: act.row.formerKey, kind: act.row.kind, isMerged: act.isMerged || act.row.formerKey != nil
                )
            }
        }
        var history = PurchaseHistory(original: original, key: key, records: records, acts: acts)
        if history.isSubscription {
            history.read(try news(key, environment: original.environment))
        }
        if records.contains(where: { $0.row.kind == .consumable || $0.facts.kind == .consumable }) {
            history.formerLot = try LotsTable(connection: connection).row(original.key)
        }
        history.revocations = try HandGrantsTable(connection: connection)
            .revocationsOfPurchases(ofOriginal: original.key)
        return history
    }

    /// What is signed about a subscription beside its transactions.
    func news(_ key: OriginalKey, environment: Int64) throws(LedgerStorageError) -> RenewalsTable.News {
        let renewal = RenewalKey(environment: key.environment, originalTransactionID: key.transactionID)
        return try RenewalsTable(connection: connection).news(renewal, environment: environment)
    }
}
