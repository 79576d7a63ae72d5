import PurchaseVerification

import struct Foundation.UUID

/// The result of a claim, for the journal and for the caller.
struct ClaimAnswer {
    let examined: ExaminedSubmission
    let app: RegistryApp
    let transaction: LedgerTransaction
    let rejection: Rejection?
    let customer: CustomerRow?
    var claim: PurchaseClaim?
    /// The claimed transaction.
    var record: TransactionRecord?
    /// The order that the purchase paid, now or earlier, and the copy that paid it.
    var payment: (order: OrderRow, copy: TransactionRecord)?
    var outcomes: [ClaimDetails.Outcome] = []
    var entitlement: Entitlement?
    var kept: KeptEvidence?

    /// The result of a claim that was decided.
    init(_ examined: ExaminedSubmission, _ app: RegistryApp, _ write: EvidenceWrite) throws(LedgerStorageError) {
        self.init(
            examined: examined, app: app, transaction: write.transaction,
            rejection: write.rejection, customer: write.parties.customer)
        (kept, outcomes) = (write.kept, write.outcomes)
        guard let claim = write.claims.first else { return }
        self.claim = claim
        let record = write.record(of: claim)
        self.record = record
        payment = try write.changes.payment(of: record, in: claim.place.history)
        if let customer, let counted = try transaction.counted(claim.entitlement, of: customer.key, app) {
            entitlement = try RenewalReading(
                reader: transaction, customer: customer, question: .now(transaction.now)
            ).added(
                to: counted, knowing: write.changes.histories[claim.place.history],
                write.changes.purchases(in: claim.place.history))
        }
    }

    /// The result of a claim that is not decided yet.
    init(
        examined: ExaminedSubmission, app: RegistryApp, transaction: LedgerTransaction, rejection: Rejection?,
        customer: CustomerRow?
    ) {
        self.examined = examined
        self.app = app
        self.transaction = transaction
        self.rejection = rejection
        self.customer = customer
    }

    /// `accepted`, or the code of the rejection.
    var code: String { rejection?.code ?? DecisionCode.accepted.rawValue }

    /// The details of the journal entry.
    var details: ClaimDetails {
        let (submission, fields) = (examined.submission, examined.submission.claim)
        var details = ClaimDetails(
            isRestore: submission.isRestore, keyID: submission.keyID, sourceAddress: submission.sourceAddress,
            customer: customer?.name ?? fields.customerID, order: fields.orderID, productID: fields.productID,
            transactionID: fields.transactionID, quantity: fields.quantity,
            evidenceKind: submission.isMalformedBody
                ? PurchaseSubmission.malformedKind : examined.evidence?.kind?.rawValue, expected: rejection?.expected,
            found: rejection?.found,
            replayed: claim?.isReplayed ?? false, transfer: app.settings.transfer.rawValue, outcomes: outcomes)
        details.guest = transaction.newGuest == nil ? nil : true
        details.unknownMembers = submission.unknownMembers.isEmpty ? nil : submission.unknownMembers
        if let evidence = examined.evidence { details.unverified = kept?.unverified(evidence.stored) }
        return details.bounded()
    }

    /// The answer to the caller about a refusal beyond the daily budget, which has no entry.
    func countedOutcome() throws(LedgerStorageError) -> PurchaseOutcome {
        var outcome = try outcome(JournalEntry(key: 0, id: UUID(), leafHash: []))
        outcome.isCounted = true
        return outcome
    }

    /// The answer to the caller.
    func outcome(_ entry: JournalEntry) throws(LedgerStorageError) -> PurchaseOutcome {
        let isOwner = record?.row.ownerKey != nil && record?.row.ownerKey == customer?.key
        var outcome = PurchaseOutcome(
            submissionID: entry.id, leafHash: entry.leafHash, rejection: rejection,
            disposition: rejection?.disposition(hasPurchase: claim?.hasPurchase ?? false) ?? .granted,
            isReplayed: claim?.isReplayed ?? false, claimedBy: rejection?.priorClaim, customerID: customer?.name)
        outcome.mergedInto = examined.submission.claim.customerID.flatMap { customer?.survivor(of: $0) }
        guard let record else { return outcome }
        outcome.environment = record.facts.key.environment
        outcome.transactionID = record.facts.key.transactionID.string
        outcome.originalTransactionID = record.facts.original.transactionID.string
        outcome.productID = record.productID
        outcome.quantity = record.facts.quantity
        outcome.purchasedAt = record.facts.purchaseDate
        outcome.expiresAt = record.facts.end
        outcome.price = record.facts.price
        outcome.offer = record.facts.offer
        outcome.productKind = record.row.kind
        outcome.isFamilyShared = record.facts.ownership.isFamilyShared
        outcome.seats = record.facts.seatsOfPurchaser
        outcome.knownAt = record.row.knownAt
        // Other customers' purchases are not shown.
        guard isOwner else { return outcome }
        outcome.ownerReason = record.row.ownerReason
        if let payment {
            outcome.order = try transaction.order(
                payment.order, of: customer?.name, paidBy: OrderPayment(payment.copy.facts))
        }
        outcome.entitlement = entitlement
        return outcome
    }
}
