import PurchaseVerification

extension LedgerTransaction {
    /// Reads what the ledger has for several pieces of evidence, before anything is written. From then on, each
    /// decision about them sees the effects of those before it without reading them.
    ///
    /// - Parameter app: the app that the evidence was sent for.
    func load(_ evidence: [ExaminedEvidence], claimedFor app: RegistryApp) throws(LedgerStorageError) {
        guard evidence.count > 1 else { return }
        let situation = beginSituation()
        for piece in evidence {
            guard case .success(let observation) = piece.verified,
                let observer = registry.observer(of: piece, claimedFor: app)
            else { continue }
            let open = OpenHistories(self, app: observer, CustomerIdentities(self, app: observer), situation)
            for facts in observation.transactionFacts where facts.productID != nil { try open.load(facts) }
        }
    }
}
