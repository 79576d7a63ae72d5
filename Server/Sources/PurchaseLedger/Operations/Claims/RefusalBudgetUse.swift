import PurchaseVerification

/// The use of the daily budget by refusals of an app and of an API key.
struct RefusalBudgetUse {
    private let transaction: LedgerTransaction
    private let table: UnverifiedEvidenceTable
    private let appKey: Int64
    private let day: Int64
    /// Whose bytes are counted, each with its limit: those of the whole app, and those of the key.
    private let shares: [(key: String, limit: Int64)]

    init(_ transaction: LedgerTransaction, app: RegistryApp?, keyID: String?) {
        let budget = app?.settings.unverifiedEvidence ?? EvidenceBudget()
        self.transaction = transaction
        table = UnverifiedEvidenceTable(connection: transaction.connection)
        (appKey, day) = (app?.key ?? 0, UnverifiedEvidenceTable.day(transaction.now))
        let ofKey = keyID.flatMap { $0.isEmpty ? nil : (key: $0, limit: budget.bytesPerKeyAndDay) }
        shares = [(key: "", limit: budget.bytesPerAppAndDay)] + [ofKey].compactMap(\.self)
    }

    /// The bytes that are left today; negative if more were used.
    func allowance() throws(LedgerStorageError) -> Int64 {
        try transaction.connection.lock { () throws(LedgerStorageError) in [.unverified] }
        var allowance = Int64.max
        for share in shares {
            allowance = min(allowance, share.limit - (try table.bytes(app: appKey, key: share.key, day: day)))
        }
        return allowance
    }

    /// Whether a refusal is recorded; otherwise it is only counted. A replay recomputes what was recorded, so it needs
    /// no budget.
    func admits(_ bytes: Int64 = EvidenceBudget.leastBytes) throws(LedgerStorageError) -> Bool {
        guard transaction.refusalNotes != nil else { return true }
        return try allowance() >= bytes
    }

    func add(_ bytes: Int64) throws(LedgerStorageError) {
        for share in shares { try table.add(bytes, app: appKey, key: share.key, day: day) }
    }

    /// Takes the cost of a recorded refusal.
    ///
    /// - Parameters:
    ///   - entry: its entry.
    ///   - evidence: its evidence; the bytes of unverified evidence were taken when it was stored.
    ///   - customer: the customer that it names, who may be new.
    func add(
        _ entry: JournalEntry, evidence: KeptEvidence?, customer: CustomerRow?
    ) throws(LedgerStorageError) {
        let named = customer.map { EvidenceBudget.customerBytes + 2 * Int64($0.name?.utf8.count ?? 0) } ?? 0
        try add(EvidenceBudget.entryBytes + entry.bytes + (evidence?.uncharged ?? 0) + named)
    }
}
