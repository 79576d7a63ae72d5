import PurchaseVerification

/// Decides a claim, and records it with its evidence.
public struct ClaimPurchase: LedgerOperation {
    let examined: ExaminedSubmission

    /// A claim whose evidence was verified.
    public init(_ examined: ExaminedSubmission) { self.examined = examined }

    public func perform(_ transaction: LedgerTransaction) throws -> PurchaseOutcome {
        if let waiting = try WaitingClaim(of: examined, transaction) { return try waiting.write() }
        return try decide(transaction).outcome
    }

    /// Decides the claim now.
    ///
    /// - Parameter word: the App Store's answer, if the claim waited for it.
    func decide(
        _ transaction: LedgerTransaction, after word: AppStoreWord? = nil
    ) throws(LedgerStorageError) -> (outcome: PurchaseOutcome, entry: JournalEntry) {
        let (submission, app) = (examined.submission, try transaction.app(examined.submission.app))
        var input = EvidenceInput(app: app, examined.evidence, claims: .named(submission.claim))
        (input.keyID, input.flaw, input.answer) = (submission.keyID, examined.flaw, word)
        var write = EvidenceWrite(input, transaction)
        try write.decide()
        let answer = try ClaimAnswer(examined, app, write)
        var draft = write.draft(code: answer.code)
        if draft.customer == nil, let name = submission.claim.customerID, ExactText(name).isIdentifier {
            // A rejected claim creates no customer, but is listed for a known one.
            draft.customer = try transaction.customer(name, app)
        }
        draft.transactionKey = answer.record.flatMap { $0.row.key == 0 ? nil : $0.row.key }
        let (entry, isAsked) = try write.record(draft, answer.details, refusal: answer.rejection)
        var outcome = try answer.outcome(entry)
        if isAsked { outcome.asksAppStore = entry.id }
        return (outcome, entry)
    }
}
