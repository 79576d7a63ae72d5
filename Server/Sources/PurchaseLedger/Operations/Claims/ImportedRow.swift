import PurchaseVerification

import struct Foundation.UUID

/// One row of an import while it is written to the ledger.
struct ImportedRow {
    private(set) var outcome = ImportOutcome()
    private let row: ExaminedImport
    private let app: RegistryApp
    private let isAnnounced: Bool
    private let consumables: ImportedConsumables
    private let transaction: LedgerTransaction
    private var counted: Set<TransactionKey> = []

    init(
        _ row: ExaminedImport, app: RegistryApp, isAnnounced: Bool, consumables: ImportedConsumables,
        _ transaction: LedgerTransaction
    ) {
        (self.row, self.app, self.isAnnounced, self.consumables) = (row, app, isAnnounced, consumables)
        self.transaction = transaction
    }

    private var submission: ImportSubmission { row.submission }

    /// Writes one journal entry for each piece of evidence that proves a purchase and was not imported before.
    mutating func write() throws(LedgerStorageError) {
        var order: OrderRow?
        do {
            try requireFields()
            order = try self.order()
        } catch let error as LedgerStorageError {
            throw error
        } catch {
            outcome.rejection = error as? Rejection
            return
        }
        outcome.isKnown = true
        for evidence in row.evidence {
            guard let proven = proven(evidence) else { continue }
            if let outcome = try presentOutcome(evidence, proven, order) {
                count(outcome.purchases, outcome.rejection)
            } else {
                outcome.isKnown = false
                try write(evidence, proven, order)
                // It can be paid now, and other evidence of the row can prove the same purchase.
                if let key = order?.key { order = try transaction.orders.row(key: key) }
            }
        }
        if outcome.purchases.isEmpty { outcome.isKnown = false }
    }

    // MARK: The row

    private func requireFields() throws(Rejection) {
        guard ExactText(submission.customerID).isIdentifier else {
            throw Rejection(
                .fieldMalformed,
                expected: "customer_id of 1 to \(ExactText.identifierBytes) bytes without control characters")
        }
        guard !row.evidence.isEmpty else {
            throw Rejection(.fieldMissing, expected: "receipt_data or signed_transaction")
        }
    }

    /// The order that the row names, if it belongs to the customer.
    private func order() throws -> OrderRow? {
        guard let text = submission.orderID else { return nil }
        guard let id = UUID(uuidString: text), let found = try transaction.orders.row(id: id), found.appKey == app.key
        else { throw Rejection(.orderUnknown, expected: text) }
        let owner = try transaction.customers.surviving(try transaction.customers.row(found.customerKey))
        guard try transaction.customer(submission.customerID, app)?.key == owner.key else {
            throw Rejection(.orderOfAnotherCustomer)
        }
        return found
    }

    /// The purchases that evidence proves; `nil` if it is refused, which rejects the row.
    private mutating func proven(_ evidence: ExaminedEvidence) -> [ObservedTransaction]? {
        let claimed = evidence.claimed()
        let refusal = ClaimRules.evidence.refusal(of: claimed) ?? ClaimRules.proof.refusal(of: claimed)
        guard let refusal else { return claimed.proven }
        reject(refusal)
        return nil
    }

    /// Rejects the row; only the first reason is kept.
    private mutating func reject(_ rejection: Rejection) {
        if outcome.rejection == nil { outcome.rejection = rejection }
    }

    // MARK: Rows of an earlier import

    private struct PresentOutcome {
        let purchases: [RestoredClaims.Outcome]
        let rejection: Rejection?
    }

    /// The outcome that evidence has now, if an earlier import recorded it for the same customer and order, and recording it again
    /// would change nothing.
    private func presentOutcome(
        _ evidence: ExaminedEvidence, _ proven: [ObservedTransaction], _ order: OrderRow?
    ) throws(LedgerStorageError) -> PresentOutcome? {
        guard let customer = try transaction.customer(submission.customerID, app),
            try isKnown(evidence, proven, order, customer)
        else { return nil }
        let changes = LedgerChanges(transaction, app: app)
        var claims = RestoredClaims(changes: changes, app: app, customer: customer, source: evidence.source)
        try claims.claim(proven, isReview: true, transaction)
        // Settings can have changed so that the claim binds, or that the purchase pays the order.
        guard try !claims.bindsMore(transaction) else { return nil }
        var payment: ImportedPayment?
        if let order { payment = try ImportedPayment(of: order, by: proven, transaction) }
        guard try payment?.pays(changes, customer, app, transaction) != true else { return nil }
        let purchases = try claims.outcomes(transaction)
        return PresentOutcome(purchases: purchases, rejection: rejection(of: purchases, payment))
    }

