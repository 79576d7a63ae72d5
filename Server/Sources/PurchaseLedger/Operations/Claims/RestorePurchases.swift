import PurchaseVerification

extension PurchaseLedger {
    /// Verifies the evidence of a restore.
    public func examine(_ submission: RestoreSubmission) -> ExaminedRestore {
        ExaminedRestore(
            submission: submission,
            evidence: submission.evidence.prefix(RestoreSubmission.maximum).map { examine($0) },
            appTransaction: submission.appTransaction.map { examine($0) })
    }
}

/// Claims every purchase of the evidence for a customer, with one journal entry for each piece of evidence, and one for
/// all pieces that fail verification if there are several.
public struct RestorePurchases: LedgerOperation {
    let examined: ExaminedRestore
    /// The App Store's answer about the only piece of evidence, if the restore waited for it.
    var answered: AnsweredClaim?
    /// Genuine pieces beyond the daily budget that an earlier run found, by their places: they are counted, and nothing
    /// is written.
    private var counted: [Int: IdlePiece] = [:]

    /// A restore whose evidence was verified.
    public init(_ examined: ExaminedRestore) { self.examined = examined }

    init(_ examined: ExaminedRestore, answered: AnsweredClaim) {
        self.examined = examined
        self.answered = answered
    }

    public func perform(_ transaction: LedgerTransaction) throws -> RestoreOutcome {
        guard ExactText(examined.submission.customerID).isIdentifier else {
            throw LedgerRefusal(.fieldMalformed, expected: "customer_id")
        }
        let app = try transaction.app(examined.submission.app)
        try transaction.lockCustomers(of: examined.evidence, claimedFor: app)
        var outcome = RestoreOutcome(purchases: [], refused: [], entitlements: [])
        let refusals = answered == nil ? RestoreRefusals(of: examined) : nil
        let isCounted = try refusals?.count(app, transaction, &outcome) ?? false
        count(transaction, &outcome)
        var done = Set(counted.keys).union(isCounted ? refusals?.places ?? [] : [])
        guard done.count < examined.evidence.count || examined.evidence.isEmpty else {
            // Nothing is written, not even the customer.
            guard let known = try transaction.customer(examined.submission.customerID, app) else {
                return outcome.completed(with: [], examined, app, at: transaction.now)
            }
            outcome.mergedInto = known.survivor(of: examined.submission.customerID)
            return outcome.completed(
                with: try EntitlementsOfCustomer.current(transaction, app, customer: known), examined, app,
                at: transaction.now)
        }
        try transaction.load(examined.evidence, claimedFor: app)
        let customer = try transaction.customerToWrite(
            examined.submission.customerID, app, isGuest: examined.submission.isGuest)
        outcome.mergedInto = customer.survivor(of: examined.submission.customerID)
        var seen: [TransactionKey: String] = [:]
        let places = RestoreOrder.places(of: examined.evidence)
        try observeTogether(places, app, customer, transaction)
        if let refusals, !refusals.isSingle, !isCounted {
            try refusals.write(app, customer, transaction, &outcome)
            done.formUnion(refusals.places)
        }
        var idle: [Int: IdlePiece] = [:]
        let decided = places.filter { !done.contains($0) }
        for index in decided {
            // Unknown members are recorded once for the request.
            let unknown = index == decided.first ? examined.submission.unknownMembers : []
            idle[index] = try restore(index, unknown, app, customer, transaction, &outcome, &seen)
        }
        guard idle.isEmpty else {
            var revised = self
            revised.counted.merge(idle) { _, later in later }
            throw RevisedOperation(operation: revised)
        }
        try transaction.entitlements.explainRest()
        return outcome.completed(
            with: try EntitlementsOfCustomer.current(transaction, app, customer: customer), examined, app,
            at: transaction.now)
    }

    /// Counts the genuine pieces that are beyond the daily budget.
    private func count(_ transaction: LedgerTransaction, _ outcome: inout RestoreOutcome) {
        let pieces = counted.values.sorted { $0.index < $1.index }
        guard let last = pieces.last else { return }
        for piece in pieces { piece.answer(&outcome) }
        transaction.count(
            pieces.reduce(into: [:]) { $0[$1.code, default: 0] += 1 }, lastSHA256: last.sha256,
            app: examined.submission.app, keyID: examined.submission.keyID)
    }

