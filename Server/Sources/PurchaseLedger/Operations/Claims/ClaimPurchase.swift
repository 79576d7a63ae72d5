import PurchaseVerification

import struct Foundation.UUID

/// Judges a claim, and records it with its evidence.
public struct ClaimPurchase: LedgerOperation {
    let examined: ExaminedSubmission

    /// A claim whose evidence was verified.
    public init(_ examined: ExaminedSubmission) { self.examined = examined }

    public func perform(_ transaction: LedgerTransaction) throws -> PurchaseOutcome {
        var judgement = try ClaimJudgement(transaction, examined)
        try judgement.observe()
        do throws(Rejection) {
            try judgement.judge()
        } catch {
            judgement.reject(error)
        }
        if let error = judgement.storageError { throw error }
        return try judgement.record()
    }
}

/// The steps of one claim: observe, bind, own, pay, decide, record.
struct ClaimJudgement {
    let transaction: LedgerTransaction
    let examined: ExaminedSubmission
    let app: RegistryApp
    private var changes: LedgerChanges
    private var draft: JournalDraft
    private var customer: CustomerRow?
    private var order: OrderRow?
    private var kept: KeptEvidence?
    private var rejection: Rejection?
    private var prior: PriorClaim?
    private var isReplayed = false
    private var hasPurchase = false
    private var binds = false
    private var place: (history: Int, record: Int)?
    private var entitlement: Entitlement?
    /// An error of the database while judging.
    private(set) var storageError: LedgerStorageError?

    private var submission: PurchaseSubmission { examined.submission }
    private var claim: ClaimFields { submission.claim }

    init(_ transaction: LedgerTransaction, _ examined: ExaminedSubmission) throws(LedgerStorageError) {
        self.transaction = transaction
        self.examined = examined
        app = try transaction.app(examined.submission.app)
        changes = LedgerChanges(transaction, app: app)
        draft = transaction.draft(app)
    }

    // MARK: Observe

    /// Stores the evidence and observes it, whatever becomes of the claim.
    mutating func observe() throws(LedgerStorageError) {
        guard let evidence = examined.evidence else { return }
        let kept = try transaction.keep(evidence.stored, app: app, keyID: submission.keyID)
        self.kept = kept
        draft.evidence = (kept.key, kept.sha256)
        guard case .success(let observation) = evidence.verified else { return }
        // Evidence of another app is that app's news.
        if let owner = transaction.registry.observer(of: evidence, claimedFor: app) {
            if owner.key != app.key { changes = LedgerChanges(transaction, app: owner) }
            try changes.observe(observation, evidence: kept.key)
        }
    }

    // MARK: Judge

    mutating func judge() throws(Rejection) {
        if let flaw = examined.flaw { throw flaw }
        let (evidence, observation) = try verified()
        try store { (judgement: inout ClaimJudgement) throws(LedgerStorageError) in try judgement.readParties() }
        guard let customer else { throw missingParty() }
        guard let transactionID = claim.transactionID,
            let proven = observation.transactionFacts.first(where: {
                $0.key.transactionID == ExactText(transactionID) && $0.productID != nil
            })
        else { throw try notFound(observation, evidence) }
        try store { (judgement: inout ClaimJudgement) throws(LedgerStorageError) in
            judgement.place = try judgement.changes.place(
                of: proven.key, environment: judgement.transaction.environments.keyToWrite(of: proven.key.environment))
        }
        guard let place else { throw Rejection(.transactionNotFound, expected: transactionID) }
        let record = changes.histories[place.history].records[place.record]
        try requireBinding(record, proven, customer: customer, source: evidence.source)
        binds = true
        let mayTransfer = OwnershipAct.mayTransfer(under: app.settings.transfer, kind: record.row.kind)
        isReplayed = changes.claim(proven.key, by: customer.key, mayTransfer: mayTransfer, in: place.history)
        try own(named: order == nil ? nil : proven.key)
        try decide(proven, customer: customer)
    }

    private func verified() throws(Rejection) -> (ExaminedEvidence, Observation) {
        guard let evidence = examined.evidence else { throw Rejection(.fieldMissing, expected: "receipt_data") }
        switch evidence.verified {
        case .failure(let error): throw Rejection(error)
        case .success(let observation):
            if let objection = evidence.objection { throw Rejection(objection) }
            return (evidence, observation)
        }
    }

