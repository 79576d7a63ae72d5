import PurchaseVerification

import struct Foundation.UUID

/// The claims of one piece of evidence of a restore.
struct RestoredClaims {
    let changes: LedgerChanges
    let app: RegistryApp
    let customer: CustomerRow
    let source: EvidenceSource
    /// The App Store's answer, if the claims waited for it.
    let stated: AppStoreAnswer?
    private var claims: [Claim] = []

    init(
        changes: LedgerChanges, app: RegistryApp, customer: CustomerRow, source: EvidenceSource,
        stated: AppStoreAnswer? = nil
    ) {
        self.stated = stated
        self.changes = changes
        self.app = app
        self.customer = customer
        self.source = source
    }

    private struct Claim {
        let proven: ObservedTransaction
        /// The reason why the claim does not agree with its own evidence.
        var refusal: Rejection?
        var binds = false
        var isReplayed = false
        /// Whether the purchase had no owner before.
        var isFirst = false
    }

    /// Whether a purchase gets its first owner.
    var isFirstGrant: Bool { claims.contains { $0.binds && $0.isFirst } }

    struct Outcome {
        var answer: RestoredPurchase
        var recorded: ClaimDetails.Outcome
        var transactionKey: Int64
    }

    /// Claims the purchases that the evidence proves.
    ///
    /// - Parameter isReview: whether only the present outcomes are wanted. Then nothing is claimed.
    mutating func claim(
        _ proven: [ObservedTransaction], isReview: Bool = false, _ transaction: LedgerTransaction
    ) throws(LedgerStorageError) {
        for facts in proven {
            let environment = try transaction.environments.keyToWrite(of: facts.key.environment)
            guard let place = try changes.place(of: facts.key, environment: environment) else { continue }
            let record = changes.histories[place.history].records[place.record]
            let token = facts.accountToken ?? stated?.tokens[facts.key]
            let statement = ClaimStatement(
                proven: facts, source: source, app: app.settings, customer: customer.key, token: token,
                tokenOwner: try changes.identities.customer(of: token), isErased: record.isErased)
            var claim = Claim(proven: facts, refusal: ClaimRules.statement.refusal(of: statement))
            claim.isFirst = record.formerRow?.ownerKey == nil
            if claim.refusal == nil {
                claim.binds = statement.binds
                claim.isReplayed = record.formerRow?.ownerKey == customer.key
            }
            if claim.binds, !isReview {
                let mayTransfer = OwnershipAct.mayTransfer(under: app.settings.transfer, kind: record.row.kind)
                claim.isReplayed = changes.claim(
                    facts.key, by: customer.key, mayTransfer: mayTransfer, in: place.history)
            }
            if !claim.isReplayed, !record.isNew {
                claim.isReplayed = try JournalTable(connection: transaction.connection)
                    .hasClaim(of: customer.key, transaction: record.row.key)
            }
            claims.append(claim)
        }
    }

    /// Whether a claim would give a purchase its first owner that the customer has not claimed yet.
    func bindsMore(_ transaction: LedgerTransaction) throws(LedgerStorageError) -> Bool {
        for claim in claims where claim.binds && claim.isFirst {
            let environment = try transaction.environments.keyToWrite(of: claim.proven.key.environment)
            guard let place = try changes.place(of: claim.proven.key, environment: environment) else { continue }
            let acts = changes.histories[place.history].acts
            if !acts.contains(where: { $0.transaction == claim.proven.key && $0.customerKey == customer.key }) {
                return true
            }
        }
        return false
    }

    /// The result for each purchase, after the changes are settled.
    func outcomes(_ transaction: LedgerTransaction) throws(LedgerStorageError) -> [Outcome] {
        var outcomes: [Outcome] = []
        for claim in claims {
            let environment = try transaction.environments.keyToWrite(of: claim.proven.key.environment)
            guard let place = try changes.place(of: claim.proven.key, environment: environment) else { continue }
            let record = changes.histories[place.history].records[place.record]
            let isOwner = record.row.ownerKey == customer.key
            let purchase = try changes.claimedPurchase(record, in: place.history, named: nil)
            var rejection = claim.refusal
            if rejection == nil { rejection = try self.rejection(of: claim.proven, record, purchase, transaction) }
            let code = rejection?.code ?? DecisionCode.accepted.rawValue
            let answer = RestoredPurchase(
                submissionID: UUID(), leafHash: [], environment: claim.proven.key.environment,
                transactionID: claim.proven.key.transactionID.string,
                originalTransactionID: record.facts.original.transactionID.string,
                productID: claim.proven.productID?.string ?? "",
                rejection: rejection,
                disposition: rejection?.disposition(hasPurchase: isOwner && purchase.isHad) ?? .granted,
                isReplayed: claim.isReplayed, claimedBy: rejection?.priorClaim,
                expiresAt: record.facts.end)
            outcomes.append(
                Outcome(
                    answer: answer,
                    recorded: ClaimDetails.Outcome(
                        record, code: code, binds: claim.binds, order: changes.payments.orderPaid(by: record)),
                    transactionKey: record.row.key))
        }
        return outcomes
    }

    private func rejection(
        of proven: ObservedTransaction, _ record: TransactionRecord, _ purchase: ClaimedPurchase,
        _ transaction: LedgerTransaction
    ) throws(LedgerStorageError) -> Rejection? {
        let owner = try changes.claimedOwner(record, by: customer.key, app.settings)
        if let refusal = ClaimRules.owner.refusal(of: owner) { return refusal }
        let entitlement = try transaction.entitlement(
            of: customer.key, product: record.row.productKey, kind: record.row.kind ?? record.facts.kind,
            productID: record.productID, environment: record.row.environment, app: app)
        let standing = ClaimStanding(
            purchase: purchase, proven: proven, app: app.settings, entitlement: entitlement?.entitlement,
            now: transaction.now)
        return ClaimRules.purchase.refusal(of: standing) ?? ClaimRules.access.refusal(of: standing)
    }
}
