import PurchaseVerification

import struct Foundation.UUID

/// A claim that waits for the App Store: the app has the mode `apple`, genuine evidence proves the purchase, the App
/// Store can be asked about it, and it has no owner yet. All other claims are decided at once.
///
/// A claim that is refused for its own fields does not wait. Its evidence is observed like that of any refused claim,
/// unless it has an account token: that would give the purchase its first owner without the App Store's answer.
struct WaitingClaim {
    let transaction: LedgerTransaction
    let app: RegistryApp
    let examined: ExaminedSubmission
    let evidence: ExaminedEvidence
    let customer: CustomerRow
    let order: OrderRow?
    /// A recent refusal by the App Store.
    let refusal: DecidedClaim?

    /// What becomes of a claim before it is decided.
    enum Standing {
        /// It is decided now.
        case isDecided
        case waits(WaitingClaim)
        /// It is refused for its own fields, whatever the App Store says.
        case refused(Rejection)
    }

    /// What becomes of a claim about whose purchase the App Store may have to be asked.
    static func standing(
        of examined: ExaminedSubmission, _ transaction: LedgerTransaction
    ) throws(LedgerStorageError) -> Standing {
        let app = try transaction.app(examined.submission.app)
        let claim = examined.submission.claim
        guard app.settings.mode != .offline, let evidence = examined.evidence else { return .isDecided }
        let askable = evidence.askablePurchases(by: app)
        let named = askable.first { $0.key.transactionID == claim.transactionID.map { ExactText($0) } }
        let isWrong = try transaction.givesOwnerUnasked(evidence, by: app)
        guard isWrong || app.settings.mode == .apple && named != nil else { return .isDecided }
        let refused = { (rejection: Rejection) in isWrong ? Standing.refused(rejection) : .isDecided }
        if let flaw = examined.flaw { return refused(flaw) }
        if let named, try transaction.hasOwner(named.key) { return .isDecided }
        let parties = try ClaimParties(of: claim, transaction, app)
        guard let proven = named, let customer = parties.customer else {
            let refusal =
                parties.refusal(of: claim)
                ?? ClaimRules.proof.refusal(of: evidence.claimed(claim.transactionID, for: app.settings))
            return refusal.map(refused) ?? .isDecided
        }
        let tokenOwner = try CustomerIdentities(transaction, app: app).customer(of: proven.accountToken)
        var statement = ClaimStatement(claim, of: proven, evidence.source, by: customer.key, app.settings)
        (statement.token, statement.tokenOwner) = (proven.accountToken, tokenOwner)
        if let refusal = ClaimRules.statement.refusal(of: statement) { return refused(refusal) }
        guard statement.isOfToken else {
            return refused(Rejection(.appAccountTokenMismatch, found: proven.accountToken?.description))
        }
        guard app.settings.mode == .apple else { return .isDecided }
        let recent = try transaction.recentAnswer(on: evidence, customer: customer)
        if let recent, recent.rejection.map(\.isWithoutEffect) != true { return .isDecided }
        return .waits(
            WaitingClaim(
                transaction: transaction, app: app, examined: examined, evidence: evidence, customer: customer,
                order: parties.order, refusal: recent))
    }

    /// Records the claim, unless an equal claim already waits.
    func write() throws(LedgerStorageError) -> PurchaseOutcome {
        if let refusal, let rejection = refusal.rejection {
            return outcome(refusal.id, refusal.leafHash, nil, rejection, isReplayed: true)
        }
        let kept = try transaction.keep(evidence.stored, app: app, keyID: examined.submission.keyID)
        let pending = Rejection(.appStorePending)
        let answer = ClaimAnswer(
            examined: examined, app: app, transaction: transaction, rejection: pending, customer: customer)
        var details = answer.details
        details.appStore = .waits
        if let known = try transaction.claimThatWaits(like: details, evidence: kept.key, customer: customer) {
            return outcome(known.entry.id, JournalLeaf.hash(known.entry.leaf), known.nextAt, isReplayed: true)
        }
        var draft = transaction.draft(app)
        (draft.evidence, draft.customer, draft.order) = ((kept.key, kept.sha256), customer, order)
        draft.code = pending.code
        let entry = try transaction.journal.append(draft, details)
        try transaction.note(entry, details, unlessAccepted: pending.code, app, customer)
        try transaction.ask(entry, app, customer, kept.key, .waits)
        var outcome = outcome(entry.id, entry.leafHash, nil)
        outcome.asksAppStore = entry.id
        return outcome
    }

    private func outcome(
        _ id: UUID, _ leafHash: [UInt8], _ next: Timestamp?, _ rejection: Rejection = Rejection(.appStorePending),
        isReplayed: Bool = false
    ) -> PurchaseOutcome {
        var outcome = PurchaseOutcome(
            submissionID: id, leafHash: leafHash, rejection: rejection,
            disposition: rejection.disposition(hasPurchase: false), isReplayed: isReplayed, customerID: customer.name)
        outcome.nextAttemptAt = next
        outcome.mergedInto = examined.submission.claim.customerID.flatMap { customer.survivor(of: $0) }
        return outcome
    }
}

