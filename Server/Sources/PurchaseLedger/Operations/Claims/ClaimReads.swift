import PurchaseVerification

import struct Foundation.UUID

/// The rows that a write with evidence will probably read, and the customers among them (`LedgerWritePlan`).
private struct EvidenceReads {
    /// The number of transactions in one piece of evidence that are read in advance. Most of a long history is known
    /// already, and its first transactions show whether it is.
    private static let transactions = 16

    let registry: Registry
    private var reads: [ExpectedRead] = []
    private var insertions: [String: Int] = [:]
    /// The reads of customers whose balances and orders the write may change.
    private var customers: [ExpectedRead] = []
    /// The read of the customer who claims the purchases of the evidence, if a refusal uses the daily budget.
    private var claimant: ExpectedRead?
    /// The transactions that were not read in advance.
    private var rest: [Piece] = []

    /// A transaction in evidence.
    private struct Piece {
        let facts: ObservedTransaction
        let app: RegistryApp
        let customer: String?
    }

    init(_ registry: Registry) { self.registry = registry }

    /// Adds evidence, its facts, and the rows that the ledger has for them.
    ///
    /// - Parameter customer: the customer who claims it.
    mutating func add(_ evidence: ExaminedEvidence, app: RegistryApp?, customer: String?) {
        addEntry()
        // An order that it pays.
        insertions[EventRow.table.numbering, default: 0] += 1
        insertions[EvidenceRow.table.numbering, default: 0] += 1
        reads.append(ExpectedRead(EvidenceTable.bySHA256, [.blob(evidence.stored.sha256)]))
        for part in evidence.stored.partHashes {
            reads.append(ExpectedRead(EvidencePartsTable.stateBySHA256, [.blob(part)]))
        }
        guard case .success(let observation) = evidence.verified,
            let observer = registry.observer(of: evidence, claimedFor: app)
        else { return }
        let claimant = app?.key == observer.key ? customer : nil
        let facts = observation.transactionFacts.filter { $0.productID != nil }
        for facts in facts.prefix(Self.transactions) { add(facts, app: observer, customer: claimant) }
        rest += facts.dropFirst(Self.transactions).map { Piece(facts: $0, app: observer, customer: claimant) }
        for renewal in observation.renewals {
            guard let environment = EnvironmentsTable.fixedKey(of: renewal.key.environment) else { continue }
            let number = LedgerValue.text(renewal.key.originalTransactionID.string)
            reads.append(ExpectedRead(RenewalsTable.byNumber, [.integer(environment), number]))
            reads.append(ExpectedRead(OriginalsTable.withID, [.integer(environment), number]))
        }
    }

    mutating func addEntry() { insertions[JournalRow.table.numbering, default: 0] += 1 }

    /// Adds the customer with a name.
    mutating func add(customer: String, app: RegistryApp) {
        insertions[CustomerRow.table.numbering, default: 0] += 1
        add(customer: ExpectedRead(CustomersTable.byName, [.integer(app.key), .text(customer)]))
    }

    /// Adds the customer with a name, who claims the purchases of the evidence.
    mutating func add(claimant: String, app: RegistryApp) {
        add(customer: claimant, app: app)
        self.claimant = customers.last
    }

    /// Adds the earlier claims of the claimed transaction by the same customer.
    mutating func addClaims(of claim: ClaimFields, in evidence: ExaminedEvidence?, app: RegistryApp) {
        guard let customer = claim.customerID, case .success(let observation) = evidence?.verified,
            let facts = observation.transactionFacts.first(where: {
                $0.key.transactionID == claim.transactionID.map { ExactText($0) }
            }), let environment = EnvironmentsTable.fixedKey(of: facts.key.environment)
        else { return }
        reads.append(
            ExpectedRead(
                JournalTable.ofClaimant,
                [
                    .integer(environment), .text(facts.key.transactionID.string), .integer(facts.key.second),
                    .integer(app.key), .text(customer),
                ]))
    }

    mutating func add(order: UUID) {
        reads.append(ExpectedRead(OrdersTable.byID, [.id(order)]))
        add(customer: ExpectedRead(CustomersTable.ofOrder, [.id(order)]))
    }

    /// Adds the first delivery of a notification.
    mutating func add(notification facts: NotificationFacts, app: RegistryApp) {
        // Without an environment, the number is 0.
        guard let environment = facts.environment.map({ EnvironmentsTable.fixedKey(of: $0) }) ?? 0 else { return }
        reads.append(
            ExpectedRead(
                NotificationsTable.byID, [.integer(app.key), .integer(environment), .text(facts.id.string)]))
    }

