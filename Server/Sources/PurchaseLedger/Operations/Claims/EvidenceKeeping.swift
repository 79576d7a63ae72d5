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
        let budget = app?.settings.unverifiedEvidence ?? EvidenceBudget()
        let table = UnverifiedEvidenceTable(connection: connection)
        let (appKey, day) = (app?.key ?? 0, UnverifiedEvidenceTable.day(now))
        var shares = [(key: "", limit: budget.bytesPerAppAndDay)]
        if let keyID, !keyID.isEmpty { shares.append((keyID, budget.bytesPerKeyAndDay)) }
        var allowance = Int64.max
        for share in shares {
            allowance = min(allowance, share.limit - (try table.bytes(app: appKey, key: share.key, day: day)))
        }
        let (kept, bytes) = try store.keep(evidence, allowance: allowance)
        if bytes > 0, !kept.isPrefix {
            for share in shares { try table.add(bytes, app: appKey, key: share.key, day: day) }
        }
        return kept
    }
}

extension KeptEvidence {
    /// The fields of a journal entry for unverified evidence.
    func unverified(_ evidence: StorableEvidence) -> UnverifiedEvidence? {
        evidence.isVerified ? nil : isPrefix ? .prefix : .whole
    }
}