extension ExaminedEvidence {
    /// The purchases of genuine evidence about which the App Store can be asked: `verifyReceipt` reads receipts, and
    /// the App Store Server API knows signed transactions, if the app has a key. Empty for other evidence.
    func askablePurchases(by app: RegistryApp) -> [ObservedTransaction] {
        let isAskable =
            switch kind {
            case .appReceipt, .transactionReceipt: environment != .xcode
            case .signedTransaction, .notification:
                app.settings.hasAppStoreKey && (environment == .production || environment == .sandbox)
            default: false
            }
        guard isAskable, objection(app.settings) == nil, case .success(let observation) = verified else { return [] }
        return observation.transactionFacts.filter { $0.productID != nil }
    }

    /// Whether the App Store can be asked about the evidence.
    func canBeAskedAbout(by app: RegistryApp) -> Bool { !askablePurchases(by: app).isEmpty }
}

extension LedgerTransaction {
    /// Whether evidence would give a purchase its first owner by an account token, now or once the token is assigned,
    /// although the App Store is to be asked about first owners.
    func givesOwnerUnasked(
        _ evidence: ExaminedEvidence, by app: RegistryApp
    ) throws(LedgerStorageError) -> Bool {
        guard app.settings.mode != .offline else { return false }
        for proven in evidence.askablePurchases(by: app) where proven.accountToken != nil {
            if try !hasOwner(proven.key) { return true }
        }
        return false
    }

    /// Whether a transaction has an owner, who may be an erased customer.
    func hasOwner(_ key: TransactionKey) throws(LedgerStorageError) -> Bool {
        guard let environment = try environments.key(of: key.environment),
            let row = try transactions.row(key, environment: environment)
        else { return false }
        return row.isErased || row.ownerKey != nil
    }

    /// A recent answer of the App Store that decided a claim of the customer with this receipt: an agreement, or a
    /// refusal that asking again would only repeat.
    func recentAnswer(
        on evidence: ExaminedEvidence, customer: CustomerRow
    ) throws(LedgerStorageError) -> DecidedClaim? {
        guard let known = try EvidenceTable(connection: connection).row(sha256: evidence.stored.sha256) else {
            return nil
        }
        let decisions = try AppStoreClaimsTable(connection: connection)
            .decisions(evidence: known.key, customer: customer.key, limit: 1)
        guard let key = decisions.first, let entry = try JournalTable(connection: connection).row(key: key),
            entry.at.millisecondsSince1970 + AppStoreClaim.answerLasts > now.millisecondsSince1970
        else { return nil }
        let decision = try DecidedClaim(entry)
        // Errors that the operator can correct, and unanswered questions, are asked again.
        let isOpen = [DecisionCode.appStoreSecretMismatch, .appStoreUnanswered].contains {
            $0.rawValue == decision.code
        }
        return isOpen ? nil : decision
    }

    /// The waiting claim with the same evidence, customer and fields, that may take as much from others.
    func claimThatWaits(
        like details: ClaimDetails, evidence: Int64, customer: CustomerRow
    ) throws(LedgerStorageError) -> (entry: JournalRow, nextAt: Timestamp?)? {
        for row in try AppStoreClaimsTable(connection: connection).waiting(evidence: evidence, customer: customer.key) {
            guard let entry = try JournalTable(connection: connection).row(key: row.entryKey),
                let known = try entry.details.map(ClaimDetails.init(encoded:)), known.covers(details)
            else { continue }
            return (entry, try WorkTable(connection: connection).row(row.work)?.nextAt)
        }
        return nil
    }

    /// Queues a claim for the App Store. The server that received it asks first.
    func ask(
        _ entry: JournalEntry, _ app: RegistryApp, _ customer: CustomerRow, _ evidence: Int64,
        _ question: AppStoreQuestion
    ) throws(LedgerStorageError) {
        let row = AppStoreClaimRow(
            entry.key, appKey: app.key, customer: customer.key, evidence: evidence, waits: question == .waits, at: now)
        try AppStoreClaimsTable(connection: connection).insert(row)
        try WorkTable(connection: connection).schedule(
            row.work, at: now, since: now, leasedUntil: now.leaseEnd(of: .claim))
    }
}

extension ClaimDetails {
    /// Whether two claims of one customer with the same evidence have the same fields, and the other one may transfer
    /// no more: a tap on Restore does not join a quiet look.
    fileprivate func covers(_ other: ClaimDetails) -> Bool {
        func isSame(_ left: String?, _ right: String?) -> Bool {
            left.map { ExactText($0) } == right.map { ExactText($0) }
        }
        return isRestore == other.isRestore && isSame(productID, other.productID) && quantity == other.quantity
            && isSame(transactionID, other.transactionID) && isSame(order, other.order)
            && (transfer == other.transfer || other.transfer == TransferPolicy.deny.rawValue)
            && (takeOver == other.takeOver || other.takeOver == nil)
    }
}
