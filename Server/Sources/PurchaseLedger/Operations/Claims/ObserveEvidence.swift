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

    /// Evidence that was verified.
    public init(_ examined: ExaminedEvidenceSubmission) { self.examined = examined }

    public func perform(_ transaction: LedgerTransaction) throws -> ObservationOutcome {
        let evidence = examined.evidence
        let named = examined.submission.app.flatMap(transaction.registry.app)
        let observer = transaction.registry.observer(of: evidence, claimedFor: named)
        var draft = transaction.draft(observer ?? named)
        let kept = try transaction.keep(evidence.stored, app: observer ?? named, keyID: examined.submission.keyID)
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
        let entry = try transaction.journal.append(draft, details)
        try changes?.finish(entry)
        try transaction.hold(evidence, key, entry)
        return ObservationOutcome(
            submissionID: entry.id, code: draft.code, app: observer?.settings.id, transactions: count)
    }
}
