import PurchaseVerification

import struct Foundation.UUID

/// The one sequence of every write of evidence: keep, observe, bind, settle, judge, and record (docs/ledger.md,
/// "Inputs").
///
/// `decide` does everything up to the journal entry. Then the caller composes the entry from the outcome, and `record`
/// appends it and writes the rows that refer to it.
final class EvidenceWrite {
    let transaction: LedgerTransaction
    let input: EvidenceInput
    /// The app that observes the evidence; `nil` if none does.
    let observer: RegistryApp?
    let changes: LedgerChanges
    private(set) var kept: KeptEvidence?
    /// The customer and the order of the claims.
    private(set) var parties = ClaimParties()
    /// Why the evidence or the request as a whole is refused.
    private(set) var refusal: Rejection?
    /// The purchases that are claimed, by the evidence itself.
    private(set) var proven: [ObservedTransaction] = []
    private(set) var claims: [PurchaseClaim] = []
    /// The outcome of each claim, for the entry.
    private(set) var outcomes: [ClaimDetails.Outcome] = []
    /// The transaction that is claimed for the order. If the order is its owner's, its purchase pays no other one.
    private(set) var named: TransactionKey?
    /// For a recorded claim: what the decision gives in place of what was recorded; `nil` if it gives the same.
    private(set) var difference: String?
    /// Whether other evidence of the request claimed some of its purchases.
    private var isRepeated = false
    /// The claims before this one, if the answer mentions them.
    private var earlier: EarlierClaims?
    /// In a review: whether the write would change something.
    private(set) var isNews = false
    /// Whether nothing is claimed and paid, because only the outcome is wanted.
    private var isReview = false

    init(_ input: EvidenceInput, _ transaction: LedgerTransaction) {
        (self.transaction, self.input, difference) = (transaction, input, input.recorded?.difference)
        observer = input.evidence.flatMap { transaction.registry.observer(of: $0, claimedFor: input.app) }
        changes = LedgerChanges(transaction, app: observer ?? input.app ?? .unknown)
    }

    /// Stores and observes the evidence, and decides the claims. What binds and pays is what was recorded, if anything
    /// was.
    func decide() throws(LedgerStorageError) {
        try observe()
        try deciding { () throws(LedgerStorageError) in
            try select()
            for purchase in proven { try bind(purchase) }
        }
        try bindRecorded()
        try settle()
        let book = changes.payments.book
        try deciding { () throws(LedgerStorageError) in
            for index in claims.indices { try judge(index) }
            try conclude()
        }
        try payRecorded(book)
    }

    /// Decides. An error in what the decision reads is a difference from what was recorded, which is applied all the
    /// same.
    private func deciding(_ steps: () throws(LedgerStorageError) -> Void) throws(LedgerStorageError) {
        do throws(LedgerStorageError) {
            try steps()
        } catch {
            guard recorded != nil, AuditFinding.isFinding(error) else { throw error }
            difference = "\(error)"
        }
    }

    /// Decides the claims as far as the ledger already knows the evidence, and changes nothing.
    func review() throws(LedgerStorageError) {
        isReview = true
        try select()
        for purchase in proven { try bind(purchase) }
        for index in claims.indices { try judge(index) }
    }

    // MARK: Observe

    /// Stores the evidence and observes it, whatever becomes of the claims. If the App Store refused them, they have no
    /// effect, so the evidence is not observed either.
    func observe() throws(LedgerStorageError) {
        guard let evidence = input.evidence else { return }
        let key: Int64
        if let stored = input.storedEvidence {
            key = stored
        } else {
            let kept = try transaction.keep(evidence.stored, app: input.app, keyID: input.keyID)
            (self.kept, key) = (kept, kept.key)
        }
        guard input.answer?.answer.refusal == nil, observer != nil, case .success(let observation) = evidence.verified
        else { return }
        try changes.observe(observation, evidence: key)
        try changes.observe(input.answer?.answer)
        try place(evidence)
    }