    /// The customer and the order that the claim names.
    private mutating func readParties() throws(LedgerStorageError) {
        if let orderID = claim.orderID {
            if let id = UUID(uuidString: orderID), let found = try transaction.orders.row(id: id),
                found.appKey == app.key
            {
                order = found
            } else {
                return
            }
        }
        guard let order else {
            if let name = claim.customerID { customer = try transaction.customerToWrite(name, app) }
            return
        }
        let owner = try transaction.customers.surviving(try transaction.customers.row(order.customerKey))
        if let name = claim.customerID, try transaction.customer(name, app)?.key != owner.key {
            self.order = nil
            isOrderOfAnother = true
        } else {
            customer = owner
        }
    }

    private var isOrderOfAnother = false

    private func missingParty() -> Rejection {
        isOrderOfAnother
            ? Rejection(.orderOfAnotherCustomer) : Rejection(.orderUnknown, expected: claim.orderID)
    }

    private func notFound(_ observation: Observation, _ evidence: ExaminedEvidence) throws(Rejection) -> Rejection {
        if evidence.isEmptyReceipt { return Rejection(.noPurchases) }
        guard !observation.transactions.isEmpty else {
            return Rejection(
                .evidenceNotAPurchase, expected: "evidence of a transaction", found: evidence.kind?.rawValue)
        }
        return Rejection(.transactionNotFound, expected: claim.transactionID)
    }

    private mutating func requireBinding(
        _ record: TransactionRecord, _ proven: ObservedTransaction, customer: CustomerRow, source: EvidenceSource
    ) throws(Rejection) {
        var tokenOwner: Int64?
        if let token = record.facts.accountToken {
            try store { (judgement: inout ClaimJudgement) throws(LedgerStorageError) in
                tokenOwner = try judgement.changes.customer(of: token)
            }
        }
        try ClaimDecision.requireBinding(
            claim, proven, facts: record.facts, customer: customer.key, tokenOwner: tokenOwner,
            isOwned: record.formerRow?.ownerKey != nil, source: source, app: app.settings)
    }

    /// Owners, then orders, then the rows of facts and entitlements.
    private mutating func own(named: TransactionKey?) throws(Rejection) {
        try store { (judgement: inout ClaimJudgement) throws(LedgerStorageError) in
            try judgement.changes.own()
            try judgement.changes.settleOrders(except: named)
            try judgement.changes.writeFacts()
            try judgement.changes.writeEntitlements()
        }
    }

    private mutating func decide(_ proven: ObservedTransaction, customer: CustomerRow) throws(Rejection) {
        guard let place else { return }
        let record = changes.histories[place.history].records[place.record]
        guard record.row.ownerKey == customer.key else {
            prior = .anotherCustomer
            throw Rejection.alreadyClaimed(.anotherCustomer)
        }
        var paid: OrderRow?
        var isCopy = false
        try store { (judgement: inout ClaimJudgement) throws(LedgerStorageError) in
            paid = try judgement.changes.order(paidBy: record)
            isCopy = judgement.changes.histories[place.history].copies.contains(record.facts.key)
            judgement.entitlement = try judgement.entitlement(of: customer.key, record, in: place.history)
        }
        let purchase = ClaimedPurchase(
            facts: record.facts, kind: record.row.kind, isCopy: isCopy,
            hasPaidAnotherOrder: paid.map { $0.key != order?.key } ?? false)
        hasPurchase = record.facts.withdrawal == nil
        try ClaimDecision.requireTerms(purchase, app.settings)
        try ClaimDecision.requireState(purchase, proven, entitlement: entitlement, now: transaction.now)
        if record.row.kind == .consumable, isCopy {
            prior = .restoredCopy
            throw Rejection.alreadyClaimed(.restoredCopy)
        }
        guard let order else { return }
        try pay(order, purchase, record)
    }

    /// What the customer may use of the product now.
    private func entitlement(
        of customer: Int64, _ record: TransactionRecord, in index: Int
    ) throws(LedgerStorageError) -> Entitlement? {
        if record.row.kind == .consumable, let balance = changes.balance(of: customer, in: index) {
            // It was just written.
            var row = EntitlementRow(
                customerKey: customer, productKey: record.row.productKey, environment: record.row.environment,
                ground: EntitlementRow.wholeGround, kind: .consumable)
            (row.balance, row.shortfall) = balance
            return try EntitlementReading(app: app.settings, moment: transaction.now).entitlement(
                [row], productID: record.productID, environment: record.facts.key.environment)
        }
        return try transaction.entitlement(
            of: customer, product: record.row.productKey, productID: record.productID,
            environment: record.row.environment, app: app)
    }

