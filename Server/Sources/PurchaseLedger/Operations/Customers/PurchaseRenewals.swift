import PurchaseVerification

/// The signed renewal info about the period of each transaction (docs/ledger.md, "Renewal info of an entitlement").
struct PurchaseRenewals {
    /// The most transactions of one original that are read. A page must not cost what a history costs; of a longer one,
    /// none is shown.
    private static let transactions = 500

    let reader: LedgerTransaction
    /// The tables of each original and holder that was read.
    private var originals: [Int64: [PurchaseHolder: SubscriptionTable]] = [:]

    init(_ reader: LedgerTransaction) { self.reader = reader }

    /// The renewal info about the period of a transaction, with its commitment; `nil` for what does not renew.
    mutating func renewal(
        of row: TransactionRow, _ facts: ObservedTransaction
    ) throws(LedgerStorageError) -> RenewalStatement? {
        guard (facts.kind ?? row.kind) == .autoRenewable else { return nil }
        if originals[row.originalKey] == nil { originals[row.originalKey] = try tables(of: row, facts) }
        let renewal = originals[row.originalKey]?[facts.ownership.holder]?.renewal(of: facts.key, at: reader.now)
        return RenewalStatement.shown(renewal, with: facts)
    }

    private func tables(
        of row: TransactionRow, _ facts: ObservedTransaction
    ) throws(LedgerStorageError) -> [PurchaseHolder: SubscriptionTable] {
        // Most customers' evidence has no renewal info.
        guard
            let renewal = try RenewalsTable(connection: reader.connection).facts(
                facts.renewal, environment: row.environment)
        else { return [:] }
        let rows = try reader.transactions.rows(originalKey: row.originalKey, limit: Self.transactions + 1)
        guard rows.count <= Self.transactions else { return [:] }
        var records: [TransactionRecord] = []
        for row in rows {
            records.append(
                TransactionRecord(row, facts: try row.observed(in: facts.key.environment), productID: ""))
        }
        var tables: [PurchaseHolder: SubscriptionTable] = [:]
        for holder in Set(records.map(\.facts.ownership.holder)) {
            let periods = records.purchases(of: holder, Ownership.stored(records))
                .filter { ($0.statedKind ?? $0.terms?.kind) == .autoRenewable }
            tables[holder] = SubscriptionTable(periods, renewal: renewal)
        }
        return tables
    }
}
