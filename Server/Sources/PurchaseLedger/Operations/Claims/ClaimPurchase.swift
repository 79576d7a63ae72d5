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
        if let waiting = try WaitingClaim(of: examined, transaction) { return try waiting.write() }
        var judgement = try ClaimJudgement(transaction, examined)
        let outcome = try judgement.outcome()
        guard outcome.isCounted else { return outcome }
        var revised = self
        revised.counted = outcome
        throw RevisedOperation(operation: revised)
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

/// The steps of one claim: observe, bind, settle, decide, pay, record.
struct ClaimJudgement {
    let transaction: LedgerTransaction
    let examined: ExaminedSubmission
    let app: RegistryApp
    /// The App Store's answer, if the claim waited for it.
    let word: AnsweredClaim?
    private(set) var rejection: Rejection?
    /// The entry that was written.
    private(set) var entry: JournalEntry?
    private var changes: LedgerChanges
    private var kept: KeptEvidence?
    private var parties = ClaimParties()
    /// The position of the claimed transaction in the histories.
    private var place: (history: Int, record: Int)?
    private var binds = false
    private var isReplayed = false
    private var isSettled = false
    private var hasPurchase = false
    private var entitlement: Entitlement?

    private var claim: ClaimFields { examined.submission.claim }

    init(
        _ transaction: LedgerTransaction, _ examined: ExaminedSubmission, word: AnsweredClaim? = nil
    ) throws(LedgerStorageError) {
        self.transaction = transaction
        self.examined = examined
        self.word = word
        app = try transaction.app(examined.submission.app)
        changes = LedgerChanges(transaction, app: app)
    }

    /// Observes, decides and records.
    mutating func outcome() throws -> PurchaseOutcome {
        if let refusal = word?.answer.refusal {
            // The claim has no effect, so its evidence is not observed either.
            (rejection, isSettled) = (refusal, true)
            if let evidence = examined.evidence {
                kept = try transaction.keep(evidence.stored, app: app, keyID: examined.submission.keyID)
            }
            parties = try ClaimParties(of: claim, transaction, app)
            return try write()
        }
        try observe()
        do {
            try judge()
        } catch let rejection as Rejection {
            self.rejection = rejection
        }
        return try write()
    }

    // MARK: Observe

    /// Stores the evidence and observes it, whatever the claim's outcome.
    private mutating func observe() throws(LedgerStorageError) {
        guard let evidence = examined.evidence else { return }
        let kept = try transaction.keep(evidence.stored, app: app, keyID: examined.submission.keyID)
        self.kept = kept
        guard case .success(let observation) = evidence.verified else { return }
        // Evidence of another app is observed by that app.
        if let owner = transaction.registry.observer(of: evidence, claimedFor: app) {
            if owner.key != app.key { changes = LedgerChanges(transaction, app: owner) }
            try changes.observe(observation, evidence: kept.key)
            try changes.observe(word?.answer)
        }
    }

    // MARK: Judge