    private mutating func pay(
        _ order: OrderRow, _ purchase: ClaimedPurchase, _ record: TransactionRecord
    ) throws(Rejection) {
        var terms: OrderTerms?
        try store { (judgement: inout ClaimJudgement) throws(LedgerStorageError) in
            terms = try judgement.changes.terms(of: order, purchase: record)
        }
        guard let terms else { return }
        if let refusal = terms.refusal(of: purchase) {
            if refusal.code == DecisionCode.alreadyClaimed.rawValue {
                prior = refusal.found.flatMap(PriorClaim.init(rawValue:))
            }
            throw refusal
        }
        guard !terms.isPaidByThis else { return }
        changes.pay(order, with: record)
        isReplayed = false
    }

    /// Runs a step that uses the database. Its error ends the whole operation, not only the claim.
    private mutating func store(_ step: (inout ClaimJudgement) throws(LedgerStorageError) -> Void) throws(Rejection) {
        do throws(LedgerStorageError) {
            try step(&self)
        } catch {
            storageError = error
            throw Rejection(.bodyMalformed)
        }
    }

    mutating func reject(_ rejection: Rejection) {
        self.rejection = rejection
    }

    // MARK: Record

    /// Writes the journal entry, and what names it.
    mutating func record() throws(LedgerStorageError) -> PurchaseOutcome {
        if !binds {
            // The claim does not count, and its evidence does.
            try changes.own()
            try changes.settleOrders()
            try changes.writeFacts()
            try changes.writeEntitlements()
        }
        let record = place.map { changes.histories[$0.history].records[$0.record] }
        let paid = try record.flatMap { record throws(LedgerStorageError) in try changes.order(paidBy: record) }
        if customer == nil, let name = claim.customerID, ExactText(name).isIdentifier {
            // A rejected claim makes no customer, but is listed among those of a known one.
            draft.customer = try transaction.customer(name, app)
        } else {
            draft.customer = customer
        }
        draft.order = order
        draft.transactionKey = record.flatMap { $0.row.key == 0 ? nil : $0.row.key }
        draft.code = rejection?.code ?? DecisionCode.accepted.rawValue
        let entry = try transaction.journal.append(draft, details(record, paid))
        try changes.writeRest(entry)
        try transaction.hold(examined.evidence, kept?.key, entry)
        return try outcome(entry, record, paid)
    }

    private func details(_ record: TransactionRecord?, _ paid: OrderRow?) -> ClaimDetails {
        var details = ClaimDetails(
            isRestore: false, keyID: submission.keyID, sourceAddress: submission.sourceAddress,
            customer: customer?.name ?? claim.customerID, order: claim.orderID, productID: claim.productID,
            transactionID: claim.transactionID, quantity: claim.quantity,
            evidenceKind: examined.evidence?.kind?.rawValue, expected: rejection?.expected, found: rejection?.found,
            replayed: isReplayed && rejection == nil, transfer: app.settings.transfer.rawValue, outcomes: [])
        if let evidence = examined.evidence { details.unverified = kept?.unverified(evidence.stored) }
        if let record {
            details.outcomes = [
                ClaimDetails.Outcome(record, code: draft.code, binds: binds, order: changes.orderPaid(by: record))
            ]
        }
        return details.bounded()
    }

    private func outcome(
        _ entry: JournalEntry, _ record: TransactionRecord?, _ paid: OrderRow?
    ) throws(LedgerStorageError) -> PurchaseOutcome {
        let isOwner = record?.row.ownerKey != nil && record?.row.ownerKey == customer?.key
        var outcome = PurchaseOutcome(
            submissionID: entry.id, leafHash: entry.leafHash, rejection: rejection,
            disposition: rejection?.disposition(hasPurchase: isOwner && hasPurchase) ?? .granted,
            isReplayed: isReplayed && rejection == nil, claimedBy: prior, customerID: customer?.name)
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
        // What belongs to somebody else is not shown.
        guard isOwner else { return outcome }
        outcome.ownerReason = record.row.ownerReason
        outcome.order = try paid.map { row throws(LedgerStorageError) in
            try transaction.order(row, of: customer?.name, paidBy: OrderPayment(record.facts))
        }
        outcome.entitlement = entitlement
        return outcome
    }
}
