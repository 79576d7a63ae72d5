import PurchaseVerification

extension LedgerTransaction {
    /// The transaction of an app by its id.
    ///
    /// - Throws: `purchase_unknown`, or `purchase_ambiguous` if there are several and no environment is named.
    func existingPurchase(
        _ transactionID: String, _ environment: AppStoreEnvironment?, _ app: RegistryApp
    ) throws -> TransactionRow {
        var found: [TransactionRow] = []
        for row in try transactions.rows(id: transactionID) where !row.isErased {
            guard try OriginalsTable(connection: connection).row(row.originalKey).appKey == app.key else { continue }
            if let environment, try environments.environment(row.environment) != environment { continue }
            found.append(row)
        }
        guard let row = found.first else { throw LedgerRefusal(.purchaseUnknown, expected: transactionID) }
        guard found.count == 1 else { throw LedgerRefusal(.purchaseAmbiguous, expected: transactionID) }
        return row
    }
}
