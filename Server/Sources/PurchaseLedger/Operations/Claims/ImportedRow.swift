import PurchaseVerification

import struct Foundation.UUID

/// One row of an import while it is written to the ledger.
struct ImportedRow {
    private(set) var outcome = ImportOutcome()
    private let row: ExaminedImport
    private let app: RegistryApp
    private let isAnnounced: Bool
    private let transaction: LedgerTransaction
    private var counted: Set<TransactionKey> = []

    init(_ row: ExaminedImport, app: RegistryApp, isAnnounced: Bool, _ transaction: LedgerTransaction) {
        (self.row, self.app, self.isAnnounced, self.transaction) = (row, app, isAnnounced, transaction)
    }

    private var submission: ImportSubmission { row.submission }

    /// Writes one journal entry for each piece of evidence that proves a purchase and was not imported before.
    mutating func write() throws(LedgerStorageError) {
        let order: OrderRow?
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
            if let known = try known(evidence, proven, order) {
                count(known)
            } else {
                outcome.isKnown = false
                try write(evidence, proven, order)
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
        switch evidence.verified {
        case .failure(let error): reject(Rejection(error))
        case .success(let observation):
            let proven = observation.transactionFacts.filter { $0.productID != nil }
            if let objection = evidence.objection {
                reject(Rejection(objection))
            } else if proven.isEmpty {
                reject(
                    evidence.isEmptyReceipt
                        ? Rejection(.noPurchases)
                        : Rejection(
                            .evidenceNotAPurchase, expected: "evidence of a transaction", found: evidence.kind?.rawValue
                        ))
            } else {
                return proven
            }
        }
        return nil
    }

    /// Rejects the row; only the first reason is kept.
    private mutating func reject(_ rejection: Rejection) {
        if outcome.rejection == nil { outcome.rejection = rejection }
    }

    // MARK: Rows of an earlier import

    private struct KnownImport {
        let code: String
        let details: ClaimDetails
    }

    /// The entry of an earlier import of the same evidence, customer and order.
    private func known(
        _ evidence: ExaminedEvidence, _ proven: [ObservedTransaction], _ order: OrderRow?
    ) throws(LedgerStorageError) -> KnownImport? {
        guard let kept = try EvidenceTable(connection: transaction.connection).row(sha256: evidence.stored.sha256),
            let customer = try transaction.customer(submission.customerID, app)
        else { return nil }
        let journal = JournalTable(connection: transaction.connection)
        let entries: [JournalRow]
        if let order {
            entries = try journal.claims(withEvidence: kept.key, order: order.key)
        } else if let first = try storedKey(ofFirst: proven) {
            entries = try journal.claims(withEvidence: kept.key, transaction: first)
        } else {
            return nil
        }
        for entry in entries where entry.orderKey == order?.key {
            guard let claimant = entry.customerKey, let content = entry.details else { continue }
            let row = try transaction.customers.surviving(try transaction.customers.row(claimant))
            guard row.key == customer.key else { continue }
            let details = try ClaimDetails(encoded: content)
            if details.imported != nil { return KnownImport(code: entry.code, details: details) }
        }
        return nil
    }

    /// The key of the first transaction that is stored: `write` puts the same one into the entry.
    private func storedKey(ofFirst proven: [ObservedTransaction]) throws(LedgerStorageError) -> Int64? {
        for facts in proven {
            guard let environment = try transaction.environments.key(of: facts.key.environment) else { continue }
            if let row = try transaction.transactions.row(facts.key, environment: environment) { return row.key }
        }
        return nil
    }

    private mutating func count(_ known: KnownImport) {
        for outcome in known.details.outcomes { count(outcome) }
        guard let code = DecisionCode(rawValue: known.code), code != .accepted else { return }
        reject(Rejection(code, expected: known.details.expected, found: known.details.found))
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
        let purchases = try claims.outcomes(transaction)
        var details = ClaimDetails(
            isRestore: true, customer: submission.customerID, order: submission.orderID,
            transactionID: payment?.named.key.transactionID.string, evidenceKind: evidence.kind?.rawValue,
            replayed: false, transfer: TransferPolicy.deny.rawValue, outcomes: purchases.map(\.recorded),
            imported: ImportNote(announced: isAnnounced, at: submission.importedAt?.millisecondsSince1970))
        let rejection =
            payment?.rejection ?? purchases.lazy.compactMap(\.answer.rejection).first(where: \.rejectsImport)
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
        for purchase in purchases { count(purchase.recorded) }
        if let rejection { reject(rejection) }
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
