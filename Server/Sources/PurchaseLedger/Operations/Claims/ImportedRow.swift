import PurchaseVerification

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
        if let flaw { return reject(flaw) }
        var order: OrderRow?
        if submission.orderID != nil {
            var fields = ClaimFields()
            (fields.orderID, fields.customerID) = (submission.orderID, submission.customerID)
            let parties = try ClaimParties(of: fields, transaction, app)
            if let refusal = parties.refusal(of: fields) { return reject(refusal) }
            order = parties.order
        }
        outcome.isKnown = true
        for evidence in row.evidence {
            guard let proven = proven(evidence) else { continue }
            if let known = try presentOutcome(evidence, proven, order) {
                count(known)
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

    /// The error in the row itself.
    private var flaw: Rejection? {
        guard ExactText(submission.customerID).isIdentifier else {
            return Rejection(
                .fieldMalformed,
                expected: "customer_id of 1 to \(ExactText.identifierBytes) bytes without control characters")
        }
        return row.evidence.isEmpty ? Rejection(.fieldMissing, expected: "receipt_data or signed_transaction") : nil
    }

    /// The purchases that evidence proves; `nil` if it is refused, which rejects the row.
    private mutating func proven(_ evidence: ExaminedEvidence) -> [ObservedTransaction]? {
        guard let refusal = evidence.refusalOfRow(app.settings) else {
            return evidence.claimed(for: app.settings).proven
        }
        reject(refusal)
        return nil
    }

    /// Rejects the row; only the first reason is kept.
    private mutating func reject(_ rejection: Rejection) {
        if outcome.rejection == nil { outcome.rejection = rejection }
    }

    // MARK: Rows of an earlier import

    /// The outcome that evidence has now, if an earlier import recorded it for the same customer and order, and
    /// recording it again would change nothing.
    private func presentOutcome(
        _ evidence: ExaminedEvidence, _ proven: [ObservedTransaction], _ order: OrderRow?
    ) throws(LedgerStorageError) -> EvidenceWrite? {
        guard let customer = try transaction.customer(submission.customerID, app),
            try isKnown(evidence, proven, order, customer)
        else { return nil }
        let write = EvidenceWrite(input(evidence, customer, order), transaction)
        try write.review()
        // Settings can have changed so that the claim binds, or that the purchase pays the order.
        return write.isNews ? nil : write
    }

    /// The input of one piece of evidence. An import never transfers a purchase: it is older than what the ledger
    /// knows.
    private func input(_ evidence: ExaminedEvidence, _ customer: CustomerRow, _ order: OrderRow?) -> EvidenceInput {
        var input = EvidenceInput(
            app: app, evidence,
            claims: .every(.init(customer: customer, order: order, transfer: .deny, isImported: true)))
        (input.isSentNow, input.isAnnounced) = (false, isAnnounced)
        return input
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

    /// Counts the purchases, unless other evidence of the row proved them before.
    private mutating func count(_ write: EvidenceWrite) {
        for claim in write.claims where counted.insert(write.record(of: claim).facts.key).inserted {
            outcome.purchases.append(claim.code)
        }
        guard let rejection = write.rejection else { return }
        if outcome.rejection == nil {
            let claim = write.claims.first { $0.refusal?.rejectsImport ?? false }
            outcome.product = claim?.proven.productID?.string
        }
        reject(rejection)
    }

    // MARK: New rows

    private mutating func write(
        _ evidence: ExaminedEvidence, _ proven: [ObservedTransaction], _ order: OrderRow?
    ) throws(LedgerStorageError) {
        let customer = try transaction.customerToWrite(submission.customerID, app)
        let write = EvidenceWrite(input(evidence, customer, order), transaction)
        try write.decide()
        let delivered = try ImportedDelivery(consumables, to: customer, write.changes).take(proven, transaction)
        var details = ClaimDetails(
            isRestore: true, customer: submission.customerID, order: submission.orderID,
            transactionID: write.named?.transactionID.string, evidenceKind: evidence.kind?.rawValue,
            replayed: false, transfer: TransferPolicy.deny.rawValue, outcomes: write.outcomes,
            imported: ImportNote(
                announced: isAnnounced, at: submission.importedAt?.millisecondsSince1970, consumables: delivered.choice,
                takes: delivered.takes))
        let rejection = write.rejection
        (details.expected, details.found) = (rejection?.expected, rejection?.found)
        var draft = write.draft(code: rejection?.code ?? DecisionCode.accepted.rawValue)
        let named = write.claims.first { $0.proven.key == write.named } ?? write.claims.first
        draft.transactionKey = named.map { write.record(of: $0).row.key }
        let (entry, _) = try write.record(draft, details.bounded(), refusal: rejection)
        try delivered.write(
            LedgerEvents(transaction, app: app, entry: entry, isAnnounced: isAnnounced), transaction)
        count(write)
    }
}

extension ExaminedEvidence {
    /// Why it rejects its row.
    func refusalOfRow(_ app: RegisteredApp) -> Rejection? {
        let claimed = claimed(for: app)
        return ClaimRules.evidence.refusal(of: claimed) ?? ClaimRules.proof.refusal(of: claimed)
    }
}

extension Rejection {
    /// Whether a purchase with this outcome rejects its row: it is not the customer's, or gives nothing because of the
    /// settings. Expired and withdrawn purchases are accepted history.
    var rejectsImport: Bool {
        guard case .decision(let code) = reason else { return true }
        return switch code {
        case .accepted, .subscriptionExpired, .periodUnknown, .purchaseCancelled, .purchaseRevoked, .purchaseUpgraded,
            .purchaseWithdrawn:
            false
        default: true
        }
    }
}
