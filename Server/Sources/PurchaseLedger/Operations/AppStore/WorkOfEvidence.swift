import PurchaseVerification

/// Schedules what a write of evidence gives reason to ask or to tell the App Store.
struct WorkOfEvidence {
    private let write: EvidenceWrite

    init(_ write: EvidenceWrite) { self.write = write }

    /// How long after the end of a period its status is asked for, in milliseconds: news usually come within seconds.
    private static let patience: Int64 = 300_000
    /// A period that ended longer ago is not asked about: the App Store tries to collect a price for 60 days.
    private static let oldestEnd: Int64 = 60 * 86_400_000

    func schedule() throws(LedgerStorageError) {
        guard let app = write.observer, app.settings.hasAppStoreKey else { return }
        for history in write.changes.histories { try scheduleStatus(of: history, app) }
        guard app.settings.setsAccountTokens else { return }
        for claim in write.claims where claim.binds {
            let record = write.record(of: claim)
            guard record.hasFirstOwner, record.facts.accountToken == nil else { continue }
            try Self.scheduleToken(of: record, app, write.transaction)
        }
    }

    /// Asks for the status of a subscription after the end of its last period, unless news come before, and for the end
    /// of a grace period that was signed without one.
    private func scheduleStatus(of history: PurchaseHistory, _ app: RegistryApp) throws(LedgerStorageError) {
        let (transaction, environment) = (write.transaction, history.key.environment)
        guard environment == .production || environment == .sandbox else { return }
        let periods = history.records.filter { !$0.isErased && $0.facts.kind == .autoRenewable }
        let lacksGraceEnd =
            history.renewal?.info.isGraceEndUnknown ?? false
            && !(history.formerRenewal?.info.isGraceEndUnknown ?? false)
        guard let last = periods.max(by: { ($0.facts.end ?? .epoch) < ($1.facts.end ?? .epoch) }),
            let end = last.facts.end, lacksGraceEnd || last.isChanged && last.formerFacts?.end != end,
            end.adding(milliseconds: Self.oldestEnd, times: 1) > transaction.now
        else { return }
        let length = end.millisecondsSince1970 - last.date.millisecondsSince1970
        let due = end.adding(milliseconds: min(Self.patience, max(0, length / 2)), times: 1)
        let work = WorkKey(
            .status, appKey: app.key, environment: try transaction.environments.keyToWrite(of: environment),
            subject: history.original.originalID)
        try WorkTable(connection: transaction.connection)
            .schedule(work, at: max(due, transaction.now), since: transaction.now)
    }

    /// Gives the App Store the account token of the owner of a purchase.
    static func scheduleToken(
        of record: TransactionRecord, _ app: RegistryApp, _ transaction: LedgerTransaction
    ) throws(LedgerStorageError) {
        let key = record.facts.original
        guard app.settings.hasAppStoreKey, key.environment == .production || key.environment == .sandbox,
            record.facts.ownership.holder == .buyer
        else { return }
        let work = WorkKey(
            .token, appKey: app.key, environment: try transaction.environments.keyToWrite(of: key.environment),
            subject: key.transactionID.string)
        try WorkTable(connection: transaction.connection)
            .schedule(work, at: transaction.now, since: transaction.now)
    }
}