    /// Notes where a stored app receipt belongs among those of its download.
    private func place(_ evidence: ExaminedEvidence) throws(LedgerStorageError) {
        guard let place = evidence.receiptPlace, let environment = evidence.environment, let observer, let kept,
            !kept.isPrefix
        else { return }
        try AppReceiptsTable(connection: transaction.connection).insert(
            place, app: observer.key, environment: try transaction.environments.keyToWrite(of: environment),
            evidence: kept.key, part: kept.part)
    }

    // MARK: Claim

    private var fields: ClaimFields? { if case .named(let fields) = input.claims { fields } else { nil } }
    private var every: EvidenceInput.EveryPurchase? { if case .every(let every) = input.claims { every } else { nil } }
    private var recorded: RecordedClaims? { input.recorded }
    /// The customer for whom purchases are bound.
    private var claimant: CustomerRow? { if let recorded { recorded.customer } else { parties.customer } }
    private var app: RegistryApp { input.app ?? .unknown }
    /// The app of the entry. Evidence without a claim belongs to the app that observes it.
    private var recordingApp: RegistryApp? {
        if case .nothing = input.claims { observer ?? input.app } else { input.app }
    }

    /// Finds the purchases that are claimed, and the customer and order of the claim.
    private func select() throws(LedgerStorageError) {
        refusal = input.answer?.answer.refusal ?? input.flaw
        switch input.claims {
        case .nothing:
            if case .failure(let error) = input.evidence?.verified, refusal == nil { refusal = Rejection(error) }
        case .every(let every):
            parties = ClaimParties(every.customer, order: every.order)
            guard refusal == nil, let evidence = input.evidence?.claimed(for: input.app?.settings) else { return }
            refusal = ClaimRules.evidence.refusal(of: evidence)
            guard refusal == nil else { return }
            proven = evidence.proven.filter { !every.besides.contains($0.key) }
            isRepeated = proven.count < evidence.proven.count
            if let order = every.order { named = try transaction.purchase(for: order, among: proven)?.key }
        case .named(let fields):
            guard let evidence = input.evidence?.claimed(fields.transactionID, for: input.app?.settings) else {
                refusal = refusal ?? Rejection(.fieldMissing, expected: "receipt_data")
                if input.answer != nil { parties = try ClaimParties(of: fields, transaction, app) }
                return
            }
            if input.answer?.answer.refusal == nil {
                refusal = refusal ?? ClaimRules.evidence.refusal(of: evidence)
                guard refusal == nil else { return }
            }
            parties = try ClaimParties(of: fields, transaction, app, recorded)
            refusal =
                refusal ?? parties.refusal(of: fields)
                ?? ClaimRules.proof.refusal(of: evidence)
            guard refusal == nil, let purchase = evidence.proven.first else { return }
            proven = [purchase]
            if parties.order != nil { named = purchase.key }
        }
        guard let customer = parties.customer else { return }
        changes.identities.know(locked: customer)
        if input.isSentNow { earlier = EarlierClaims(changes, customer: customer) }
    }

    /// Claims a purchase, unless the claim disagrees with its own evidence.
    private func bind(_ purchase: ObservedTransaction) throws(LedgerStorageError) {
        guard let customer = parties.customer else { return }
        guard let place = try place(of: purchase.key) else {
            if let fields { refusal = Rejection(.transactionNotFound, expected: fields.transactionID) }
            return
        }
        let record = changes.histories[place.history].records[place.record]
        let token = purchase.accountToken ?? input.answer?.answer.tokens[purchase.key]
        var statement = ClaimStatement(
            fields ?? ClaimFields(), of: purchase, input.evidence?.source ?? .signedData, by: customer.key,
            app.settings)
        (statement.token, statement.tokenOwner) = (token, try changes.identities.customer(of: token))
        statement.isErased = record.isErased
        if let terms = every?.takeOver, !record.isErased {
            statement.guest = try changes.guest(ofOriginalOf: record, in: place.history, by: customer.key, terms)
        }
        var claim = PurchaseClaim(
            step: ClaimStep(statement, order: orderRole(of: purchase)), place: place,
            isFirst: record.formerRow?.ownerKey == nil)
        if fields != nil, record.isErased {
            // Nothing of the transaction is left to be recorded.
            refusal = Rejection(.purchaseErased)
            named = nil
            return
        }
        claim.isReplayed = try earlier?.contains(record, in: place.history) ?? false
        claim.binds = claim.step.binds
        if claim.binds, recorded == nil {
            bind(purchase.key, customer, every?.transfer ?? app.settings.transfer, from: statement.guest, place)
        }
        claims.append(claim)
    }

