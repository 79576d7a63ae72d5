import PurchaseVerification

import struct Foundation.UUID

/// The result of a claim, for the journal and for the caller.
struct ClaimAnswer {
    let examined: ExaminedSubmission
    let app: RegistryApp
    let transaction: LedgerTransaction
    let rejection: Rejection?
    let customer: CustomerRow?
    /// The claimed transaction.
    var record: TransactionRecord?
    /// The order that the transaction paid, now or earlier.
    var paidOrder: OrderRow?
    /// The id of the order that this claim paid.
    var newlyPaidOrder: String?
    var binds = false
    var isReplayed = false
    /// Whether neither Apple nor an operator withdrew the purchase.
    var hasPurchase = false
    var entitlement: Entitlement?
    var kept: KeptEvidence?

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
        let (submission, claim) = (examined.submission, examined.submission.claim)
        var details = ClaimDetails(
            isRestore: submission.isRestore, keyID: submission.keyID, sourceAddress: submission.sourceAddress,
            customer: customer?.name ?? claim.customerID, order: claim.orderID, productID: claim.productID,
            transactionID: claim.transactionID, quantity: claim.quantity,
            evidenceKind: submission.isMalformedBody
                ? PurchaseSubmission.malformedKind : examined.evidence?.kind?.rawValue, expected: rejection?.expected,
            found: rejection?.found,
            replayed: isReplayed, transfer: app.settings.transfer.rawValue, outcomes: [])
        details.unknownMembers = submission.unknownMembers.isEmpty ? nil : submission.unknownMembers
        if let evidence = examined.evidence { details.unverified = kept?.unverified(evidence.stored) }
        if let record {
            details.outcomes = [ClaimDetails.Outcome(record, code: code, binds: binds, order: newlyPaidOrder)]
        }
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
            disposition: rejection?.disposition(hasPurchase: isOwner && hasPurchase) ?? .granted,
            isReplayed: isReplayed, claimedBy: rejection?.priorClaim, customerID: customer?.name)
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
        outcome.knownAt = record.row.knownAt
        // Other customers' purchases are not shown.
        guard isOwner else { return outcome }
        outcome.ownerReason = record.row.ownerReason
        if let paidOrder {
            outcome.order = try transaction.order(
                paidOrder, of: customer?.name, paidBy: OrderPayment(record.facts))
        }
        outcome.entitlement = entitlement
        return outcome
    }
}
