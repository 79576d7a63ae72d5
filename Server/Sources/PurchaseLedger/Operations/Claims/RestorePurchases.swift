public import PurchaseVerification

public import struct Foundation.UUID

/// Evidence from which a customer restores all of their purchases.
public struct RestoreSubmission: Sendable {
    /// The most pieces of evidence in one request.
    public static let maximum = 100

    public var app: String
    public var keyID: String?
    public var sourceAddress: String?
    public var customerID: String
    /// A receipt, or signed transactions.
    public var evidence: [[UInt8]]
    /// The names of members of the request that the server does not know.
    public var unknownMembers: [String] = []

    /// The evidence of a customer.
    public init(app: String, customerID: String, evidence: [[UInt8]]) {
        self.app = app
        self.customerID = customerID
        self.evidence = evidence
    }
}

/// Evidence for a restore, with the result of its verification.
public struct ExaminedRestore: Sendable {
    let submission: RestoreSubmission
    let evidence: [ExaminedEvidence]

    /// The reason of each piece that failed verification.
    public var rejections: [Rejection] { evidence.compactMap(\.rejection) }
}

extension PurchaseLedger {
    /// Verifies the evidence of a restore.
    public func examine(_ submission: RestoreSubmission) -> ExaminedRestore {
        ExaminedRestore(
            submission: submission,
            evidence: submission.evidence.prefix(RestoreSubmission.maximum).map { examine($0, app: submission.app) })
    }
}

/// The answer to a restore.
public struct RestoreOutcome: Sendable, Equatable {
    /// The purchases, in the order of the evidence, each once.
    public var purchases: [RestoredPurchase]
    /// Evidence that was refused, by its place in the request.
    public var refused: [RefusedEvidence]
    /// The customer's current entitlements to the restored products.
    public var entitlements: [Entitlement]
    /// The claims of this restore that wait for the App Store, with the evidence of each.
    public var waiting: [WaitingEvidence] = []
    /// The claims of this restore to check with the App Store.
    public var asksAppStore: [UUID] = []
    /// The customer into whom the named one was merged; `nil` if it was not.
    public var mergedInto: String?
    /// The number of pieces beyond the daily budget, which are only counted and have no entry.
    public var counted = 0
    /// The entries that were written.
    var entries: [UUID] = []
}

extension RestoreOutcome {
    /// The outcome with its refusals in the order of the request, and the entitlements to the restored products.
    ///
    /// - Parameters:
    ///   - entitlements: all entitlements of the customer.
    ///   - evidence: the pieces, in the order of the request.
    fileprivate func completed(with entitlements: [Entitlement], _ evidence: [ExaminedEvidence]) -> RestoreOutcome {
        var outcome = self
        outcome.refused.sort { $0.index < $1.index }
        RestoreOrder.sort(&outcome.purchases, by: evidence)
        outcome.entitlements = entitlements.filter { entitlement in
            purchases.contains { ExactText($0.productID) == ExactText(entitlement.productID) }
        }
        return outcome
    }
}

/// Evidence of a restore that waits for the App Store.
public struct WaitingEvidence: Sendable, Equatable {
    public var claim: UUID
    public var sha256: [UInt8]
    /// When the App Store is asked again.
    public var nextAttemptAt: Timestamp?
}

/// One purchase of a restore.
public struct RestoredPurchase: Sendable, Equatable {
    /// The journal entry; `nil` if the piece of evidence was only counted.
    public var submissionID: UUID?
    /// The hash of the entry's leaf in the Merkle log.
    public var leafHash: [UInt8]
    public var environment: AppStoreEnvironment
    public var transactionID: String
    public var originalTransactionID: String
    public var productID: String
    /// Why it currently gives the customer nothing; for an expired or withdrawn purchase that is not an error. `nil` if it gives
    /// access.
    public var rejection: Rejection?
    public var disposition: Disposition
    public var isReplayed: Bool
    public var claimedBy: PriorClaim?
    public var expiresAt: Timestamp?

    /// `accepted`, or the code of the rejection.
    public var code: String { rejection?.code ?? DecisionCode.accepted.rawValue }
    /// The explanation of the code, as a sentence.
    public var sentence: String { rejection?.sentence ?? DecisionCode.accepted.sentence }
}

/// Evidence of a restore that proves nothing.
public struct RefusedEvidence: Sendable, Equatable {
    /// The journal entry; `nil` if the piece was only counted.
    public var submissionID: UUID?
    /// The hash of the entry's leaf in the Merkle log.
    public var leafHash: [UInt8]
    /// Its place in the request, from 0.
    public var index: Int
    public var rejection: Rejection
    public var disposition: Disposition