    private mutating func add(customer: ExpectedRead) {
        reads.append(customer)
        customers.append(customer)
    }

    /// The plan of the write.
    func plan(_ locks: LedgerLocks) -> LedgerWritePlan {
        var plan = LedgerWritePlan(locks: locks, reads: reads, insertions: insertions)
        plan.needs = { loaded throws(LedgerStorageError) in try needs(loaded) }
        return plan
    }

    /// The rest of long evidence, as far as the histories that were read do not have it, and the locks of all
    /// customers.
    private func needs(_ loaded: LedgerWritePlan.LoadedRows) throws(LedgerStorageError) -> LedgerNeeds {
        var needs = LedgerNeeds()
        var customers = customers
        // Who claims, and into whom they were merged.
        let claimants = claimant.flatMap { loaded($0)?.first?.values }.map { [$0[0], $0[4]] } ?? []
        var known: Set<[LedgerValue]> = []
        for history in reads where history.shape === TransactionsTable.ofOriginal {
            for row in loaded(history) ?? [] {
                if !rest.isEmpty { known.insert(Array(row.values[2...4])) }
                let owner = row.values[TransactionsTable.ownerColumn]
                // The claim of a purchase that belongs to another customer is probably refused.
                if claimant != nil, owner != .null, !claimants.contains(owner) { needs.parts.insert(.unverified) }
            }
        }
        for piece in rest {
            var further = EvidenceReads(registry)
            further.add(piece.facts, app: piece.app, customer: piece.customer)
            guard let transaction = further.reads.first, !known.contains(transaction.values) else { continue }
            customers += further.customers
            guard loaded(transaction) == nil else { continue }
            needs.reads += further.reads
            needs.insertions.merge(further.insertions, uniquingKeysWith: +)
        }
        for read in customers { try add(loaded(read) ?? [], to: &needs, loaded) }
        return needs
    }

    /// Adds the locks of customers, or of those into whom they were merged.
    private func add(
        _ rows: [LedgerRow], to needs: inout LedgerNeeds, _ loaded: LedgerWritePlan.LoadedRows
    ) throws(LedgerStorageError) {
        for row in rows {
            var reader = row.reader
            let customer = try CustomerRow(&reader)
            guard let target = customer.mergedInto else {
                needs.parts.insert(customer.lock)
                continue
            }
            let survivors = ExpectedRead(CustomersTable.survivors, [.integer(target)])
            guard let rows = loaded(survivors) else {
                needs.reads.append(survivors)
                continue
            }
            for row in rows {
                var reader = row.reader
                let customer = try CustomerRow(&reader)
                if customer.mergedInto == nil { needs.parts.insert(customer.lock) }
            }
        }
    }