    private func bind(
        _ key: TransactionKey, _ customer: CustomerRow, _ transfer: TransferPolicy, from guest: Int64?,
        _ place: (history: Int, record: Int)
    ) {
        let history = changes.histories[place.history]
        guard !isReview else {
            let isClaimed = history.acts.contains { $0.transaction == key && $0.customerKey == customer.key }
            if !isClaimed, history.records[place.record].formerRow?.ownerKey == nil { isNews = true }
            return
        }
        let mayTransfer = OwnershipAct.mayTransfer(under: transfer, kind: history.records[place.record].row.kind)
        changes.claim(key, by: customer.key, mayTransfer: mayTransfer, from: guest, in: place.history)
    }

    /// Repeats the claims of an entry that bound.
    private func bindRecorded() throws(LedgerStorageError) {
        guard let recorded else { return }
        named = recorded.named
        guard let customer = recorded.customer else { return }
        for outcome in recorded.outcomes where outcome.binds {
            guard let key = outcome.key else { continue }
            if let erased = transaction.erasures?.transactions[key] { try changes.claim(erased: erased) }
            guard let place = try place(of: key) else { continue }
            let guest = try outcome.from.flatMap(UUID.init(uuidString:)).flatMap { id throws(LedgerStorageError) in
                try transaction.customer(reference: id)
            }
            bind(key, customer, recorded.transfer, from: guest?.key, place)
        }
    }

    /// Computes owners, and writes facts and entitlements.
    func settle() throws(LedgerStorageError) {
        let claim = named.flatMap { named in
            claimant.map { OrderSettlement.NamingClaim(named, of: CustomerNumber(rawValue: $0.key)) }
        }
        try changes.settle(claim)
    }

    // MARK: Judge

    private func orderRole(of purchase: ObservedTransaction) -> ClaimStep.OrderRole {
        guard parties.order != nil, purchase.key == named else { return .none }
        return fields == nil ? .ofRow : .ofClaim
    }

    /// Reads what the decision about a claim needs, and pays the order if the decision says so.
    private func judge(_ index: Int) throws(LedgerStorageError) {
        guard let customer = parties.customer else { return }
        let (claim, record) = (claims[index], record(of: claims[index]))
        let order = claim.step.order == .none ? nil : parties.order
        var situation = ClaimSituation()
        while true {
            switch claim.step.decide(situation, at: transaction.now) {
            case .needs(.owner):
                situation.owner = try changes.claimedOwner(record, by: customer.key, app.settings)
            case .needs(.purchase):
                let entitlement = try entitlement(of: customer, record, in: claim.place.history)
                claims[index].entitlement = entitlement.whole
                situation.entitlement = entitlement.own?.entitlement
                situation.purchase = try changes.claimedPurchase(record, in: claim.place.history, named: order)
            case .needs(.order):
                guard let order else { return }
                situation.order = try changes.payments.terms(of: order, purchase: record)
            case .decided(let verdict):
                claims[index].verdict = verdict
                if verdict.pays, let order { try pay(order, with: record, in: claim.place.history) }
                return
            }
        }
    }

    /// Notes the outcomes. That of a claim which names its transaction has the order that the purchase paid before,
    /// too.
    private func conclude() throws(LedgerStorageError) {
        for claim in claims {
            let record = record(of: claim)
            if fields != nil { _ = try changes.payment(of: record, in: claim.place.history) }
            let order = changes.payments.orderPaid(by: record)
            let guest = try claim.guest.map { key throws(LedgerStorageError) in try transaction.customers.row(key) }
            outcomes.append(
                ClaimDetails.Outcome(record, code: claim.code, binds: claim.binds, from: guest, order: order))
        }
        if difference == nil { difference = try recorded?.difference(from: self) }
    }

