import PurchaseVerification

import struct Foundation.UUID

/// A piece of evidence of a restore that waits for the App Store, because it proves a purchase that has no owner yet.
struct WaitingRestore {
    let transaction: LedgerTransaction
    let app: RegistryApp
    let restore: ExaminedRestore
    let evidence: ExaminedEvidence
    let customer: CustomerRow
    /// A recent refusal by the App Store.
    let refusal: DecidedClaim?

    /// - Returns: `nil` if the evidence can be decided now.
    init?(
        of evidence: ExaminedEvidence, _ restore: ExaminedRestore, _ customer: CustomerRow,
        _ transaction: LedgerTransaction, _ app: RegistryApp
    ) throws(LedgerStorageError) {
        guard app.settings.mode == .apple else { return nil }
        var isFirst = false
        for proven in evidence.askablePurchases(by: app) where !isFirst {
            isFirst = try !transaction.hasOwner(proven.key)
        }
        guard isFirst else { return nil }
        let recent = try transaction.recentAnswer(on: evidence, customer: customer)
        if let recent, recent.rejection.map(\.isWithoutEffect) != true { return nil }
        refusal = recent
        (self.transaction, self.app, self.restore) = (transaction, app, restore)
        (self.evidence, self.customer) = (evidence, customer)
    }

    /// Records the restore of the evidence, unless an equal one already waits.
    func write(_ outcome: inout RestoreOutcome, _ seen: inout [TransactionKey: String]) throws(LedgerStorageError) {
        if let refusal, let rejection = refusal.rejection {
            outcome.purchases += purchases(refusal.id, refusal.leafHash, rejection, &seen, isReplayed: true)
            return
        }
        let submission = restore.submission
        let kept = try transaction.keep(evidence.stored, app: app, keyID: submission.keyID)
        let pending = Rejection(.appStorePending)
        let details = ClaimDetails(
            isRestore: true, keyID: submission.keyID, sourceAddress: submission.sourceAddress,
            customer: submission.customerID, evidenceKind: evidence.kind?.rawValue, replayed: false,
            guest: transaction.newGuest == nil ? nil : true,
            takeOver: restore.takeOver(under: app.settings, at: transaction.now),
            transfer: submission.transfer(under: app.settings).rawValue, outcomes: [], appStore: .waits
        ).bounded()
        if let known = try transaction.claimThatWaits(like: details, evidence: kept.key, customer: customer) {
            let (id, leafHash) = (known.entry.id, JournalLeaf.hash(known.entry.leaf))
            outcome.purchases += purchases(id, leafHash, pending, &seen, isReplayed: true)
            outcome.waiting.append(
                WaitingEvidence(claim: id, sha256: evidence.stored.sha256, nextAttemptAt: known.nextAt))
            return
        }
        var draft = transaction.draft(app)
        (draft.evidence, draft.customer, draft.code) = ((kept.key, kept.sha256), customer, pending.code)
        let entry = try transaction.journal.append(draft, details)
        try transaction.ask(entry, app, customer, kept.key, .waits)
        outcome.purchases += purchases(entry.id, entry.leafHash, pending, &seen)
        outcome.waiting.append(WaitingEvidence(claim: entry.id, sha256: evidence.stored.sha256))
        outcome.asksAppStore.append(entry.id)
    }

    /// The purchases in the answer to a restore.
    private func purchases(
        _ id: UUID, _ leafHash: [UInt8], _ rejection: Rejection, _ seen: inout [TransactionKey: String],
        isReplayed: Bool = false
    ) -> [RestoredPurchase] {
        var purchases: [RestoredPurchase] = []
        for proven in evidence.askablePurchases(by: app)
        where seen.updateValue(rejection.code, forKey: proven.key) == nil {
            purchases.append(
                RestoredPurchase(
                    submissionID: id, leafHash: leafHash, environment: proven.key.environment,
                    transactionID: proven.key.transactionID.string,
                    originalTransactionID: proven.original.transactionID.string,
                    productID: proven.productID?.string ?? "", rejection: rejection,
                    disposition: rejection.disposition(hasPurchase: false), isReplayed: isReplayed,
                    expiresAt: proven.end))
        }
        return purchases
    }
}
