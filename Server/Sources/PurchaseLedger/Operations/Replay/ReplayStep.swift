import PurchaseVerification

import struct Foundation.UUID

/// The replay of one entry.
struct ReplayStep {
    let transaction: LedgerTransaction
    let leaf: JournalLeaf
    let details: [UInt8]
    /// The decoded details of a claim.
    let claimDetails: ClaimDetails?
    /// Whether evidence is skipped, so that there are no facts, lots and entitlements of purchases.
    let isOfEntriesAlone: Bool
    let evidence: (examined: ExaminedEvidence, key: Int64)?
    let findings: ReplayFindings

    var connection: any LedgerConnection { transaction.connection }

    /// Writes what the entry changes.
    ///
    /// - Parameter app: the app of the settings that are in force at the entry.
    func apply(_ entry: JournalEntry, _ app: RegistryApp?) throws {
        var draft = JournalDraft(id: leaf.id, at: leaf.at, app: app)
        draft.code = leaf.code
        switch leaf.kind {
        // A key can be created before the first start, and settings can end an app.
        case .settings, .keyCreated: draft.app = try transaction.appToWrite(leaf.app)
        case .evidence, .notification, .keyRevoked, .rules, .recordContinued: break
        // The first entry of a ledger says where its app came from.
        case .appMoved where leaf.app.isEmpty: break
        default: guard app != nil else { return }
        }
        let write = EntryWrite(transaction: transaction, draft: draft, entry: entry, recorded: self)
        if let claimDetails { return try claimDetails.run(write) }
        guard leaf.kind != .orderCreated || transaction.erasures?.entries[leaf.id] == nil else {
            // An erasure keeps only the token that it assigned.
            try applyErased(entry, app)
            return try TokenAssignedDetails.run(encoded: details, write)
        }
        try leaf.kind.input.run(encoded: details, write)
    }

    // MARK: Evidence and claims

    func observe(
        _ entry: JournalEntry, _ app: RegistryApp?, claims: ClaimDetails?,
        stated: DecisionDetails? = nil
    ) throws {
        var input =
            try claims.map { try self.input($0, app, after: stated?.answered) }
            ?? EvidenceInput(app: app, evidence?.examined)
        (input.storedEvidence, input.isSentNow) = (evidence?.key, false)
        let write = EvidenceWrite(input, transaction)
        try write.decide()
        if let decided = write.difference {
            let detail = "entry \(leaf.id.text) recorded \(leaf.code), and by the entries before it: \(decided)"
            findings.add(AuditFinding(kind: .decisionDiffers, detail: detail))
        }
        if let claims { try requirePriorClaims(claims, write.changes) }
        var delivery: ImportedDelivery?
        if let takes = claims?.imported?.takes, let customer = input.recorded?.customer, !isOfEntriesAlone {
            delivery = ImportedDelivery(.delivered, to: customer, write.changes)
            let write = EntryWrite(
                transaction: transaction, draft: JournalDraft(id: leaf.id, at: leaf.at, app: app), entry: entry,
                recorded: self)
            try delivery?.repeatTakes(takes, transaction) { try isOfAnother($0, customer.key, write) }
        }
        try write.finish(entry)
        try delivery?.write(
            LedgerEvents(transaction, app: write.changes.app, entry: entry, isAnnounced: input.isAnnounced),
            transaction)
        if let named = write.named { try note(named, entry) }
    }

    // MARK: Customers

    /// The customer with a name or, without one, the leaf's customer. A new customer gets the reference in the leaf.
    func customer(_ name: String?, _ app: RegistryApp) throws -> CustomerRow? {
        if let name, let known = try transaction.customer(name, app) { return known }
        guard let reference = leaf.customer else { return nil }
        guard transaction.erasures?.customers.keys.contains(reference) ?? false else {
            guard let name else { return try transaction.customer(reference: reference) }
            return try transaction.customers.insert(CustomerRow(appKey: app.key, reference: reference, name: name))
        }
        if let known = try transaction.customer(reference: reference) { return known }
        let erased = try transaction.customers.insert(CustomerRow(appKey: app.key, reference: reference, name: nil))
        try AccountTokensTable(connection: connection).insert(
            reference, appKey: app.key, customer: erased.key, entry: 0)
        return erased
    }
}

/// The remaining data of an erased customer.
extension ReplayStep {
    /// Applies an entry without details.
    func applyErased(_ entry: JournalEntry, _ app: RegistryApp?) throws {
        let customer = try app.flatMap { try self.customer(nil, $0) }
        switch leaf.kind {
        case .orderCreated:
            guard let customer, let id = leaf.order else { return }
            _ = try transaction.orders.insert(OrderRow(erased: id, customerKey: customer.key, at: leaf.at))
        case .evidence, .claim, .decision:
            guard !isWithoutEffect else { return }
            try observe(entry, app, claims: nil)
        default: return
        }
    }

    /// What a notification whose details were erased stated. It is still stored if its purchase belonged to another
    /// customer when its owner at the time of the notification was erased, and then it closed that customer's refund
    /// requests.
    func keptDecision(_ details: NotificationDetails) -> NotificationDetails? {
        guard details.transactionID == nil, transaction.erasures?.entries[leaf.id] != nil else { return nil }
        return evidence?.examined.notification.map { NotificationDetails($0) }
    }

    /// Pays the orders of customers who are erased later with the purchases of others that paid them at this time. They
    /// were delivered, and keep the purchase until the erasure.
    func payErasedOrders() throws {
        for payment in transaction.erasures?.paidByOthers[leaf.at] ?? [] {
            guard let order = try payment.order(transaction), let row = try transaction.row(of: payment.key),
                try transaction.orders.row(paidBy: row.key) == nil
            else { continue }
            try transaction.orders.pay(order.id, with: row.key, at: leaf.at, OrderStatus.closed.rawValue)
        }
    }
}

extension ClaimDetails: LedgerInput {
    /// The part that affects what belongs to others; `nil` if it binds nothing.
    func redacted(_ scope: ErasureScope) throws -> ClaimDetails? {
        var kept = withoutOutcomes
        kept.outcomes = outcomes.filter(\.binds).map { outcome in
            var outcome = outcome
            outcome.order = nil
            return outcome
        }
        return kept.outcomes.isEmpty ? nil : kept
    }

    fileprivate var withoutOutcomes: ClaimDetails {
        ClaimDetails(
            isRestore: isRestore, replayed: replayed, transfer: transfer, outcomes: [],
            imported: imported.map { ImportNote(announced: $0.announced) })
    }

    func run(_ write: EntryWrite) throws { try write.recorded?.claim(self, write.entry, write.app) }
}

extension DecisionDetails: LedgerInput {
    func redacted(_ scope: ErasureScope) throws -> DecisionDetails? {
        let kept = try decided.redacted(scope)
        // Purchases of others keep the tokens that the App Store stated for the decision.
        let own = Set(scope.rows.map { ExactText($0.transactionID) })
        let tokens = tokens.filter { !own.contains(ExactText($0.transactionID)) }
        guard kept != nil || !cancellations.isEmpty || !tokens.isEmpty else { return nil }
        return DecisionDetails(
            claim: claim, cancellations: cancellations, tokens: tokens, decided: kept ?? decided.withoutOutcomes)
    }

    func run(_ write: EntryWrite) throws { try write.recorded?.decide(self, write.entry, write.app) }
}

extension EvidenceDetails: LedgerInput {
    func run(_ write: EntryWrite) throws { try write.recorded?.observe(write.entry, write.draft.app, claims: nil) }
}
