import PurchaseVerification

import struct Foundation.UUID

extension PurchaseLedger {
    /// Verifies the evidence of a claim again, and the signed receipt in the App Store's answer.
    public func examine(_ claim: AppStoreClaim, _ answer: AppStoreAnswer) -> ExaminedAppStoreAnswer {
        let latest = answer.latestReceipt.map {
            EvidenceSubmission(app: claim.app, source: JournalKind.appStoreAnswer.name, evidence: $0)
        }
        return ExaminedAppStoreAnswer(
            claim: claim, answer: answer, evidence: claim.evidence.map { examine($0) },
            reply: answer.reply.map { StorableEvidence($0, isVerified: true) }, latest: latest.map { examine($0) })
    }
}

/// Records the App Store's answer about a claim, and decides the claim if it waited for the answer.
public struct RecordAppStoreAnswer: LedgerOperation {
    let examined: ExaminedAppStoreAnswer

    public init(_ examined: ExaminedAppStoreAnswer) { self.examined = examined }

    /// The result for the claim.
    public enum Outcome: Sendable {
        /// Another server recorded the answer before.
        case alreadyRecorded
        case decided(PurchaseOutcome)
        case restored(RestoreOutcome)
        /// The claim was granted before. The answer is recorded.
        case confirmed
    }

    private var claim: AppStoreClaim { examined.claim }
    private var answer: AppStoreAnswer { examined.answer }

    public var locks: LedgerLocks {
        var locks = examined.evidence?.locks ?? []
        if let latest = examined.latest { locks.formUnion(latest.evidence.locks) }
        if let reply = examined.reply { locks.insert(.evidence(reply.sha256)) }
        if let name = claim.details.customer { locks.insert(.customer(name)) }
        if let order = claim.details.order.flatMap({ UUID(uuidString: $0) }) { locks.insert(.order(order)) }
        return .parts(locks)
    }

    public func perform(_ transaction: LedgerTransaction) throws -> Outcome {
        let (table, journal) = (
            AppStoreClaimsTable(connection: transaction.connection), JournalTable(connection: transaction.connection)
        )
        guard let entry = try journal.row(id: claim.id), let row = try table.row(entry.key) else {
            return .alreadyRecorded
        }
        guard row.answerEntry == nil else {
            // Another server that started at that moment may have taken it up again (`AdoptWork`).
            try WorkTable(connection: transaction.connection).delete(row.work)
            return .alreadyRecorded
        }
        let app = try transaction.app(claim.app)
        if answer.refusal == nil, let latest = examined.latest { _ = try ObserveEvidence(latest).perform(transaction) }
        let answered = try recordAnswer(row, app, transaction)
        guard claim.waits else { return .confirmed }
        let (outcome, decision) = try decide(app, transaction)
        let events = LedgerEvents(transaction, app: app, entry: decision)
        let customer = try transaction.customers.surviving(try transaction.customers.row(row.customerKey))
        // The entry of a restore has a code of its own.
        let code = try journal.row(key: decision.key)?.code ?? answer.code
        try transaction.tell(events.decided(claim.id.text, code: code), to: customer.key)
        try table.finish(row, answer: answered.key, decision: decision.key)
        return outcome
    }

    /// Records the answer.
    private func recordAnswer(
        _ row: AppStoreClaimRow, _ app: RegistryApp, _ transaction: LedgerTransaction
    ) throws -> JournalEntry {
        var draft = transaction.draft(app)
        draft.customer = try transaction.customers.row(row.customerKey)
        draft.code = answer.code
        if let reply = examined.reply {
            let kept = try transaction.keep(reply, app: app, keyID: nil)
            draft.evidence = (kept.key, kept.sha256)
        }
        let details = AppStoreAnswerDetails(
            claim: claim.id.text, environment: answer.environment, status: answer.status,
            expected: answer.refusal?.expected.map(ClaimDetails.bounded),
            found: answer.refusal?.found.map(ClaimDetails.bounded), isContradiction: answer.isContradiction,
            cancellations: claim.waits ? [] : answer.cancellations)
        let write = try transaction.append(draft, details)
        try details.run(write)
        return write.entry
    }

