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
        let rows = try transaction.transactions.rows(originalKey: original.key)
        records.reserveCapacity(rows.count + 1)
        for row in rows {
            let facts = try row.observed(in: environment)
            var productID = productIDs[row.productKey]
            if productID == nil { productID = try transaction.products.id(row.productKey) }
            productIDs[row.productKey] = productID
            records.append(TransactionRecord(row, facts: facts, productID: productID ?? ""))
        }
        let recorded = try OwnershipActsTable(connection: connection).rows(originalKey: original.key)
        var keys: [Int64: TransactionKey] = [:]
        for record in recorded.isEmpty ? [] : records { keys[record.row.key] = record.facts.key }
        let acts = recorded.compactMap { act in
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

    /// The facts and owners of some originals, without acts, renewals and lots: three statements for all of them.
    func histories(_ originals: [Int64]) throws(LedgerStorageError) -> [PurchaseHistory] {
        try histories(
            try OriginalsTable(connection: connection).rows(originals),
            try transaction.transactions.rows(ofOriginals: originals),
            try HandGrantsTable(connection: connection).revocations(ofOriginals: originals))
    }

    /// The facts and owners of some originals, made of their rows in any order.
    func histories(
        _ originals: [OriginalRow], _ transactions: [TransactionRow], _ revocations: [HandGrantRow]
    ) throws(LedgerStorageError) -> [PurchaseHistory] {
        var rows = Dictionary(grouping: transactions.sorted { $0.key < $1.key }, by: \.originalKey)
        // Erased rows have the number 0.
        var productIDs: [Int64: String] = [0: ""]
        var histories: [PurchaseHistory] = []
        for original in originals {
            let environment = try transaction.environments.environment(original.environment)
            var records: [TransactionRecord] = []
            for row in rows.removeValue(forKey: original.key) ?? [] {
                if productIDs[row.productKey] == nil {
                    productIDs[row.productKey] = try transaction.products.id(row.productKey)
                }
                records.append(
                    TransactionRecord(
                        row, facts: try row.observed(in: environment), productID: productIDs[row.productKey] ?? ""))
            }
            let key = OriginalKey(
                environment: environment, transactionID: ExactText(original.originalID), second: original.xcodeSecond)
            histories.append(PurchaseHistory(original: original, key: key, records: records, acts: []))
        }
        let places = Dictionary(
            histories.indices.map { (histories[$0].original.key, $0) }, uniquingKeysWith: { first, _ in first })
        for row in revocations.sorted(by: { $0.key < $1.key }) {
            guard let place = row.revokedOriginal.flatMap({ places[$0] }) else { continue }
            histories[place].revocations.append(try HandRevocationOfPurchase(row, connection))
        }
        return histories
    }

    /// What is signed about a subscription beside its transactions.
    func news(_ key: OriginalKey, environment: Int64) throws(LedgerStorageError) -> RenewalsTable.News {
        let renewal = RenewalKey(environment: key.environment, originalTransactionID: key.transactionID)
        return try RenewalsTable(connection: connection).news(renewal, environment: environment)
    }
}
