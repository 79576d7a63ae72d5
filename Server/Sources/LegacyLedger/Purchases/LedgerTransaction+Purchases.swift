import PurchaseVerification

import struct Foundation.UUID

extension LedgerTransaction {
    /// Decides about a submission, keeps it whatever the verdict, and does what the decision says.
    public func record(_ examined: ExaminedSubmission) throws(LedgerStorageError) -> PurchaseOutcome {
        let (submission, submissionID) = (examined.submission, UUID().uuidString.lowercased())
        let decision: PurchaseDecision
        var claimed: ProvenPurchase?
        switch (examined.claim, examined.proof) {
        case (.failure(let rejection), _): decision = .reject(rejection)
        case (.success, nil):
            // A claim is complete only with evidence, and evidence was examined.
            decision = .reject(Rejection(.fieldMissing, expected: "receipt_data or signed_transaction"))
        case (.success(let claim), let proof?):
            var proven: [ProvenPurchase] = []
            if case .verified(let purchases) = proof {
                proven = purchases
                claimed = purchases.claimed(claim.transactionID)
                try recordWithdrawals(purchases, app: submission.app, submissionID: submissionID)
            }
            decision = PurchaseDecision.decide(
                claim, proof, try facts(claim, claimed, among: proven, app: submission.app))
        }
        let outcome = try carryOut(decision, submissionID: submissionID, app: submission.app)
        try keep(examined, outcome, environment: (outcome.purchase?.environment ?? claimed?.environment)?.name)
        return outcome
    }

    /// Keeps a submission that repeats an earlier request and has its answer already. Nothing is decided anew.
    func recordRepeated(_ examined: ExaminedSubmission, of firstID: String) throws(LedgerStorageError) {
        guard let first = try reader.submission(firstID, app: examined.submission.app.id) else {
            throw LedgerStorageError(.corrupt, "the submission \(firstID) is not in the record")
        }
        let outcome = PurchaseOutcome(
            submissionID: UUID().uuidString.lowercased(), verdict: first.verdict, code: first.code, status: 0,
            sentence: "", expected: first.expected, found: first.found, isReplayed: true)
        try keep(examined, outcome, environment: first.environment)
    }

    /// Keeps a submission that was refused before anything was decided about it, and gives its id.
    func recordRefused(
        _ examined: ExaminedSubmission, _ refusal: LedgerRefusal
    ) throws(LedgerStorageError) -> String {
        let outcome = PurchaseOutcome(
            submissionID: UUID().uuidString.lowercased(), verdict: .rejected, code: refusal.code.rawValue,
            status: refusal.code.status, sentence: refusal.code.sentence, expected: refusal.expected,
            found: refusal.found, isReplayed: false)
        try keep(examined, outcome, environment: nil)
        return outcome.submissionID
    }

    private func keep(
        _ examined: ExaminedSubmission, _ outcome: PurchaseOutcome, environment: String?
    ) throws(LedgerStorageError) {
        try examined.evidence?.keep(connection)
        try SubmissionRecord.chain.append(row(outcome, examined, environment: environment).values, connection)
    }

    private func row(
        _ outcome: PurchaseOutcome, _ examined: ExaminedSubmission, environment: String?
    ) -> SubmissionRecord {
        let submission = examined.submission
        return SubmissionRecord(
            sequence: 0, id: outcome.submissionID, app: submission.app.id,
            keyID: submission.keyID, sourceAddress: submission.sourceAddress,
            receivedAt: submission.receivedAt, decidedAt: now,
            customerID: LedgerText.recorded(submission.customerID), orderID: LedgerText.recorded(submission.orderID),
            productID: LedgerText.recorded(submission.productID),
            transactionID: LedgerText.recorded(submission.transactionID), quantity: submission.quantity,
            evidenceSHA256: examined.evidence?.sha256, evidenceKind: examined.kind?.rawValue,
            environment: LedgerText.recorded(environment), verdict: outcome.verdict, code: outcome.code,
            expected: LedgerText.recorded(outcome.expected), found: LedgerText.recorded(outcome.found),
            isReplayed: outcome.isReplayed, hash: "")
    }

    private func carryOut(
        _ decision: PurchaseDecision, submissionID: String, app: RegisteredApp
    ) throws(LedgerStorageError) -> PurchaseOutcome {
        switch decision {
        case .accept(let acceptance):
            let purchase = try grant(acceptance, submissionID: submissionID, app: app)
            return try accepted(purchase, submissionID: submissionID, isReplayed: false)
        case .extend(let purchase, let end):
            let extended = try extend(purchase, until: end, submissionID: submissionID)
            return try accepted(extended, submissionID: submissionID, isReplayed: true)
        case .replay(let purchase): return try accepted(purchase, submissionID: submissionID, isReplayed: true)
        case .reject(let rejection):
            return PurchaseOutcome(
                submissionID: submissionID, verdict: .rejected, code: rejection.code, status: rejection.status,
                sentence: rejection.sentence, expected: rejection.expected, found: rejection.found, isReplayed: false)
        }
    }

    private func accepted(
        _ purchase: RecordedPurchase, submissionID: String, isReplayed: Bool
    ) throws(LedgerStorageError) -> PurchaseOutcome {
        let code = DecisionCode.accepted
        var outcome = PurchaseOutcome(
            submissionID: submissionID, verdict: .accepted, code: code.rawValue, status: code.status,
            sentence: code.sentence, isReplayed: isReplayed)
        outcome.purchase = purchase
        if let id = purchase.orderID, let order = try reader.order(id, app: purchase.app) {
            // What moved was paid by an order of somebody else, which is none of the new owner's business.
            if order.customerID.isSame(as: purchase.customerID) {
                outcome.order = order
            } else {
                outcome.purchase?.orderID = nil
            }
        }
        outcome.entitlement = try reader.entitlement(EntitlementKey(purchase))
        return outcome
    }
}

/// The answer to a submission.
public struct PurchaseOutcome: Sendable, Equatable {
    public var submissionID: String
    public var verdict: Verdict
    /// The stable code: `accepted`, one of `DecisionCode`, or the core's.
    public var code: String
    /// The HTTP status that goes with it.
    public var status: Int
    /// The sentence for people.
    public var sentence: String
    public var expected: String?
    public var found: String?
    /// Whether the same claim was accepted before.
    public var isReplayed: Bool
    /// What was granted, if it was accepted.
    public var purchase: RecordedPurchase?
    /// The order that it paid.
    public var order: Order?
    /// What the customer may use of the product now.
    public var entitlement: Entitlement?
}