    /// Whether an earlier import recorded the same evidence, customer and order.
    private func isKnown(
        _ evidence: ExaminedEvidence, _ proven: [ObservedTransaction], _ order: OrderRow?, _ customer: CustomerRow
    ) throws(LedgerStorageError) -> Bool {
        guard let kept = try EvidenceTable(connection: transaction.connection).row(sha256: evidence.stored.sha256)
        else { return false }
        let journal = JournalTable(connection: transaction.connection)
        let entries: [JournalRow]
        if let order {
            entries = try journal.claims(withEvidence: kept.key, order: order.key)
        } else if let first = try storedKey(ofFirst: proven) {
            entries = try journal.claims(withEvidence: kept.key, transaction: first)
        } else {
            return false
        }
        for entry in entries where entry.orderKey == order?.key {
            guard let claimant = entry.customerKey, let content = entry.details else { continue }
            let row = try transaction.customers.surviving(try transaction.customers.row(claimant))
            guard row.key == customer.key else { continue }
            if try ClaimDetails(encoded: content).imported != nil { return true }
        }
        return false
    }

    /// The key of the first transaction that is stored: `write` puts the same one into the entry.
    private func storedKey(ofFirst proven: [ObservedTransaction]) throws(LedgerStorageError) -> Int64? {
        for facts in proven {
            guard let environment = try transaction.environments.key(of: facts.key.environment) else { continue }
            if let row = try transaction.transactions.row(facts.key, environment: environment) { return row.key }
        }
        return nil
    }

    /// Why evidence rejects its row.
    private func rejection(of purchases: [RestoredClaims.Outcome], _ payment: ImportedPayment?) -> Rejection? {
        payment?.rejection ?? purchases.lazy.compactMap(\.answer.rejection).first(where: \.rejectsImport)
    }

    private mutating func count(_ purchases: [RestoredClaims.Outcome], _ rejection: Rejection?) {
        for purchase in purchases { count(purchase.recorded) }
        if let rejection { reject(rejection) }
    }

    /// Counts a purchase, unless other evidence of the row proved it before.
    private mutating func count(_ purchase: ClaimDetails.Outcome) {
        guard purchase.key.map({ counted.insert($0).inserted }) ?? true else { return }
        outcome.purchases.append(purchase.code)
    }

    // MARK: New rows

    private mutating func write(
        _ evidence: ExaminedEvidence, _ proven: [ObservedTransaction], _ order: OrderRow?
    ) throws(LedgerStorageError) {
        let customer = try transaction.customerToWrite(submission.customerID, app)
        let kept = try transaction.keep(evidence.stored, app: app, keyID: nil)
        let changes = LedgerChanges(transaction, app: app)
        if case .success(let observation) = evidence.verified { try changes.observe(observation, evidence: kept.key) }
        changes.identities.know(locked: customer)
        var claims = RestoredClaims(changes: changes, app: app, customer: customer, source: evidence.source)
        try claims.claim(proven, transaction)
        var payment: ImportedPayment?
        if let order { payment = try ImportedPayment(of: order, by: proven, transaction) }
        try changes.settle(except: payment?.named.key)
        try payment?.pay(changes, customer, app, transaction)
        let delivered = try ImportedDelivery(consumables, to: customer, changes).take(proven, transaction)
        let purchases = try claims.outcomes(transaction)
        var details = ClaimDetails(
            isRestore: true, customer: submission.customerID, order: submission.orderID,
            transactionID: payment?.named.key.transactionID.string, evidenceKind: evidence.kind?.rawValue,
            replayed: false, transfer: TransferPolicy.deny.rawValue, outcomes: purchases.map(\.recorded),
            imported: ImportNote(
                announced: isAnnounced, at: submission.importedAt?.millisecondsSince1970, consumables: delivered.choice,
                takes: delivered.takes))
        let rejection = rejection(of: purchases, payment)
        (details.expected, details.found) = (rejection?.expected, rejection?.found)
        var draft = transaction.draft(app)
        draft.customer = customer
        draft.evidence = (kept.key, kept.sha256)
        draft.order = order
        draft.code = rejection?.code ?? DecisionCode.accepted.rawValue
        let named = purchases.first { $0.recorded.key == payment?.named.key } ?? purchases.first
        draft.transactionKey = named?.transactionKey
        let entry = try transaction.journal.append(draft, details.bounded())
        try changes.finish(entry, isAnnounced: isAnnounced)
        try delivered.write(EventWriter(transaction: transaction, app: app, entry: entry, isAnnounced: isAnnounced))
        count(purchases, rejection)
    }
}

extension Rejection {
    /// Whether a purchase with this outcome rejects its row: it is not the customer's, or gives nothing because of the settings.
    /// Expired and withdrawn purchases are accepted history.
    fileprivate var rejectsImport: Bool {
        guard case .decision(let code) = reason else { return true }
        return switch code {
        case .accepted, .subscriptionExpired, .periodUnknown, .purchaseCancelled, .purchaseRevoked, .purchaseUpgraded,
            .purchaseWithdrawn:
            false
        default: true
        }
    }
}
