import PurchaseVerification

import struct Foundation.UUID

extension LedgerTransaction {
    /// Decides about a submission, keeps it whatever the verdict, and does what the decision says.
    public func record(_ examined: ExaminedSubmission) throws(LedgerStorageError) -> PurchaseOutcome {
        let submission = examined.submission
        let decision: PurchaseDecision
        var claimed: ProvenPurchase?
        switch (examined.claim, examined.proof) {
        case (.failure(let rejection), _): decision = .reject(rejection)
        case (.success, nil):
            // A claim is complete only with evidence, and evidence was examined.
            decision = .reject(Rejection(.fieldMissing, expected: "receipt_data or signed_transaction"))
        case (.success(let claim), let proof?):
            if case .verified(let purchases) = proof { claimed = purchases.claimed(claim.transactionID) }
            decision = PurchaseDecision.decide(claim, proof, try facts(claim, claimed, app: submission.app))
        }
        let outcome = try carryOut(decision, submissionID: UUID().uuidString.lowercased(), app: submission.app)
        try examined.evidence?.keep(connection)
        try SubmissionRecord.chain.append(
            row(outcome, examined, environment: (outcome.purchase?.environment ?? claimed?.environment)?.name).values,
            connection)
        return outcome
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
        case .replay(let purchase): return try accepted(purchase, submissionID: submissionID, isReplayed: true)
        case .reject(let rejection):
            if let withdrawal = rejection.withdrawal {
                try withdraw(withdrawal.purchases, withdrawal.withdrawal, submissionID: submissionID)
            }
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
        outcome.order = try purchase.orderID.flatMap { id throws(LedgerStorageError) in
            try reader.order(id, app: purchase.app)
        }
        outcome.entitlement = try reader.entitlement(EntitlementKey(purchase))
        return outcome
    }

    /// Everything that is recorded and bears on a claim.
    private func facts(
        _ claim: PurchaseClaim, _ purchase: ProvenPurchase?, app: RegisteredApp
    ) throws(LedgerStorageError) -> KnownFacts {
        var facts = KnownFacts(app: app, now: now)
        if let orderID = claim.orderID { facts.order = try reader.order(orderID, app: app.id) }
        guard let purchase else { return facts }
        if let token = purchase.appAccountToken { facts.tokenOrder = try reader.order(token: token, app: app.id) }
        facts.recorded = try recorded(purchase, app: app.id)
        if let original = try original(of: purchase, app: app.id) {
            facts.originalOwner = original.owner
            facts.recordedEnvironment = original.environment
            facts.copies = try copies(of: purchase, in: original.environment, app: app)
        }
        return facts
    }

    /// The purchase as it was recorded, under whatever environment of the App Store.
    private func recorded(_ purchase: ProvenPurchase, app: String) throws(LedgerStorageError) -> RecordedPurchase? {
        for environment in purchase.environment.alternatives {
            if let recorded = try reader.purchase(purchase.transactionID, in: environment, app: app) { return recorded }
        }
        return nil
    }

    private func original(
        of purchase: ProvenPurchase, app: String
    ) throws(LedgerStorageError) -> (owner: String, environment: AppStoreEnvironment)? {
        for environment in purchase.environment.alternatives {
            let rows = try connection.rows(
                """
                SELECT customer_id FROM original_purchases
                WHERE app = ?1 AND environment = ?2 AND original_transaction_id = ?3
                """, [.text(app), .text(environment.name), .text(purchase.originalTransactionID)])
            if let row = rows.first {
                var reader = RowReader(row)
                return (try reader.text(), environment)
            }
        }
        return nil
    }

    private func copies(
        of purchase: ProvenPurchase, in environment: AppStoreEnvironment, app: RegisteredApp
    ) throws(LedgerStorageError) -> [RecordedPurchase] {
        var sql = """
            SELECT \(RecordedPurchase.columns) FROM purchases
            WHERE app = ?1 AND environment = ?2 AND original_transaction_id = ?3 AND transaction_id <> ?4
            """
        var parameters: [LedgerValue] = [
            .text(app.id), .text(environment.name), .text(purchase.originalTransactionID),
            .text(purchase.transactionID),
        ]
        if app.product(of: purchase)?.kind == .autoRenewable {
            guard let expiresDate = purchase.expiresDate else { return [] }
            sql += " AND expires_at = ?5 AND product_id = ?6"
            parameters += [.time(expiresDate), .text(purchase.productID)]
        }
        var copies: [RecordedPurchase] = []
        for row in try connection.rows(sql + " ORDER BY transaction_id", parameters) {
            copies.append(try RecordedPurchase(row))
        }
        return copies
    }
}

extension AppStoreEnvironment {
    /// The environments under which a purchase may be recorded, its own first. The App Store numbers production and sandbox
    /// apart, so the same number in both is the same purchase, called differently.
    fileprivate var alternatives: [AppStoreEnvironment] {
        switch self {
        case .production: [.production, .sandbox]
        case .sandbox: [.sandbox, .production]
        case .xcode, .other: [self]
        }
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