    /// Observes every piece that tells something new about a product or an original of a piece before it, each with an
    /// entry of its own, renewal info included. So all pieces are observed before the first is decided.
    ///
    /// Evidence that waits for the App Store is not observed.
    private func observeTogether(
        _ places: [Int], _ app: RegistryApp, _ customer: CustomerRow, _ transaction: LedgerTransaction
    ) throws(LedgerStorageError) {
        guard answered == nil, app.settings.mode != .apple else { return }
        var (names, hashes): (Set<ExactText>, Set<[UInt8]>) = ([], [])
        for index in places where counted[index] == nil {
            let evidence = examined.evidence[index]
            guard case .success(let observation) = evidence.verified,
                transaction.registry.observer(of: evidence, claimedFor: app) != nil,
                hashes.insert(evidence.stored.sha256).inserted
            else { continue }
            let facts = observation.transactionFacts.filter { $0.productID != nil }
            var own = Set(facts.flatMap { [$0.original.transactionID, $0.productID].compactMap(\.self) })
            own.formUnion(observation.renewals.map(\.key.originalTransactionID))
            let isAlone = names.isDisjoint(with: own)
            names.formUnion(own)
            guard !isAlone else { continue }
            var input = EvidenceInput(app: app, evidence)
            input.keyID = examined.submission.keyID
            let write = EvidenceWrite(input, transaction)
            try write.observe()
            let news = write.changes.histories.lazy.flatMap(\.records).first(where: \.isChanged)?.facts.key
            guard news != nil || write.changes.hasNewRenewal else { continue }
            try write.settle()
            var draft = transaction.draft(app)
            draft.evidence = write.kept.map { ($0.key, $0.sha256) }
            (draft.customer, draft.code) = (customer, DecisionCode.accepted.rawValue)
            draft.transactionKey =
                write.changes.histories.lazy.flatMap(\.records).first { $0.facts.key == news }?.row.key
            let details = EvidenceDetails(source: "restore", evidenceKind: evidence.kind?.rawValue)
            try write.finish(try transaction.journal.append(draft, details))
        }
    }

    /// Claims the purchases of one piece of evidence.
    ///
    /// - Parameter seen: the transactions that were answered, with their codes; each is answered once.
    /// - Returns: the piece, if it must only be counted. Then the whole write is undone.
    private func restore(
        _ index: Int, _ unknown: [String], _ app: RegistryApp, _ customer: CustomerRow,
        _ transaction: LedgerTransaction, _ outcome: inout RestoreOutcome, _ seen: inout [TransactionKey: String]
    ) throws -> IdlePiece? {
        let (evidence, submission) = (examined.evidence[index], examined.submission)
        if answered == nil, let waiting = try WaitingRestore(of: evidence, examined, customer, transaction, app) {
            try waiting.write(&outcome, &seen)
            return nil
        }
        let every = EvidenceInput.EveryPurchase(
            customer: customer, besides: Set(seen.keys), transfer: submission.transfer(under: app.settings),
            takeOver: examined.takeOver(under: app.settings, at: transaction.now))
        var input = EvidenceInput(app: app, evidence, claims: .every(every))
        (input.keyID, input.answer) = (submission.keyID, answered)
        let write = EvidenceWrite(input, transaction)
        try write.decide()
        let repeated = evidence.claimed(for: nil).proven.compactMap { seen[$0.key] }.first
        for claim in write.claims { seen[claim.proven.key] = claim.code }
        if try write.isBeyondBudget() {
            return IdlePiece(
                index: index, sha256: evidence.stored.sha256, rejection: write.refusal,
                purchases: write.claims.map { RestoredPurchase($0, write.record(of: $0), nil) },
                code: write.refusal?.code ?? write.claims.first?.code ?? repeated ?? "")
        }
        var details = ClaimDetails(
            isRestore: true, keyID: submission.keyID, sourceAddress: submission.sourceAddress,
            customer: submission.customerID, evidenceKind: evidence.kind?.rawValue, expected: write.refusal?.expected,
            found: write.refusal?.found, replayed: false, guest: transaction.newGuest == nil ? nil : true,
            takeOver: every.takeOver, transfer: every.transfer.rawValue, outcomes: write.outcomes)
        details.unverified = write.kept?.unverified(evidence.stored)
        details.unknownMembers = unknown.isEmpty ? nil : unknown
        var draft = write.draft(code: write.refusal?.code ?? DecisionCode.accepted.rawValue)
        if write.claims.count == 1 { draft.transactionKey = write.claims.first.map { write.record(of: $0).row.key } }
        let (entry, isAsked) = try write.record(draft, details.bounded(), refusal: write.refusal)
        outcome.entries.append(entry.id)
        if isAsked { outcome.asksAppStore.append(entry.id) }
        outcome.purchases += write.claims.map { RestoredPurchase($0, write.record(of: $0), entry) }
        for record in write.claims.map({ write.record(of: $0) }) where record.row.ownerKey == customer.key {
            // Evidence of the sandbox costs nothing, and shows nothing of an account for which it does not count.
            let counts = try transaction.counts(record.facts.key.environment, for: customer.key, app)
            outcome.ownsPurchase = outcome.ownsPurchase || counts
        }
        if let refusal = write.refusal {
            outcome.refused.append(
                RefusedEvidence(
                    submissionID: entry.id, leafHash: entry.leafHash, index: index, rejection: refusal,
                    disposition: refusal.disposition(hasPurchase: false)))
        }
        return nil
    }
}
