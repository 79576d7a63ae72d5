import PurchaseVerification

extension LedgerTransaction {
    /// Stores evidence. Unverified evidence is stored whole only within the daily budget of the app and of the API key, so that
    /// forgeries cannot fill the disk.
    ///
    /// - Parameters:
    ///   - evidence: the examined evidence.
    ///   - app: the app that it was sent for.
    ///   - keyID: the API key that sent it.
    package func keep(
        _ evidence: StorableEvidence, app: RegistryApp?, keyID: String?
    ) throws(LedgerStorageError) -> KeptEvidence {
        let store = EvidenceStore(connection: connection, parts: evidenceParts)
        guard !evidence.isVerified else { return try store.keep(evidence).evidence }
        let use = UnverifiedEvidenceUse(self, app: app, keyID: keyID)
        let (kept, bytes) = try store.keep(evidence, allowance: try use.allowance())
        // The entry costs as much if the same bytes come again.
        try use.add(EvidenceBudget.entryBytes + bytes)
        return kept
    }
}

/// The use of the daily budget by refused evidence of an app and of an API key.
struct UnverifiedEvidenceUse {
    private let table: UnverifiedEvidenceTable
    private let appKey: Int64
    private let day: Int64
    /// Whose bytes are counted, each with its limit: those of the whole app, and those of the key.
    private let shares: [(key: String, limit: Int64)]

    init(_ transaction: LedgerTransaction, app: RegistryApp?, keyID: String?) {
        let budget = app?.settings.unverifiedEvidence ?? EvidenceBudget()
        table = UnverifiedEvidenceTable(connection: transaction.connection)
        (appKey, day) = (app?.key ?? 0, UnverifiedEvidenceTable.day(transaction.now))
        let ofKey = keyID.flatMap { $0.isEmpty ? nil : (key: $0, limit: budget.bytesPerKeyAndDay) }
        shares = [(key: "", limit: budget.bytesPerAppAndDay)] + [ofKey].compactMap(\.self)
    }

    /// The bytes that are left today; negative if more were used.
    func allowance() throws(LedgerStorageError) -> Int64 {
        var allowance = Int64.max
        for share in shares {
            allowance = min(allowance, share.limit - (try table.bytes(app: appKey, key: share.key, day: day)))
        }
        return allowance
    }

    func add(_ bytes: Int64) throws(LedgerStorageError) {
        for share in shares { try table.add(bytes, app: appKey, key: share.key, day: day) }
    }
}

extension KeptEvidence {
    /// The fields of a journal entry for unverified evidence.
    func unverified(_ evidence: StorableEvidence) -> UnverifiedEvidence? {
        evidence.isVerified ? nil : isPrefix ? .prefix : .whole
    }
}
