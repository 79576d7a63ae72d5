import PurchaseVerification

import struct Foundation.UUID

/// Decides a claim, and records it with its evidence.
public struct ClaimPurchase: LedgerOperation {
    let examined: ExaminedSubmission
    /// The refusal beyond the daily budget that an earlier run found: it is counted, and nothing is written.
    private var counted: PurchaseOutcome?

    /// A claim whose evidence was verified.
    public init(_ examined: ExaminedSubmission) { self.examined = examined }

    public func perform(_ transaction: LedgerTransaction) throws -> PurchaseOutcome {
        if let counted = try counted ?? refusalToCount(transaction) {
            let submission = examined.submission
            transaction.count(
                [counted.code: 1], lastSHA256: examined.evidence?.stored.sha256, app: submission.app,
                keyID: submission.keyID)
            return counted
        }
        switch try WaitingClaim.standing(of: examined, transaction) {
        case .isDecided: return try decide(transaction).outcome
        case .waits(let claim): return try claim.write()
        case .refused(let rejection):
            let withoutEvidence = ExaminedSubmission(
                submission: examined.submission, evidence: nil, flaw: rejection)
            return try ClaimPurchase(withoutEvidence).decide(transaction).outcome
        }
    }

    /// Decides the claim now.
    ///
    /// - Parameter answered: the App Store's answer, if the claim waited for it.
    func decide(
        _ transaction: LedgerTransaction, after answered: AnsweredClaim? = nil
    ) throws -> (outcome: PurchaseOutcome, entry: JournalEntry) {
        let (submission, app) = (examined.submission, try transaction.app(examined.submission.app))
        var input = EvidenceInput(app: app, examined.evidence, claims: .named(submission.claim))
        (input.keyID, input.flaw, input.answer) = (submission.keyID, examined.flaw, answered)
        let write = EvidenceWrite(input, transaction)
        try write.decide()
        let answer = try ClaimAnswer(examined, app, write)
        if try write.isBeyondBudget() {
            var revised = self
            revised.counted = try answer.countedOutcome()
            throw RevisedOperation(operation: revised)
        }
        var draft = write.draft(code: answer.code)
        var details = answer.details
        if draft.customer == nil {
            // Support finds a refused claim by the customer that it names, who may be new.
            draft.customer = try transaction.customer(namedBy: submission.claim, app)
            details.customer = details.customer ?? draft.customer?.name
            details.guest = transaction.newGuest == nil ? nil : true
        }
        draft.transactionKey = answer.record.flatMap { $0.row.key == 0 ? nil : $0.row.key }
        let (entry, isAsked) = try write.record(draft, details, refusal: answer.rejection)
        if answered == nil {
            try transaction.note(entry, details, unlessAccepted: answer.code, app, draft.customer)
        }
        var outcome = try answer.outcome(entry)
        if isAsked { outcome.asksAppStore = entry.id }
        return (outcome, entry)
    }

    /// The refusal of a claim that proves nothing, if it is beyond the daily budget. Nothing was written for it.
    private func refusalToCount(_ transaction: LedgerTransaction) throws(LedgerStorageError) -> PurchaseOutcome? {
        guard let rejection = examined.refusalWithoutProof else { return nil }
        let (app, keyID) = (try transaction.app(examined.submission.app), examined.submission.keyID)
        guard try !RefusalBudgetUse(transaction, app: app, keyID: keyID).admits() else { return nil }
        return PurchaseOutcome(counted: rejection)
    }
}

extension ExaminedSubmission {
    /// Why a claim without verified evidence is refused; `nil` if its evidence verified.
    fileprivate var refusalWithoutProof: Rejection? {
        guard let evidence else { return flaw ?? Rejection(.fieldMissing, expected: "receipt_data") }
        guard case .failure(let error) = evidence.verified else { return nil }
        return flaw ?? Rejection(error)
    }
}

extension PurchaseOutcome {
    /// A refusal beyond the daily budget.
    fileprivate init(counted rejection: Rejection) {
        self.init(
            submissionID: UUID(), leafHash: [], rejection: rejection,
            disposition: rejection.disposition(hasPurchase: false), isReplayed: false)
        isCounted = true
    }
}
