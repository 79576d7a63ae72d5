import PurchaseVerification

import struct Foundation.UUID

/// What an entry recorded about its claims. A replay binds and pays it, and the same write decides the claims as a
/// server does, which is compared with it.
struct RecordedClaims {
    /// The customer of the entry; `nil` if nothing of them is left.
    let customer: CustomerRow?
    let details: ClaimDetails
    let leaf: JournalLeaf
    let hasErasures: Bool
    /// What a server would have recorded in place of the entry, if it would not even have decided.
    var difference: String?

    var outcomes: [ClaimDetails.Outcome] { details.outcomes }
    var transfer: TransferPolicy { TransferPolicy(rawValue: details.transfer) ?? .deny }
    /// The transaction that the claim named for an order.
    var named: TransactionKey? { leaf.order == nil ? nil : details.transactionForOrder }

    // MARK: Comparison

    /// What a decision gives in place of what was recorded; `nil` if it gives the same, or if nothing is decided.
    func difference(from write: EvidenceWrite) throws(LedgerStorageError) -> String? {
        if case .nothing = write.input.claims { return nil }
        let decided = write.rejection?.code ?? DecisionCode.accepted.rawValue
        let isOfMember = hasErasures && write.input.evidence?.statesMember ?? false
        guard isSame(decided, leaf.code, isOfMember) else { return decided }
        for outcome in outcomes {
            let other = write.outcomes.first { $0.key == outcome.key }
            guard let other, isSame(other.code, outcome.code, isOfMember) else {
                return "\(outcome.transactionID) is \(other?.code ?? "missing")"
            }
            // Another refusal because of an erasure has another outcome, too.
            guard other.code.isSame(as: outcome.code) else { continue }
            // An erasure ends the mark of a guest from the beginning.
            guard other.from == outcome.from || hasErasures else {
                return "\(outcome.transactionID) is taken over from \(other.from ?? "nobody")"
            }
            guard other.binds == outcome.binds, try isSame(order: other.order, outcome.order, write.transaction) else {
                return "\(outcome.transactionID) \(other.binds ? "binds" : "binds nothing"), and pays "
                    + (other.order ?? "no order")
            }
        }
        return nil
    }

    /// Whether two codes are the same refusal. A rebuild knows erasures from the beginning, so it refuses purchases of
    /// a customer as erased that were refused as somebody else's before the erasure. It does not know the manual
    /// revocations of members' copies that an erasure ended.
    private func isSame(_ decided: String, _ recorded: String, _ isOfMember: Bool) -> Bool {
        if decided.isSame(as: recorded) { return true }
        guard hasErasures else { return false }
        if isOfMember, recorded.isSame(as: DecisionCode.purchaseWithdrawn.rawValue) { return true }
        guard decided.isSame(as: DecisionCode.purchaseErased.rawValue) else { return false }
        return [DecisionCode.alreadyClaimed, .appAccountTokenMismatch].contains { recorded.isSame(as: $0.rawValue) }
    }

    /// Whether two orders are the same. Of an erased customer's order only the id is left, so nothing pays it.
    private func isSame(
        order decided: String?, _ recorded: String?, _ transaction: LedgerTransaction
    ) throws(LedgerStorageError) -> Bool {
        if decided == recorded { return true }
        guard hasErasures, decided == nil, let id = recorded.flatMap({ UUID(uuidString: $0) }),
            let order = try transaction.orders.row(id: id)
        else { return false }
        return try transaction.customers.row(order.customerKey).name == nil
    }
}

/// The requests of claims, from their entries.
///
/// Refusals for load, for the daily budget or by the App Store are not decided again, and neither are requests with a
/// flaw: they do not follow from the record.
extension ReplayStep {
    /// The codes of requests that say nothing about a purchase.
    private static let flaws: Set<DecisionCode> = [.bodyMalformed, .bodyTooLarge, .fieldMissing, .fieldMalformed]

    /// The input of an entry with claims.
    ///
    /// - Parameter answered: the App Store's answer, for the decision about a claim that waited.
    func input(_ details: ClaimDetails, _ app: RegistryApp?, after answered: AnsweredClaim?) throws -> EvidenceInput {
        var recorded = RecordedClaims(
            customer: try app.flatMap { try customer(details.customer, $0) }, details: details, leaf: leaf,
            hasErasures: hasErasures)
        var claims = EvidenceInput.Claims.nothing
        do throws(LedgerStorageError) {
            if leaf.kind == .claim || answered != nil {
                claims = try request(&recorded, app, isAnswered: answered != nil)
            }
        } catch {
            guard AuditFinding.isFinding(error) else { throw error }
            recorded.difference = "\(error)"
        }
        var input = EvidenceInput(app: app, evidence?.examined, claims: claims)
        (input.recorded, input.answer) = (recorded, answered)
        input.isAnnounced = details.imported?.announced ?? true
        return input
    }

    /// What an entry claimed; nothing if it is not decided again.
    private func request(
        _ recorded: inout RecordedClaims, _ app: RegistryApp?, isAnswered: Bool
    ) throws(LedgerStorageError) -> EvidenceInput.Claims {
        let details = recorded.details
        guard let app, let evidence = evidence?.examined, case .success(let observation) = evidence.verified,
            isComparable(details, observation)
        else { return .nothing }
        var fields = ClaimFields()
        (fields.customerID, fields.orderID, fields.transactionID) = (
            details.customer, details.order, details.transactionID
        )
        (fields.productID, fields.quantity) = (details.productID, details.quantity)
        guard details.isRestore || details.imported != nil else { return .named(fields) }
        guard let customer = recorded.customer, ExactText(details.customer ?? "").isIdentifier else {
            recorded.difference = "there is none"
            return .nothing
        }
        if details.imported != nil {
            let parties = try ClaimParties(of: fields, transaction, app, recorded)
            guard parties.refusal(of: fields) == nil, evidence.refusalOfRow(app.settings) == nil else {
                recorded.difference = "there is none"
                return .nothing
            }
            return .every(
                .init(customer: customer, order: parties.order, transfer: recorded.transfer, isImported: true))
        }
        let restore = ExaminedRestore(
            submission: RestoreSubmission(app: leaf.app, customerID: "", evidence: []), evidence: [])
        if !isAnswered, try WaitingRestore(of: evidence, restore, customer, transaction, app) != nil {
            recorded.difference = DecisionCode.appStorePending.rawValue
            return .nothing
        }
        // Another piece of the request claimed the others.
        let others = Set(observation.transactionFacts.map(\.key)).subtracting(recorded.outcomes.compactMap(\.key))
        return .every(
            .init(customer: customer, besides: others, transfer: recorded.transfer, takeOver: details.takeOver))
    }

    /// Whether a decision follows from the record, with everything on which it depended.
    private func isComparable(_ details: ClaimDetails, _ observation: Observation) -> Bool {
        if let code = DecisionCode(rawValue: leaf.code), code.isWithoutEffect || Self.flaws.contains(code) {
            return false
        }
        guard hasErasures, let erasures = transaction.erasures else { return true }
        if erasures.entries[leaf.id] != nil { return false }
        // The order may be an erased customer's, of which only the id is left.
        if details.order != nil, leaf.order == nil { return false }
        return !observation.transactionFacts.contains {
            erasures.transactions[$0.key] != nil || erasures.originals.contains($0.original) || $0.accountToken != nil
        }
    }
}

extension ExaminedEvidence {
    /// Whether it states a member's copy.
    fileprivate var statesMember: Bool {
        guard case .success(let observation) = verified else { return false }
        return observation.transactionFacts.contains { $0.ownership.holder != .buyer }
    }
}