    /// The code of the rejection.
    public var code: String { rejection.code }
}

/// Claims every purchase of the evidence for a customer, with one journal entry for each piece of evidence, and one for all pieces
/// that fail verification if there are several.
public struct RestorePurchases: LedgerOperation {
    let examined: ExaminedRestore
    /// The App Store's answer about the only piece of evidence, if the restore waited for it.
    var word: AnsweredClaim?
    /// Genuine pieces beyond the daily budget that an earlier run found, by their places: they are counted, and nothing is written.
    private var counted: [Int: IdlePiece] = [:]

    /// A restore whose evidence was verified.
    public init(_ examined: ExaminedRestore) { self.examined = examined }

    init(_ examined: ExaminedRestore, word: AnsweredClaim) {
        self.examined = examined
        self.word = word
    }

    public func perform(_ transaction: LedgerTransaction) throws -> RestoreOutcome {
        guard ExactText(examined.submission.customerID).isIdentifier else {
            throw LedgerRefusal(.fieldMalformed, expected: "customer_id")
        }
        let app = try transaction.app(examined.submission.app)
        try transaction.lockCustomers(of: examined.evidence, claimedFor: app)
        var outcome = RestoreOutcome(purchases: [], refused: [], entitlements: [])
        let refusals = word == nil ? RestoreRefusals(of: examined) : nil
        let isCounted = try refusals?.count(app, transaction, &outcome) ?? false
        count(transaction, &outcome)
        var done = Set(counted.keys).union(isCounted ? refusals?.places ?? [] : [])
        guard done.count < examined.evidence.count || examined.evidence.isEmpty else {
            // Nothing is written, not even the customer.
            guard let known = try transaction.customer(examined.submission.customerID, app) else {
                return outcome.completed(with: [], examined.evidence)
            }
            outcome.mergedInto = known.survivor(of: examined.submission.customerID)
            return outcome.completed(
                with: try EntitlementsOfCustomer.current(transaction, app, customer: known), examined.evidence)
        }
        let customer = try transaction.customerToWrite(examined.submission.customerID, app)
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
        return outcome.completed(
            with: try EntitlementsOfCustomer.current(transaction, app, customer: customer), examined.evidence)
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

    /// Observes every piece that tells something new about a product or an original of a piece before it, each with an entry of
    /// its own, renewal info included. So all pieces are observed before the first is decided.
    ///
    /// Evidence that waits for the App Store is not observed.
    private func observeTogether(
        _ places: [Int], _ app: RegistryApp, _ customer: CustomerRow, _ transaction: LedgerTransaction
    ) throws(LedgerStorageError) {
        guard word == nil, app.settings.mode != .apple else { return }
        var (names, hashes): (Set<ExactText>, Set<[UInt8]>) = ([], [])
        for index in places where counted[index] == nil {
            let evidence = examined.evidence[index]
            guard case .success(let observation) = evidence.verified,
                let observer = transaction.registry.observer(of: evidence, claimedFor: app),
                hashes.insert(evidence.stored.sha256).inserted
            else { continue }
            let facts = observation.transactionFacts.filter { $0.productID != nil }
            var own = Set(facts.flatMap { [$0.original.transactionID, $0.productID].compactMap(\.self) })
            own.formUnion(observation.renewals.map(\.key.originalTransactionID))
            let isAlone = names.isDisjoint(with: own)
            names.formUnion(own)
            guard !isAlone else { continue }
            let changes = LedgerChanges(transaction, app: observer)
            let kept = try transaction.keep(evidence.stored, app: app, keyID: examined.submission.keyID)
            try changes.observe(observation, evidence: kept.key)
            let news = changes.histories.lazy.flatMap(\.records).first(where: \.isChanged)?.facts.key
            guard news != nil || changes.hasNewRenewal else { continue }
            try changes.settle()
            var draft = transaction.draft(app)
            (draft.evidence, draft.customer, draft.code) = (
                (kept.key, kept.sha256), customer, DecisionCode.accepted.rawValue
            )
            draft.transactionKey =
                changes.histories.lazy.flatMap(\.records).first { $0.facts.key == news }?.row.key
            let details = EvidenceDetails(source: "restore", evidenceKind: evidence.kind?.rawValue)
            try changes.finish(try transaction.journal.append(draft, details))
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
        let evidence = examined.evidence[index]
        if word == nil, let waiting = try WaitingRestore(of: evidence, examined.submission, customer, transaction, app)
        {
            try waiting.write(&outcome, &seen)
            return nil
        }
        var draft = transaction.draft(app)
        draft.customer = customer
        let kept = try transaction.keep(evidence.stored, app: app, keyID: examined.submission.keyID)
        let key = kept.key
        draft.evidence = (key, kept.sha256)
        var changes = LedgerChanges(transaction, app: app)
        var details = ClaimDetails(
            isRestore: true, keyID: examined.submission.keyID, sourceAddress: examined.submission.sourceAddress,
            customer: examined.submission.customerID, evidenceKind: evidence.kind?.rawValue, replayed: false,
            transfer: app.settings.transfer.rawValue, outcomes: [])
        details.unverified = kept.unverified(evidence.stored)
        details.unknownMembers = unknown.isEmpty ? nil : unknown
        var rejection: Rejection?
        var proven: [ObservedTransaction] = []
        var repeated: String?
        switch evidence.verified {
        case .failure(let error): rejection = Rejection(error)
        case .success where word?.answer.refusal != nil: rejection = word?.answer.refusal
        case .success(let observation):
            if let observer = transaction.registry.observer(of: evidence, claimedFor: app) {
                if observer.key != app.key { changes = LedgerChanges(transaction, app: observer) }
                try changes.observe(observation, evidence: key)
                try changes.observe(word?.answer)
            }
            if let objection = evidence.objection {
                rejection = Rejection(objection)
            } else {
                let stated = observation.transactionFacts.filter { $0.productID != nil }
                repeated = stated.compactMap { seen[$0.key] }.first
                var keys: Set<TransactionKey> = []
                proven = stated.filter { seen[$0.key] == nil && keys.insert($0.key).inserted }
            }
        }
        changes.identities.know(locked: customer)
        var claims = RestoredClaims(
            changes: changes, app: app, customer: customer, source: evidence.source, stated: word?.answer)
        try claims.claim(proven, transaction)
        try changes.settle()
        let purchases = try claims.outcomes(transaction)
        for purchase in purchases { seen[purchase.key] = purchase.answer.code }
        let isIdle =
            evidence.stored.isVerified && word == nil && !changes.hasNews && !purchases.contains(where: \.isOfCustomer)
        let code = rejection?.code ?? purchases.first?.answer.code ?? repeated
        let use =
            isIdle && code != nil
            ? RefusalBudgetUse(transaction, app: app, keyID: examined.submission.keyID) : nil
        if let code, let use, try !use.admits() {
            return IdlePiece(
                index: index, sha256: kept.sha256, rejection: rejection, purchases: purchases.map(\.answer), code: code)
        }
        details.outcomes = purchases.map(\.recorded)
        draft.code = rejection?.code ?? DecisionCode.accepted.rawValue
        details.expected = rejection?.expected
        details.found = rejection?.found
        if purchases.count == 1 { draft.transactionKey = purchases.first?.transactionKey }
        let confirms =
            word == nil && app.settings.mode == .both && evidence.canBeAskedAbout && claims.isFirstGrant
        if confirms { details.appStore = .confirms }
        let entry: JournalEntry
        if let word {
            entry = try transaction.journal.append(
                draft,
                DecisionDetails(
                    claim: word.claim.text,
                    cancellations: word.answer.refusal == nil ? word.answer.cancellations : [],
                    tokens: word.answer.refusal == nil ? word.answer.statedTokens : [],
                    decided: details.bounded()))
        } else {
            entry = try transaction.journal.append(draft, details.bounded())
        }
        outcome.entries.append(entry.id)
        if let use = evidence.stored.isVerified ? use : RefusalBudgetUse(transaction, app: app, keyID: details.keyID) {
            try use.add(entry, evidence: kept, customer: customer)
        }
        try changes.finish(entry)
        if rejection?.isWithoutEffect != true { try transaction.hold(evidence, key, entry) }
        if confirms {
            try transaction.ask(entry, app, customer, key, .confirms)
            outcome.asksAppStore.append(entry.id)
        }
        for purchase in purchases {
            var answer = purchase.answer
            (answer.submissionID, answer.leafHash) = (entry.id, entry.leafHash)
            outcome.purchases.append(answer)
        }
        if let rejection {
            outcome.refused.append(
                RefusedEvidence(
                    submissionID: entry.id, leafHash: entry.leafHash, index: index, rejection: rejection,
                    disposition: rejection.disposition(hasPurchase: false)))
        }
        return nil
    }
}