    /// The row of a claim by its entry's id.
    static func row(
        ofClaim id: String, _ transaction: LedgerTransaction
    ) throws(LedgerStorageError) -> AppStoreClaimRow? {
        guard let id = UUID(uuidString: id),
            let entry = try JournalTable(connection: transaction.connection).row(id: id)
        else { return nil }
        return try AppStoreClaimsTable(connection: transaction.connection).row(entry.key)
    }

    /// Decides the claim, and records the decision.
    private func decide(
        _ app: RegistryApp, _ transaction: LedgerTransaction
    ) throws -> (outcome: Outcome, entry: JournalEntry) {
        let answered = AnsweredClaim(claim: claim.id, answer: answer)
        guard claim.details.isRestore else {
            let (outcome, entry) = try ClaimPurchase(submission).decide(transaction, after: answered)
            return (.decided(outcome), entry)
        }
        var restore = RestoreSubmission(
            app: claim.app, customerID: claim.details.customer ?? "", evidence: [claim.evidence ?? []])
        (restore.keyID, restore.sourceAddress) = (claim.details.keyID, claim.details.sourceAddress)
        let takeOver = claim.details.takeOver
        restore.isRequested = takeOver != nil || claim.details.transfer == TransferPolicy.move.rawValue
        var examinedRestore = ExaminedRestore(submission: restore, evidence: [examined.evidence].compactMap(\.self))
        examinedRestore.waited = takeOver
        let outcome = try RestorePurchases(examinedRestore, answered: answered).perform(transaction)
        guard let id = outcome.entries.last,
            let entry = try JournalTable(connection: transaction.connection).row(id: id)
        else { throw LedgerStorageError(.other, "the decision about \(claim.id.text) has no entry") }
        return (
            .restored(outcome), JournalEntry(key: entry.key, id: id, leafHash: JournalLeaf.hash(entry.leaf))
        )
    }

    /// The claim as it was submitted.
    private var submission: ExaminedSubmission {
        var submission = PurchaseSubmission(app: claim.app)
        let details = claim.details
        (submission.keyID, submission.sourceAddress) = (details.keyID, details.sourceAddress)
        (submission.claim.productID, submission.claim.transactionID) = (details.productID, details.transactionID)
        (submission.claim.orderID, submission.claim.customerID) = (details.order, details.customer)
        (submission.claim.quantity, submission.evidence) = (details.quantity, claim.evidence)
        return ExaminedSubmission(submission: submission, evidence: examined.evidence, flaw: nil)
    }
}

/// The App Store's answer about a claim, with the claim's evidence verified again.
public struct ExaminedAppStoreAnswer: Sendable {
    let claim: AppStoreClaim
    let answer: AppStoreAnswer
    let evidence: ExaminedEvidence?
    let reply: StorableEvidence?
    let latest: ExaminedEvidenceSubmission?
}

extension AppStoreAnswerDetails: LedgerInput {
    func redacted(_ scope: ErasureScope) -> AppStoreAnswerDetails? {
        guard !cancellations.isEmpty else { return nil }
        var kept = self
        (kept.expected, kept.found, kept.isContradiction) = (nil, nil, false)
        return kept
    }

    /// Applies the answer. A refusal of a claim that was granted before withdraws nothing, because no signature covers
    /// a reply.
    func run(_ write: EntryWrite) throws {
        let transaction = write.transaction
        let row = try RecordAppStoreAnswer.row(ofClaim: claim, transaction)
        if row == nil || row?.answerEntry != nil {
            try write.impossible("no claim \(claim) waits for an answer", unlessErased: true)
        }
        let isGranted = row.map { !$0.waits } ?? true
        if isGranted {
            let changes = LedgerChanges(transaction, app: write.app)
            for cancellation in cancellations { try changes.observe(cancellation) }
            try changes.settle()
            try changes.finish(write.entry)
        }
        let owner = try row.map { row throws(LedgerStorageError) in
            try transaction.customers.surviving(try transaction.customers.row(row.customerKey)).key
        }
        if isContradiction {
            let place = "app_store: expected \(expected ?? "nothing"), found \(found ?? "nothing")"
            try transaction.tell(write.events.contradicted(by: self, place), to: owner)
        }
        if isGranted, write.draft.code == DecisionCode.appStoreRefused.rawValue {
            try transaction.tell(write.events.notConfirmed(by: self, code: write.draft.code), to: owner)
        }
        guard let row else { return }
        try AppStoreClaimsTable(connection: write.connection)
            .finish(row, answer: write.entry.key, decision: nil)
    }
}