    private func pay(
        _ order: OrderRow, with record: TransactionRecord, in history: Int
    ) throws(LedgerStorageError) {
        guard !isReview else {
            isNews = true
            return
        }
        try changes.payments.pay(order, with: record, among: changes.copies(of: record, in: history))
    }

    /// Pays the open orders that an entry paid, in place of those of the decision: the one that it names, and those
    /// that erased purchases paid, of which no facts are left.
    ///
    /// - Parameter book: the orders before the decision.
    private func payRecorded(_ book: OrderBook) throws(LedgerStorageError) {
        guard let recorded else { return }
        changes.payments.book = book
        for outcome in recorded.outcomes {
            guard let key = outcome.key, let id = outcome.order.flatMap({ UUID(uuidString: $0) }),
                key == named ? id == recorded.leaf.order : transaction.erasures?.transactions[key] != nil,
                let order = try transaction.orders.row(id: id), order.status == .created, let place = try place(of: key)
            else { continue }
            try pay(order, with: changes.histories[place.history].records[place.record], in: place.history)
        }
    }

    /// The customer's current entitlement to the product. A restore needs none to a balance.
    private func entitlement(
        of customer: CustomerRow, _ record: TransactionRecord, in history: Int
    ) throws(LedgerStorageError) -> (whole: UncountedEntitlement?, own: UncountedEntitlement?) {
        guard record.row.kind == .consumable else {
            return try transaction.entitlement(
                of: customer.key, product: record.row.productKey, kind: record.row.kind ?? record.facts.kind,
                productID: record.productID, environment: record.row.environment, app: app)
        }
        guard fields != nil else { return (nil, nil) }
        guard let balance = changes.balance(of: customer.key, in: history) else {
            return try transaction.entitlement(
                of: customer.key, product: record.row.productKey, kind: .consumable, productID: record.productID,
                environment: record.row.environment, app: app)
        }
        // It was just written.
        let written = try EntitlementReading(app: app.settings, question: .now(transaction.now)).entitlements(
            [
                EntitlementRow(
                    balance: balance, of: customer.key, product: record.row.productKey,
                    environment: record.row.environment)
            ], productID: record.productID, environment: record.facts.key.environment
        ).first
        return (written, written)
    }

    // MARK: The daily budget

    /// The budget that pays for the entry of a write that changes nothing.
    var budget: RefusalBudgetUse { RefusalBudgetUse(transaction, app: recordingApp, keyID: input.keyID) }

    /// Whether the write changes nothing in the ledger, and is about no purchase of the customer. What the App Store
    /// was asked about is always recorded, and so is genuine evidence without a key: the App Store sent it, not an app.
    private var isIdle: Bool {
        guard input.isSentNow, input.answer == nil, !changes.hasNews else { return false }
        let customer = parties.customer?.key
        guard !claims.contains(where: { record(of: $0).row.ownerKey.map { $0 == customer } ?? false }) else {
            return false
        }
        return switch input.claims {
        case .nothing: input.keyID != nil || !isVerified
        case .named, .every: refusal != nil || !claims.isEmpty || isRepeated
        }
    }

    private var isVerified: Bool { input.evidence?.stored.isVerified ?? true }

    /// Whether the write must be undone and only counted. For evidence that does not verify, this is decided before it
    /// is stored.
    func isBeyondBudget() throws(LedgerStorageError) -> Bool {
        guard isVerified, isIdle else { return false }
        return try !budget.admits()
    }

    // MARK: Record

    /// Why the entry is refused; `nil` if it is accepted. Each purchase of a restore has its own outcome, and so has
    /// the order of a row of an import.
    var rejection: Rejection? {
        if let refusal { return refusal }
        let refusals = claims.lazy.compactMap(\.refusal)
        guard let every else { return refusals.first }
        guard every.isImported else { return nil }
        return claims.lazy.compactMap(\.verdict.orderRefusal).first ?? refusals.first(where: \.rejectsImport)
    }

    /// The current record of a claimed transaction.
    func record(of claim: PurchaseClaim) -> TransactionRecord {
        changes.histories[claim.place.history].records[claim.place.record]
    }

