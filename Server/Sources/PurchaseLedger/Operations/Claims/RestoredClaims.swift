import PurchaseVerification

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
        let key: TransactionKey
        /// Whether the purchase belongs to the customer.
        let isOfCustomer: Bool
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
        var earlier = EarlierClaims(changes, customer: customer)
        for facts in proven {
            let environment = try transaction.environments.keyToWrite(of: facts.key.environment)
            guard let place = try changes.place(of: facts.key, environment: environment) else { continue }
            let record = changes.histories[place.history].records[place.record]
            let token = facts.accountToken ?? stated?.tokens[facts.key]
            let tokenOwner = try changes.identities.customer(of: token)
            var claim = Claim(proven: facts)
            claim.isFirst = record.formerRow?.ownerKey == nil
            do throws(Rejection) {
                if record.isErased { throw Rejection(.purchaseErased) }
                try ClaimDecision.requireAgreement(ClaimFields(), facts)
                claim.binds =
                    ClaimDecision.isOfToken(customer.key, tokenOwner: tokenOwner)
                    && ClaimDecision.binds(
                        source, token: token, tokenOwner: tokenOwner, customer: customer.key, app.settings)
            } catch {
                claim.refusal = error
            }
            claim.isReplayed = try earlier.contains(record, in: place.history)
            if claim.binds, !isReview {
                let mayTransfer = OwnershipAct.mayTransfer(under: app.settings.transfer, kind: record.row.kind)
                changes.claim(facts.key, by: customer.key, mayTransfer: mayTransfer, in: place.history)
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
                leafHash: [], environment: claim.proven.key.environment,
                transactionID: claim.proven.key.transactionID.string,
                originalTransactionID: record.facts.original.transactionID.string,
                productID: claim.proven.productID?.string ?? "",
                rejection: rejection,
                disposition: rejection?.disposition(hasPurchase: isOwner && purchase.isHad) ?? .granted,
                isReplayed: claim.isReplayed, claimedBy: rejection?.priorClaim,
                expiresAt: record.facts.end)
            outcomes.append(
                Outcome(
                    key: claim.proven.key, isOfCustomer: isOwner, answer: answer,
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
        let tokenOwner = try changes.identities.customer(of: record.facts.accountToken)
        if try changes.isOfErasedCustomer(record, besides: customer.key) { return Rejection(.purchaseErased) }
        let entitlement = try transaction.entitlement(
            of: customer.key, product: record.row.productKey, kind: record.row.kind ?? record.facts.kind,
            productID: record.productID, environment: record.row.environment, app: app)
        do throws(Rejection) {
            try ClaimDecision.requireOwner(
                record.row.ownerKey, customer: customer.key, tokenOwner: tokenOwner, facts: record.facts, app.settings)
            try ClaimDecision.requireTerms(purchase, app.settings)
            try ClaimDecision.requireNotWithdrawn(purchase, proven)
            try ClaimDecision.requireAccess(purchase, entitlement: entitlement?.entitlement, now: transaction.now)
            // A consumable is granted once, even if it has copies.
            return purchase.isCopy && record.row.kind == .consumable ? .alreadyClaimed(.restoredCopy) : nil
        } catch {
            return error
        }
    }
}
