public import PurchaseVerification

public import struct Foundation.UUID

/// Evidence from which a customer gets everything that is theirs.
public struct RestoreSubmission: Sendable {
    /// The most pieces of evidence in one request.
    public static let maximum = 100

    public var app: String
    public var keyID: String?
    public var sourceAddress: String?
    public var customerID: String
    /// A receipt, or signed transactions.
    public var evidence: [[UInt8]]

    /// The evidence of a customer.
    public init(app: String, customerID: String, evidence: [[UInt8]]) {
        self.app = app
        self.customerID = customerID
        self.evidence = evidence
    }
}

/// Evidence for a restore that was verified.
public struct ExaminedRestore: Sendable {
    let submission: RestoreSubmission
    let evidence: [ExaminedEvidence]
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
    /// What the customer may use now of the restored products.
    public var entitlements: [Entitlement]
}

/// One purchase of a restore.
public struct RestoredPurchase: Sendable, Equatable {
    public var submissionID: UUID
    /// The hash of the entry's leaf in the Merkle log.
    public var leafHash: [UInt8]
    public var environment: AppStoreEnvironment
    public var transactionID: String
    public var originalTransactionID: String
    public var productID: String
    /// Why it gives the customer nothing now, which is no error of an expired or withdrawn purchase; `nil` if it does.
    public var rejection: Rejection?
    public var disposition: Disposition
    public var isReplayed: Bool
    public var claimedBy: PriorClaim?
    public var expiresAt: Timestamp?

    /// `accepted`, or the code of the rejection.
    public var code: String { rejection?.code ?? DecisionCode.accepted.rawValue }
    /// The sentence for people.
    public var sentence: String { rejection?.sentence ?? DecisionCode.accepted.sentence }
}

/// Evidence of a restore that proves nothing.
public struct RefusedEvidence: Sendable, Equatable {
    public var submissionID: UUID
    /// The hash of the entry's leaf in the Merkle log.
    public var leafHash: [UInt8]
    /// Its place in the request, from 0.
    public var index: Int
    public var rejection: Rejection
    public var disposition: Disposition

    /// The code of the rejection.
    public var code: String { rejection.code }
}

/// Claims every purchase of the evidence for a customer, with one journal entry for each piece of evidence.
public struct RestorePurchases: LedgerOperation {
    let examined: ExaminedRestore

    /// A restore whose evidence was verified.
    public init(_ examined: ExaminedRestore) { self.examined = examined }

    public func perform(_ transaction: LedgerTransaction) throws -> RestoreOutcome {
        guard ExactText(examined.submission.customerID).isIdentifier else {
            throw LedgerRefusal(.fieldMalformed, expected: "customer_id")
        }
        let app = try transaction.app(examined.submission.app)
        let customer = try transaction.customerToWrite(examined.submission.customerID, app)
        var outcome = RestoreOutcome(purchases: [], refused: [], entitlements: [])
        var seen: Set<TransactionKey> = []
        for (index, evidence) in examined.evidence.enumerated() {
            try restore(evidence, index, app, customer, transaction, &outcome, &seen)
        }
        outcome.entitlements = try EntitlementsOfCustomer.current(transaction, app, customer: customer).filter {
            entitlement in
            outcome.purchases.contains { ExactText($0.productID) == ExactText(entitlement.productID) }
        }
        return outcome
    }

    private func restore(
        _ evidence: ExaminedEvidence, _ index: Int, _ app: RegistryApp, _ customer: CustomerRow,
        _ transaction: LedgerTransaction, _ outcome: inout RestoreOutcome, _ seen: inout Set<TransactionKey>
    ) throws {
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
        var rejection: Rejection?
        var proven: [ObservedTransaction] = []
        switch evidence.verified {
        case .failure(let error): rejection = Rejection(error)
        case .success(let observation):
            if let observer = transaction.registry.observer(of: evidence, claimedFor: app) {
                if observer.key != app.key { changes = LedgerChanges(transaction, app: observer) }
                try changes.observe(observation, evidence: key)
            }
            if let objection = evidence.objection {
                rejection = Rejection(objection)
            } else {
                proven = observation.transactionFacts.filter { $0.productID != nil && seen.insert($0.key).inserted }
            }
        }
        var claims = RestoredClaims(changes: changes, app: app, customer: customer, source: evidence.source)
        try claims.claim(proven, transaction)
        try changes.own()
        try changes.settleOrders()
        try changes.writeFacts()
        try changes.writeEntitlements()
        let purchases = try claims.outcomes(transaction)
        details.outcomes = purchases.map(\.recorded)
        draft.code = rejection?.code ?? DecisionCode.accepted.rawValue
        details.expected = rejection?.expected
        details.found = rejection?.found
        if purchases.count == 1 { draft.transactionKey = purchases.first?.transactionKey }
        let entry = try transaction.journal.append(draft, details.bounded())
        try changes.writeRest(entry)
        try transaction.hold(evidence, key, entry)
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
    }
}