    private mutating func add(_ facts: ObservedTransaction, app: RegistryApp, customer: String?) {
        guard let environment = EnvironmentsTable.fixedKey(of: facts.key.environment),
            let product = facts.productID?.string
        else { return }
        insertions[OriginalRow.table.numbering, default: 0] += 1
        insertions[TransactionRow.table.numbering, default: 0] += 1
        insertions[EventRow.table.numbering, default: 0] += 1
        let transaction: [LedgerValue] = [
            .integer(environment), .text(facts.key.transactionID.string), .integer(facts.key.second),
        ]
        let original: [LedgerValue] = [
            .integer(environment), .text(facts.original.transactionID.string), .integer(facts.original.second),
        ]
        let productID: [LedgerValue] = [.integer(app.key), .text(product)]
        let kind = app.settings.terms(of: facts)?.kind ?? facts.kind
        reads += [
            ExpectedRead(TransactionsTable.byKey, transaction), ExpectedRead(OriginalsTable.byNumber, original),
            ExpectedRead(ProductsTable.byID, productID), ExpectedRead(OriginalsTable.ofNumber, original),
            ExpectedRead(TransactionsTable.ofOriginal, original), ExpectedRead(OwnershipActsTable.ofOriginal, original),
            ExpectedRead(HandGrantsTable.revocationsOfOriginal, original),
            ExpectedRead(ProductsTable.idOfID, productID), ExpectedRead(OrdersTable.byPayment, transaction),
        ]
        add(customer: ExpectedRead(CustomersTable.ofOriginal, original))
        if kind == .consumable || kind == nil {
            reads.append(ExpectedRead(LotsTable.ofOriginal, original))
            reads.append(ExpectedRead(TakesTable.ofOriginal, original))
        }
        if facts.kind == .autoRenewable || kind == .autoRenewable {
            reads.append(ExpectedRead(RenewalsTable.byNumber, Array(original.prefix(2))))
        }
        if let token = facts.accountToken {
            let assignment: [LedgerValue] = [.integer(app.key), .id(token.uuid)]
            reads.append(ExpectedRead(AccountTokensTable.assignment, assignment))
            add(customer: ExpectedRead(CustomersTable.ofToken, assignment))
        }
        // Without a claim, the evidence concerns the purchase's owner.
        let who = customer.map { [.integer(app.key), .text($0)] } ?? original
        if kind == .nonRenewing {
            let shapes =
                customer == nil
                ? [
                    TransactionsTable.ofPassesOfOwner, OriginalsTable.ofPassesOfOwner, HandGrantsTable.ofPassesOfOwner,
                ]
                : [TransactionsTable.ofPassesOfName, OriginalsTable.ofPassesOfName, HandGrantsTable.ofPassesOfName]
            reads += shapes.map { ExpectedRead($0, who + productID + [.integer(environment)]) }
        }
        let (entitlements, orders) =
            customer == nil
            ? (EntitlementsTable.ofOwner, OrdersTable.openOfOwner) : (EntitlementsTable.ofName, OrdersTable.openOfName)
        reads.append(ExpectedRead(entitlements, who + productID + [.integer(environment)]))
        if let customer, facts.key.environment != .production, app.settings.sandboxAccess == .testers {
            let tester: [LedgerValue] = [.integer(app.key), .integer(app.key), .text(customer)]
            reads.append(ExpectedRead(TestersTable.ofName, tester))
        }
        if let date = facts.purchaseDate {
            reads.append(
                ExpectedRead(
                    orders,
                    who + productID + [
                        .integer(facts.quantity), .time(date), .integer(.max), .integer(OrderPayments.openOrders),
                    ]))
        }
    }
}

extension ClaimPurchase: PlannedOperation {
    func plan(_ registry: Registry) -> LedgerWritePlan {
        var reads = EvidenceReads(registry)
        let claim = examined.submission.claim
        guard let app = registry.app(examined.submission.app) else { return LedgerWritePlan(locks: locks) }
        if let name = claim.customerID { reads.add(claimant: name, app: app) }
        if let order = claim.orderID.flatMap({ UUID(uuidString: $0) }) { reads.add(order: order) }
        if let evidence = examined.evidence { reads.add(evidence, app: app, customer: claim.customerID) }
        reads.addClaims(of: claim, in: examined.evidence, app: app)
        return reads.plan(locks)
    }
}

extension RestorePurchases: PlannedOperation {
    func plan(_ registry: Registry) -> LedgerWritePlan {
        var reads = EvidenceReads(registry)
        guard let app = registry.app(examined.submission.app) else { return LedgerWritePlan(locks: locks) }
        let customer = examined.submission.customerID
        reads.add(claimant: customer, app: app)
        for evidence in examined.evidence {
            reads.add(evidence, app: app, customer: customer)
            // It can be observed under an entry of its own before it is decided.
            if examined.evidence.count > 1 { reads.addEntry() }
        }
        return reads.plan(locks)
    }
}

extension ImportPurchases: PlannedOperation {
    func plan(_ registry: Registry) -> LedgerWritePlan {
        var reads = EvidenceReads(registry)
        guard let app = registry.app(app) else { return LedgerWritePlan(locks: locks) }
        for row in rows {
            let customer = row.submission.customerID
            reads.add(customer: customer, app: app)
            if let order = row.submission.orderID.flatMap({ UUID(uuidString: $0) }) { reads.add(order: order) }
            for evidence in row.evidence { reads.add(evidence, app: app, customer: customer) }
        }
        return reads.plan(locks)
    }
}

extension ObserveEvidence: PlannedOperation {
    func plan(_ registry: Registry) -> LedgerWritePlan {
        var reads = EvidenceReads(registry)
        let app = examined.submission.app.flatMap(registry.app)
        reads.add(examined.evidence, app: app, customer: nil)
        if examined.submission.source == EvidenceSubmission.notification, let facts = examined.evidence.notification,
            let observer = registry.observer(of: examined.evidence, claimedFor: app)
        {
            reads.add(notification: facts, app: observer)
        }
        return reads.plan(locks)
    }
}
