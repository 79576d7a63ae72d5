import PurchaseVerification

public import struct Foundation.UUID

/// Evidence without a claim: a notification, an App Store answer, an import.
public struct EvidenceSubmission: Sendable {
    /// The app that it was sent for; `nil` if only the evidence names the app.
    public var app: String?
    /// The source, such as `notification`.
    public var source: String
    public var evidence: [UInt8]
    /// The API key that sent it, whose daily budget refused evidence uses.
    public var keyID: String?
    /// The error in the request that brought it.
    public var flaw: Rejection?

    /// Evidence and its source.
    public init(app: String?, source: String, evidence: [UInt8]) {
        self.app = app
        self.source = source
        self.evidence = evidence
    }
}

/// Evidence without a claim, with the result of its verification.
public struct ExaminedEvidenceSubmission: Sendable {
    let submission: EvidenceSubmission
    let evidence: ExaminedEvidence
}

extension PurchaseLedger {
    /// Verifies evidence without a claim.
    public func examine(_ submission: EvidenceSubmission) -> ExaminedEvidenceSubmission {
        ExaminedEvidenceSubmission(
            submission: submission, evidence: examine(submission.evidence, app: submission.app ?? ""))
    }
}

/// The result for evidence without a claim.
public struct ObservationOutcome: Sendable, Equatable {
    public var submissionID: UUID
    /// Whether it told nothing new beyond the daily budget. Then it is only counted, and there is no entry.
    public var isCounted = false
    /// `accepted`, or the core's code.
    public var code: String
    /// The app that observed it; `nil` if no app has its bundle id.
    public var app: String?
    /// The number of transactions that it states.
    public var transactions: Int
}

/// Observes evidence without a claim.
public struct ObserveEvidence: LedgerOperation {
    let examined: ExaminedEvidenceSubmission
    /// The result beyond the daily budget that an earlier run found: it is counted, and nothing is written.
    private var counted: ObservationOutcome?

    /// Evidence that was verified.
    public init(_ examined: ExaminedEvidenceSubmission) { self.examined = examined }

    public func perform(_ transaction: LedgerTransaction) throws -> ObservationOutcome {
        let evidence = examined.evidence
        let (named, keyID) = (examined.submission.app.flatMap(transaction.registry.app), examined.submission.keyID)
        let observer = transaction.registry.observer(of: evidence, claimedFor: named)
        let use = RefusalBudgetUse(transaction, app: observer ?? named, keyID: keyID)
        if let counted = try counted ?? refusalToCount(use) {
            let code = examined.submission.flaw?.code ?? counted.code
            transaction.count(
                [code: 1], lastSHA256: evidence.stored.sha256, app: (observer ?? named)?.settings.id ?? "",
                keyID: keyID)
            return counted
        }
        var draft = transaction.draft(observer ?? named)
        let kept = try transaction.keep(evidence.stored, app: observer ?? named, keyID: keyID)
        let key = kept.key
        draft.evidence = (key, kept.sha256)
        var details = EvidenceDetails(source: examined.submission.source, evidenceKind: evidence.kind?.rawValue)
        details.unverified = kept.unverified(evidence.stored)
        var changes: LedgerChanges?
        var count = 0
        switch evidence.verified {
        case .failure(let error): draft.code = error.code.rawValue
        case .success(let observation):
            draft.code = DecisionCode.accepted.rawValue
            count = observation.transactions.count
            if let observer {
                let change = LedgerChanges(transaction, app: observer)
                try change.observe(observation, evidence: key)
                try change.settle()
                changes = change
                // The customer of the evidence is recorded even if it adds nothing, so that an erasure finds it.
                let stated = Set(observation.transactions.map(\.key))
                let records = change.histories.flatMap(\.records)
                let record = records.first { $0.isChanged } ?? records.first { stated.contains($0.facts.key) }
                draft.transactionKey = record?.row.key
                if let owner = record?.row.ownerKey { draft.customer = try transaction.customers.row(owner) }
            } else {
                details.held = evidence.bundleID?.string ?? "no bundle id"
            }
        }
        // Genuine evidence without a key comes from the App Store, not from an app.
        let isIdle = !evidence.stored.isVerified || (keyID != nil && changes?.hasNews != true)
        if isIdle, evidence.stored.isVerified, try !use.admits() {
            var revised = self
            revised.counted = ObservationOutcome(
                submissionID: draft.id, isCounted: true, code: draft.code, app: observer?.settings.id,
                transactions: count)
            throw RevisedOperation(operation: revised)
        }
        let entry = try transaction.journal.append(draft, details)
        if isIdle { try use.add(entry, evidence: kept, customer: nil) }
        try changes?.finish(entry)
        try transaction.hold(evidence, key, entry)
        return ObservationOutcome(
            submissionID: entry.id, code: draft.code, app: observer?.settings.id, transactions: count)
    }

    /// The result for evidence that does not verify, if it is beyond the daily budget. Nothing was written for it.
    private func refusalToCount(_ use: RefusalBudgetUse) throws(LedgerStorageError) -> ObservationOutcome? {
        guard case .failure(let error) = examined.evidence.verified, try !use.admits() else { return nil }
        return ObservationOutcome(
            submissionID: UUID(), isCounted: true, code: error.code.rawValue, app: nil, transactions: 0)
    }
}