/// The claims of one piece of evidence.
private struct RestoredClaims {
    let changes: LedgerChanges
    let app: RegistryApp
    let customer: CustomerRow
    let source: EvidenceSource
    private var claims: [(proven: ObservedTransaction, refusal: Rejection?, isReplayed: Bool)] = []

    init(changes: LedgerChanges, app: RegistryApp, customer: CustomerRow, source: EvidenceSource) {
        self.changes = changes
        self.app = app
        self.customer = customer
        self.source = source
    }

    struct Outcome {
        var answer: RestoredPurchase
        var recorded: ClaimDetails.Outcome
        var transactionKey: Int64
    }

    mutating func claim(
        _ proven: [ObservedTransaction], _ transaction: LedgerTransaction
    ) throws(LedgerStorageError) {
        for facts in proven {
            let environment = try transaction.environments.keyToWrite(of: facts.key.environment)
            guard let place = try changes.place(of: facts.key, environment: environment) else { continue }
            let record = changes.histories[place.history].records[place.record]
            var tokenOwner: Int64?
            if let token = record.facts.accountToken { tokenOwner = try changes.customer(of: token) }
            do throws(Rejection) {
                try ClaimDecision.requireBinding(
                    ClaimFields(), facts, facts: record.facts, customer: customer.key, tokenOwner: tokenOwner,
                    isOwned: record.formerRow?.ownerKey != nil, source: source, app: app.settings)
                let mayTransfer = OwnershipAct.mayTransfer(under: app.settings.transfer, kind: record.row.kind)
                let isReplayed = changes.claim(
                    facts.key, by: customer.key, mayTransfer: mayTransfer, in: place.history)
                claims.append((facts, nil, isReplayed))
            } catch {
                claims.append((facts, error, false))
            }
        }
    }

    func outcomes(_ transaction: LedgerTransaction) throws(LedgerStorageError) -> [Outcome] {
        var outcomes: [Outcome] = []
        let copies = Dictionary(
            uniqueKeysWithValues: changes.histories.enumerated().map { ($0.offset, $0.element.copies) })
        for claim in claims {
            let environment = try transaction.environments.keyToWrite(of: claim.proven.key.environment)
            guard let place = try changes.place(of: claim.proven.key, environment: environment) else { continue }
            let record = changes.histories[place.history].records[place.record]
            let isOwner = record.row.ownerKey == customer.key
            var rejection = claim.refusal
            if rejection == nil {
                rejection = try self.rejection(
                    of: claim.proven, record, isCopy: copies[place.history]?.contains(claim.proven.key) ?? false,
                    transaction)
            }
            let code = rejection?.code ?? DecisionCode.accepted.rawValue
            let prior = rejection?.found.flatMap(PriorClaim.init(rawValue:))
            let answer = RestoredPurchase(
                submissionID: UUID(), leafHash: [], environment: claim.proven.key.environment,
                transactionID: claim.proven.key.transactionID.string,
                originalTransactionID: record.facts.original.transactionID.string, productID: record.productID,
                rejection: rejection,
                disposition: rejection?.disposition(hasPurchase: isOwner && record.facts.withdrawal == nil) ?? .granted,
                isReplayed: claim.isReplayed && rejection == nil, claimedBy: prior, expiresAt: record.facts.end)
            outcomes.append(
                Outcome(
                    answer: answer,
                    recorded: ClaimDetails.Outcome(
                        record, code: code, binds: claim.refusal == nil, order: changes.orderPaid(by: record)),
                    transactionKey: record.row.key))
        }
        return outcomes
    }

    private func rejection(
        of proven: ObservedTransaction, _ record: TransactionRecord, isCopy: Bool, _ transaction: LedgerTransaction
    ) throws(LedgerStorageError) -> Rejection? {
        guard record.row.ownerKey == customer.key else { return .alreadyClaimed(.anotherCustomer) }
        let purchase = ClaimedPurchase(
            facts: record.facts, kind: record.row.kind, isCopy: isCopy, hasPaidAnotherOrder: false)
        let entitlement = try transaction.entitlement(
            of: customer.key, product: record.row.productKey, productID: record.productID,
            environment: record.row.environment, app: app)
        do throws(Rejection) {
            try ClaimDecision.requireTerms(purchase, app.settings)
            try ClaimDecision.requireState(purchase, proven, entitlement: entitlement, now: transaction.now)
            // A consumable is granted once, whatever its copies.
            return isCopy && record.row.kind == .consumable ? .alreadyClaimed(.restoredCopy) : nil
        } catch {
            return error
        }
    }
}
