import PurchaseVerification

extension LedgerTransaction {
    /// Stores evidence. Unverified evidence is stored whole only within the daily budget of the app and of the API key,
    /// so that forgeries cannot fill the disk.
    ///
    /// - Parameters:
    ///   - evidence: the examined evidence.
    ///   - app: the app that it was sent for.
    ///   - keyID: the API key that sent it.
    package func keep(
        _ evidence: StorableEvidence, app: RegistryApp?, keyID: String?
    ) throws(LedgerStorageError) -> KeptEvidence {
        let store = EvidenceStore(connection: connection)
        guard !evidence.isVerified else {
            if let known = situation?.evidence(evidence.sha256) { return known }
            let stored = try store.keep(evidence)
            var kept = stored.evidence
            situation?.note(kept)
            kept.uncharged = EvidenceBudget.space(of: stored.bytes)
            return kept
        }
        let use = RefusalBudgetUse(self, app: app, keyID: keyID)
        let (kept, bytes) = try store.keep(evidence, allowance: try use.allowance() - EvidenceBudget.entryBytes)
        try use.add(EvidenceBudget.space(of: bytes))
        return kept
    }
}

extension KeptEvidence {
    /// The fields of a journal entry for unverified evidence.
    func unverified(_ evidence: StorableEvidence) -> UnverifiedPart? {
        evidence.isVerified ? nil : isPrefix ? .prefix : .whole
    }
}