    /// A draft of the entry with the evidence, the customer and the order.
    func draft(code: String) -> JournalDraft {
        var draft = transaction.draft(recordingApp)
        if let kept { draft.evidence = (kept.key, kept.sha256) }
        (draft.customer, draft.order, draft.code) = (parties.customer, parties.order, code)
        return draft
    }

    /// Appends the entry of a claim, or the decision about one that waited, and asks the App Store about a purchase
    /// that it gives its first owner, if the app has the mode `both`.
    ///
    /// - Parameter refusal: why the claim is refused; `nil` if it is accepted.
    func record(
        _ draft: JournalDraft, _ details: ClaimDetails, refusal: Rejection?
    ) throws(LedgerStorageError) -> (entry: JournalEntry, isAsked: Bool) {
        guard let answered = input.answer else {
            var details = details
            let isAsked =
                input.isSentNow && app.settings.mode == .both && givesFirstOwner
                && input.evidence?.canBeAskedAbout(by: app) ?? false
            if isAsked { details.appStore = .confirms }
            let entry = try transaction.journal.append(draft, details)
            try finish(entry, of: draft.customer, refusal: refusal)
            if isAsked, let customer = parties.customer, let kept {
                try transaction.ask(entry, app, customer, kept.key, .confirms)
            }
            return (entry, isAsked)
        }
        let counts = refusal?.isWithoutEffect != true
        let entry = try transaction.journal.append(
            draft,
            DecisionDetails(
                claim: answered.claim.text, cancellations: counts ? answered.answer.cancellations : [],
                tokens: counts ? answered.answer.statedTokens : [], decided: details))
        try finish(entry, refusal: refusal)
        return (entry, false)
    }

    /// Writes the rows that refer to the entry. Evidence that has no effect is not held for a bundle id that is
    /// registered later.
    func finish(
        _ entry: JournalEntry, of customer: CustomerRow? = nil, refusal: Rejection? = nil
    ) throws(LedgerStorageError) {
        if isIdle { try budget.add(entry, evidence: kept, customer: customer ?? parties.customer) }
        try changes.finish(entry, isAnnounced: input.isAnnounced)
        try tellConflicts(entry)
        if named != nil { transaction.situation?.namesOrders = true }
        guard refusal?.isWithoutEffect != true else { return }
        try transaction.hold(input.evidence, kept?.key ?? input.storedEvidence, entry)
        if input.storedEvidence == nil { try WorkOfEvidence(self).schedule() }
    }

    /// Tells the operator, once for each pair of customers, that one claimed a purchase of the other: they share an
    /// Apple Account, and the purchase has no account token.
    private func tellConflicts(_ entry: JournalEntry) throws(LedgerStorageError) {
        guard let customer = claimant else { return }
        var told: Set<Int64> = [customer.key]
        for outcome in recorded?.outcomes ?? outcomes where outcome.code == DecisionCode.alreadyClaimed.rawValue {
            guard let key = outcome.key, let place = try place(of: key) else { continue }
            let row = changes.histories[place.history].records[place.record].row
            guard let ownerKey = row.ownerKey else { continue }
            let owner = try transaction.customers.surviving(try transaction.customers.row(ownerKey)).key
            guard told.insert(owner).inserted,
                try !EventsTable(connection: transaction.connection).hasConflict(of: customer.key, with: owner)
            else { continue }
            let order = try recorded?.leaf.order.flatMap { id throws(LedgerStorageError) in
                try transaction.orders.row(id: id)
            }
            let events = LedgerEvents(transaction, app: app, entry: entry, isAnnounced: input.isAnnounced)
            try transaction.tell(
                events.conflict(over: row, of: owner, order: (order ?? parties.order)?.key), to: customer.key)
        }
    }

    /// Whether a purchase gets its first owner: by a claim, or by its account token, whatever becomes of the claim.
    private var givesFirstOwner: Bool {
        claims.contains(where: \.isFirstGrant)
            || changes.histories.contains { $0.records.contains { $0.hasFirstOwner && $0.facts.accountToken != nil } }
    }

    private func place(of key: TransactionKey) throws(LedgerStorageError) -> (history: Int, record: Int)? {
        try changes.place(of: key, environment: try transaction.environments.keyToWrite(of: key.environment))
    }
}
