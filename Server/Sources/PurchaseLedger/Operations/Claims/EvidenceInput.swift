import PurchaseVerification

/// An input that brings evidence: a claim, a restore, a row of an import, evidence without a claim, or a replayed
/// entry.
///
/// What distinguishes these inputs is here (docs/ledger.md, "Inputs"). `EvidenceWrite` treats them alike.
struct EvidenceInput {
    /// The app that it was sent for; `nil` if only the evidence names the app.
    let app: RegistryApp?
    let evidence: ExaminedEvidence?
    let claims: Claims
    /// What an entry recorded about its claims, for a replay.
    var recorded: RecordedClaims?
    /// The API key that sent it, whose daily budget refused evidence uses.
    var keyID: String?
    /// The number of the stored evidence, for a replayed entry; otherwise the evidence is stored.
    var storedEvidence: Int64?
    /// The error in the request itself.
    var flaw: Rejection?
    /// The App Store's answer, if the claim waited for it.
    var answer: AnsweredClaim?
    /// Whether an app or the App Store sends it now: not for a row of an import and a replayed entry. Only then may the
    /// App Store be asked about a first owner, the answer tells of earlier claims, and the daily budget pays for an
    /// entry that changes nothing.
    var isSentNow = true
    /// Whether webhooks deliver the events.
    var isAnnounced = true

    init(app: RegistryApp?, _ evidence: ExaminedEvidence?, claims: Claims = .nothing) {
        (self.app, self.evidence, self.claims) = (app, evidence, claims)
    }

    /// What is claimed, and for whom.
    enum Claims {
        /// Nothing: the evidence is only observed.
        case nothing
        /// The transaction that a claim names, for its customer or for that of its order.
        case named(ClaimFields)
        /// Every purchase that the evidence proves.
        case every(EveryPurchase)
    }

    /// A claim of every purchase, by a restore or a row of an import.
    struct EveryPurchase {
        let customer: CustomerRow
        /// Purchases that other evidence of the request claimed.
        var besides: Set<TransactionKey> = []
        /// The order that one of the purchases pays. Its refusal is not that of the purchase.
        var order: OrderRow?
        let transfer: TransferPolicy
        /// Present if it may take purchases over from guests.
        var takeOver: GuestRestore?
        /// Whether it is a row of an import, which a purchase can reject.
        var isImported = false
    }
}

extension RegistryApp {
    /// Stands for the app of evidence that no app observes. Nothing is written for it.
    static let unknown = RegistryApp(key: 0, settings: RegisteredApp(id: "", bundleIDs: []))
}

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
