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

/// Whether an app learns of renewals by itself: it asks the App Store, or notifications arrive. Without such a source
/// no news are late, so no access is assumed (docs/ledger.md, "The state of a subscription", row 10).
struct NewsSource {
    /// How long a notification shows that others will arrive, in milliseconds: seven days.
    static let validity: Int64 = 7 * 86_400_000

    let reader: LedgerTransaction
    let app: RegistryApp

    /// Whether news of an environment arrive.
    func tells(of environment: AppStoreEnvironment) throws(LedgerStorageError) -> Bool {
        guard app.settings.mode == .offline, !app.settings.hasAppStoreKey else { return true }
        guard let number = try reader.environments.key(of: environment),
            let newest = try NotificationsTable(connection: reader.connection).newest(
                appKey: app.key, environment: number)
        else { return false }
        return reader.now < newest.adding(milliseconds: Self.validity, times: 1)
    }
}
