public import PurchaseVerification

import struct Foundation.UUID

extension PurchaseLedger {
    /// Verifies evidence without a claim.
    public func examine(_ submission: EvidenceSubmission) -> ExaminedEvidenceSubmission {
        examined(submission, examine(submission.evidence))
    }

    /// Verifies a notification, which is not kept if it is refused.
    public func genuine(_ submission: EvidenceSubmission) throws(VerificationError) -> ExaminedEvidenceSubmission {
        var kind: EvidenceKind?
        let start = ContinuousClock.now
        do throws(VerificationError) {
            let evidence = try EvidenceExaminer(verifier: verifier, now: clock())
                .genuine(submission.evidence, kind: &kind)
            // Only at the entrance: a notification that was received before stays one.
            if evidence.notification?.areSeatsMalformed ?? false {
                throw VerificationError(
                    .claimsMalformed, expected: "unclaimSeatIds as [String]", found: "another type")
            }
            noteVerification(kind, nil, since: start)
            return examined(submission, evidence)
        } catch {
            noteVerification(kind, error, since: start)
            throw error
        }
    }

    /// Evidence without a claim that was verified already.
    func examined(_ submission: EvidenceSubmission, _ evidence: ExaminedEvidence) -> ExaminedEvidenceSubmission {
        let named = submission.app.flatMap(registry.app)
        let observer = registry.observer(of: evidence, claimedFor: named)?.settings
        return ExaminedEvidenceSubmission(
            submission: submission, evidence: evidence, observer: observer?.id,
            isOfAppleID: evidence.notification?.isOf(observer?.appleID) ?? true)
    }

    /// Whether signed data has a certificate header that was verified before, so that verifying it takes no search of a
    /// path.
    public func isCertificateHeaderKnown(of signedPayload: [UInt8]) -> Bool {
        verifier.isCertificateHeaderKnown(of: signedPayload)
    }
}

/// Observes evidence without a claim.
public struct ObserveEvidence: LedgerOperation {
    let examined: ExaminedEvidenceSubmission
    /// The result beyond the daily budget that an earlier run found: it is counted, and nothing is written.
    private var counted: ObservationOutcome?

    /// Evidence that was verified.
    public init(_ examined: ExaminedEvidenceSubmission) { self.examined = examined }

    public func perform(_ transaction: LedgerTransaction) throws -> ObservationOutcome {
        let (submission, evidence) = (examined.submission, examined.evidence)
        var input = EvidenceInput(app: submission.app.flatMap(transaction.registry.app), evidence)
        input.keyID = submission.keyID
        let write = EvidenceWrite(input, transaction)
        try transaction.requireHere(write.observer ?? input.app)
        if let counted = try counted ?? refusalToCount(write.budget) {
            let code = submission.flaw?.code ?? counted.code
            transaction.count(
                [code: 1], lastSHA256: evidence.stored.sha256, app: (write.observer ?? input.app)?.settings.id ?? "",
                keyID: submission.keyID)
            return counted
        }
        if let flaw = submission.flaw, let app = write.observer,
            try transaction.givesOwnerUnasked(evidence, by: app)
        {
            // Sent by an app with a wrong request: the App Store is asked about the purchase once it is claimed.
            transaction.count(
                [flaw.code: 1], lastSHA256: evidence.stored.sha256, app: app.settings.id, keyID: submission.keyID)
            return ObservationOutcome(
                submissionID: UUID(), isCounted: true, code: flaw.code, app: app.settings.id, transactions: 0)
        }
        let received = try received(by: write.observer, transaction)
        if let received, try received.isKnown(evidence, transaction), let first = try received.firstEntry(transaction) {
            return ObservationOutcome(
                submissionID: first, isRepeated: true, code: DecisionCode.accepted.rawValue,
                app: received.app.settings.id, transactions: 0)
        }
        try write.decide()
        var draft = write.draft(code: write.refusal?.code ?? DecisionCode.accepted.rawValue)
        var details = EvidenceDetails(source: submission.source, evidenceKind: evidence.kind?.rawValue)
        details.unverified = write.kept?.unverified(evidence.stored)
        var count = 0
        if case .success(let observation) = evidence.verified {
            count = observation.transactions.count
            if write.observer == nil { details.held = evidence.bundleID?.string ?? "no bundle id" }
            // The customer of the evidence is recorded even if it adds nothing, so that an erasure finds it.
            let stated = Set(observation.transactions.map(\.key))
            let records = write.changes.histories.lazy.flatMap(\.records)
            let record = records.first { $0.isChanged } ?? records.first { stated.contains($0.facts.key) }
            draft.transactionKey = record?.row.key
            if let owner = record?.row.ownerKey { draft.customer = try transaction.customers.row(owner) }
        }
        if try write.isBeyondBudget() {
            var revised = self
            revised.counted = ObservationOutcome(
                submissionID: draft.id, isCounted: true, code: draft.code, app: write.observer?.settings.id,
                transactions: count)
            throw RevisedOperation(operation: revised)
        }
        let entry: JournalEntry
        if let received, received.first == nil {
            var notification = try received.details(transaction)
            notification.repeats = try ConsumptionRequestWriter.repeated(by: notification, transaction)
            // An erasure of a customer finds the entry by its name. Downloads of several customers are those of one
            // person.
            if draft.customer == nil, draft.transactionKey == nil {
                draft.customer = try NotificationEvents.customers(of: notification, received.app, transaction)
                    .first.map { key throws(LedgerStorageError) in try transaction.customers.row(key) }
            }
            let noted = try transaction.append(draft, notification)
            entry = noted.entry
            try received.insert(entry, write.kept, body: submission.body, transaction)
            try write.finish(entry)
            try notification.run(noted)
        } else {
            entry = try transaction.journal.append(draft, details)
            try write.finish(entry)
        }
        return ObservationOutcome(
            submissionID: entry.id, isRepeated: received?.first != nil, code: draft.code,
            app: write.observer?.settings.id, transactions: count)
    }

    /// The notification; `nil` for anything else, and for one that an app sent.
    private func received(
        by observer: RegistryApp?, _ transaction: LedgerTransaction
    ) throws(LedgerStorageError) -> ReceivedNotification? {
        guard let observer, examined.submission.source == EvidenceSubmission.notification else { return nil }
        return try ReceivedNotification(examined.evidence, of: observer, transaction)
    }

    /// The result for evidence that does not verify, if it is beyond the daily budget. Nothing was written for it.
    private func refusalToCount(_ use: RefusalBudgetUse) throws(LedgerStorageError) -> ObservationOutcome? {
        guard case .failure(let error) = examined.evidence.verified, try !use.admits() else { return nil }
        return ObservationOutcome(
            submissionID: UUID(), isCounted: true, code: error.code.rawValue, app: nil, transactions: 0)
    }
}