    /// Decides the claim.
    ///
    /// - Throws: `Rejection` if the claim is rejected, `LedgerStorageError` if the operation as a whole fails.
    private mutating func judge() throws {
        if let flaw = examined.flaw { throw flaw }
        let (evidence, observation) = try verified()
        parties = try ClaimParties(of: claim, transaction, app)
        let customer = try parties.requireCustomer(of: claim)
        changes.identities.know(locked: customer)
        let proven = try claimed(in: observation, evidence)
        let tokenOwner = try changes.identities.customer(of: proven.accountToken ?? word?.answer.tokens[proven.key])
        try find(proven)
        if let record, record.isErased {
            place = nil
            throw Rejection(.purchaseErased)
        }
        isReplayed = try wasClaimed(by: customer)
        try ClaimDecision.requireAgreement(claim, proven)
        if ClaimDecision.isOfToken(customer.key, tokenOwner: tokenOwner) {
            bind(proven, customer, tokenOwner: tokenOwner, source: evidence.source)
        }
        try settle()
        try decide(proven, customer)
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

    /// The statement of the claim's own evidence about the transaction. Facts that the ledger already knows prove nothing here.
    private func claimed(
        in observation: Observation, _ evidence: ExaminedEvidence
    ) throws(Rejection) -> ObservedTransaction {
        let proven = observation.transactionFacts.first {
            $0.key.transactionID == claim.transactionID.map { ExactText($0) } && $0.productID != nil
        }
        if let proven { return proven }
        if evidence.isEmptyReceipt { throw Rejection(.noPurchases) }
        guard !observation.transactions.isEmpty else {
            throw Rejection(
                .evidenceNotAPurchase, expected: "evidence of a transaction", found: evidence.kind?.rawValue)
        }
        throw Rejection(.transactionNotFound, expected: claim.transactionID)
    }

    private mutating func find(_ proven: ObservedTransaction) throws {
        place = try changes.place(
            of: proven.key, environment: transaction.environments.keyToWrite(of: proven.key.environment))
        guard place != nil else { throw Rejection(.transactionNotFound, expected: claim.transactionID) }
    }

    /// Whether the customer claimed the transaction before.
    private func wasClaimed(by customer: CustomerRow) throws(LedgerStorageError) -> Bool {
        guard let place, let record else { return false }
        var earlier = EarlierClaims(changes, customer: customer)
        return try earlier.contains(record, in: place.history)
    }

    /// Settles the changes. A transaction whose claim names an order pays no other order.
    private mutating func settle() throws(LedgerStorageError) {
        try changes.settle(except: parties.order == nil ? nil : record?.facts.key)
        isSettled = true
    }

    private mutating func bind(
        _ proven: ObservedTransaction, _ customer: CustomerRow, tokenOwner: Int64?, source: EvidenceSource
    ) {
        guard let place, let record else { return }
        let token = proven.accountToken ?? word?.answer.tokens[proven.key]
        guard
            ClaimDecision.binds(
                source, token: token, tokenOwner: tokenOwner, customer: customer.key, app.settings)
        else { return }
        binds = true
        let mayTransfer = OwnershipAct.mayTransfer(under: app.settings.transfer, kind: record.row.kind)
        changes.claim(proven.key, by: customer.key, mayTransfer: mayTransfer, in: place.history)
    }

    private mutating func decide(_ proven: ObservedTransaction, _ customer: CustomerRow) throws {
        guard let place, let record else { return }
        let tokenOwner = try changes.identities.customer(of: record.facts.accountToken)
        if try changes.isOfErasedCustomer(record, besides: customer.key) { throw Rejection(.purchaseErased) }
        try ClaimDecision.requireOwner(
            record.row.ownerKey, customer: customer.key, tokenOwner: tokenOwner, facts: record.facts, app.settings)
        let uncounted = try entitlement(of: customer.key, record, in: place.history)
        entitlement = try transaction.counted(uncounted, of: customer.key, app)
        let purchase = try changes.claimedPurchase(record, in: place.history, named: parties.order)
        hasPurchase = purchase.isHad
        try ClaimDecision.requireTerms(purchase, app.settings)
        try ClaimDecision.requireNotWithdrawn(purchase, proven)
        if record.row.kind == .consumable, purchase.isCopy { throw Rejection.alreadyClaimed(.restoredCopy) }
        guard let order = parties.order else {
            try ClaimDecision.requireAccess(
                purchase, entitlement: uncounted?.entitlement, now: transaction.now)
            return
        }
        // Payment decides about an order, so it does not matter whether the paid time has ended.
        try pay(order, purchase, record)
    }

    private mutating func pay(_ order: OrderRow, _ purchase: ClaimedPurchase, _ record: TransactionRecord) throws {
        let terms = try changes.payments.terms(of: order, purchase: record)
        if let refusal = terms.refusal(of: purchase) { throw refusal.aboutOrder }
        guard !terms.isPaidByThis else { return }
        guard let place else { return }
        try changes.payments.pay(order, with: record, among: changes.copies(of: record, in: place.history))
    }

    /// The customer's current entitlement to the product, before `sandbox_access` is applied.
    private func entitlement(
        of customer: Int64, _ record: TransactionRecord, in index: Int
    ) throws(LedgerStorageError) -> UncountedEntitlement? {
        if record.row.kind == .consumable, let balance = changes.balance(of: customer, in: index) {
            // It was just written.
            return try EntitlementReading(app: app.settings, moment: transaction.now).entitlements(
                [
                    EntitlementRow(
                        balance: balance, of: customer, product: record.row.productKey,
                        environment: record.row.environment)
                ], productID: record.productID, environment: record.facts.key.environment
            ).first
        }
        return try transaction.entitlement(
            of: customer, product: record.row.productKey, kind: record.row.kind ?? record.facts.kind,
            productID: record.productID, environment: record.row.environment, app: app)
    }

    /// The current record of the claimed transaction.
    private var record: TransactionRecord? { place.map { changes.histories[$0.history].records[$0.record] } }

    // MARK: Record

    /// Writes the journal entry, and the rows that refer to it.
    private mutating func write() throws(LedgerStorageError) -> PurchaseOutcome {
        // The evidence counts even if the claim does not.
        if !isSettled { try settle() }
        var answer = ClaimAnswer(
            examined: examined, app: app, transaction: transaction, rejection: rejection, customer: parties.customer)
        if let record {
            answer.record = record
            answer.paidOrder = try changes.payments.order(paidBy: record)
            answer.newlyPaidOrder = changes.payments.orderPaid(by: record)
        }
        (answer.binds, answer.isReplayed, answer.entitlement) = (binds, isReplayed, entitlement)
        answer.hasPurchase = hasPurchase
        answer.kept = kept
        var details = answer.details
        let use = isIdleRefusal ? RefusalBudgetUse(transaction, app: app, keyID: examined.submission.keyID) : nil
        if let use, try !use.admits() { return try answer.countedOutcome() }
        let confirms = word == nil && app.settings.mode == .both && isFirstGrant && examined.canBeAskedAbout
        if confirms { details.appStore = .confirms }
        let entry: JournalEntry
        if let word {
            let counts = rejection?.isWithoutEffect != true
            entry = try transaction.journal.append(
                try draft(answer),
                DecisionDetails(
                    claim: word.claim.text, cancellations: counts ? word.answer.cancellations : [],
                    tokens: counts ? word.answer.statedTokens : [], decided: details))
        } else {
            entry = try transaction.journal.append(try draft(answer), details)
        }
        self.entry = entry
        try use?.add(entry, evidence: kept, customer: parties.customer)
        try changes.finish(entry)
        if rejection?.isWithoutEffect != true { try transaction.hold(examined.evidence, kept?.key, entry) }
        var outcome = try answer.outcome(entry)
        if confirms, let customer = parties.customer, let kept {
            try transaction.ask(entry, app, customer, kept.key, .confirms)
            outcome.asksAppStore = entry.id
        }
        return outcome
    }

    /// Whether the claim was refused, is about a purchase that the customer does not own, and changes nothing in the ledger. The
    /// daily budget pays for its entry. What the App Store was asked about is always recorded.
    private var isIdleRefusal: Bool {
        guard word == nil, rejection != nil, !changes.hasNews else { return false }
        guard let owner = record?.row.ownerKey else { return true }
        return owner != parties.customer?.key
    }

    /// Whether the claim was accepted and gives a purchase its first owner.
    private var isFirstGrant: Bool { rejection == nil && record.map { $0.formerRow?.ownerKey == nil } ?? false }

    private func draft(_ answer: ClaimAnswer) throws(LedgerStorageError) -> JournalDraft {
        var draft = transaction.draft(app)
        if let kept { draft.evidence = (kept.key, kept.sha256) }
        draft.customer = parties.customer
        if draft.customer == nil, let name = claim.customerID, ExactText(name).isIdentifier {
            // A rejected claim creates no customer, but is listed for a known one.
            draft.customer = try transaction.customer(name, app)
        }
        draft.order = parties.order
        draft.transactionKey = record.flatMap { $0.row.key == 0 ? nil : $0.row.key }
        draft.code = answer.code
        return draft
    }
}
