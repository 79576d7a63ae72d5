import PurchaseVerification

import struct Foundation.UUID

/// Decides a recorded claim, restore or row of an import again, as a server does, from the tables that the entries
/// before it give, and compares the outcome with the recorded one. Everything that the decision writes is rolled back.
///
/// Refusals for load, for the daily budget or by the App Store are not decided again, and neither are requests with a
/// flaw: they do not follow from the record.
struct ReplayedDecision {
    /// The codes of requests that say nothing about a purchase.
    private static let flaws: Set<DecisionCode> = [.bodyMalformed, .bodyTooLarge, .fieldMissing, .fieldMalformed]

    private let step: ReplayStep
    private let app: RegistryApp
    private let evidence: ExaminedEvidence
    private let recorded: ClaimDetails
    /// The App Store's answer, for the decision about a claim that waited.
    private let answered: AnsweredClaim?
    /// Whether the evidence states a member's copy.
    private let isOfMember: Bool

    private var leaf: JournalLeaf { step.leaf }

    /// - Returns: `nil` if the entry has no decision, or one that is not compared.
    init?(step: ReplayStep, app: RegistryApp?) throws(LedgerStorageError) {
        guard step.leaf.kind == .claim || step.leaf.kind == .decision, let app,
            let evidence = step.evidence?.examined, case .success(let observation) = evidence.verified
        else { return nil }
        if let code = DecisionCode(rawValue: step.leaf.code), code.isWithoutEffect || Self.flaws.contains(code) {
            return nil
        }
        if let erasures = step.transaction.erasures,
            Self.isAffected(observation, by: erasures) || erasures.entries[step.leaf.id] != nil
        {
            return nil
        }
        if step.leaf.kind == .claim {
            if let details = step.claimDetails {
                recorded = details
            } else {
                recorded = try ClaimDetails(encoded: step.details)
            }
            answered = nil
        } else {
            let decision = try DecisionDetails(encoded: step.details)
            guard let answered = decision.answered else { return nil }
            (recorded, self.answered) = (decision.decided, answered)
        }
        // The order may be an erased customer's, of which only the id is left.
        if step.hasErasures, recorded.order != nil, step.leaf.order == nil { return nil }
        (self.step, self.app, self.evidence) = (step, app, evidence)
        isOfMember = observation.transactionFacts.contains { $0.ownership.holder != .buyer }
    }

    /// Whether an erasure removed something on which a decision depends.
    private static func isAffected(_ observation: Observation, by erasures: Erasures) -> Bool {
        guard !erasures.customers.isEmpty else { return false }
        return observation.transactionFacts.contains {
            erasures.transactions[$0.key] != nil || erasures.originals.contains($0.original) || $0.accountToken != nil
        }
    }

    /// The finding if the decision differs from the recorded one.
    func finding() throws -> AuditFinding? {
        let connection = step.connection
        try connection.execute("SAVEPOINT decision", [])
        let decided: JournalRow?
        do {
            decided = try decide()
        } catch {
            try rollBack()
            guard LedgerAudit.isFinding(error) else { throw error }
            return differs("\(error)")
        }
        try rollBack()
        guard let decided, let content = decided.details else { return differs("there is none") }
        let details =
            leaf.kind == .claim
            ? try ClaimDetails(encoded: content) : try DecisionDetails(encoded: content).decided
        guard isSame(decided.code, leaf.code) else { return differs(decided.code) }
        for outcome in recorded.outcomes {
            let other = details.outcomes.first { $0.key == outcome.key }
            guard let other, isSame(other.code, outcome.code) else {
                return differs("\(outcome.transactionID) is \(other?.code ?? "missing")")
            }
            // Another refusal because of an erasure has another outcome, too.
            guard other.code.isSame(as: outcome.code) else { continue }
            guard other.binds == outcome.binds, try isSame(order: other.order, outcome.order) else {
                return differs(
                    "\(outcome.transactionID) \(other.binds ? "binds" : "binds nothing"), and pays "
                        + (other.order ?? "no order"))
            }
        }
        return nil
    }

    /// Whether two codes are the same refusal. A rebuild knows erasures from the beginning, so it refuses purchases of
    /// a customer as erased that were refused as somebody else's before the erasure. It does not know the manual
    /// revocations of members' copies that an erasure ended.
    private func isSame(_ decided: String, _ recorded: String) -> Bool {
        if decided.isSame(as: recorded) { return true }
        guard step.hasErasures else { return false }
        if isOfMember, recorded.isSame(as: DecisionCode.purchaseWithdrawn.rawValue) { return true }
        guard decided.isSame(as: DecisionCode.purchaseErased.rawValue) else { return false }
        return [DecisionCode.alreadyClaimed, .appAccountTokenMismatch].contains { recorded.isSame(as: $0.rawValue) }
    }

    /// Whether two orders are the same. Of an erased customer's order only the id is left, so nothing pays it.
    private func isSame(order decided: String?, _ recorded: String?) throws(LedgerStorageError) -> Bool {
        if decided == recorded { return true }
        guard step.hasErasures, decided == nil, let id = recorded.flatMap({ UUID(uuidString: $0) }),
            let order = try step.transaction.orders.row(id: id)
        else { return false }
        return try step.transaction.customers.row(order.customerKey).name == nil
    }

    private func rollBack() throws(LedgerStorageError) {
        try step.connection.execute("ROLLBACK TO decision", [])
        try step.connection.execute("RELEASE decision", [])
    }

    private func differs(_ decided: String) -> AuditFinding {
        AuditFinding(
            kind: .decisionDiffers,
            detail: "entry \(leaf.id.text) recorded \(leaf.code), and by the entries before it: \(decided)")
    }

    // MARK: The decision

    /// Decides as a server does.
    ///
    /// - Returns: the entry that a server would have written.
    private func decide() throws -> JournalRow? {
        let transaction = LedgerTransaction(
            connection: step.connection, now: leaf.at, registry: registry, verifier: step.verifier,
            erasures: step.transaction.erasures)
        let journal = JournalTable(connection: step.connection)
        let before = try journal.last()
        if let note = recorded.imported {
            _ = try ImportPurchases(
                app: leaf.app, isAnnounced: note.announced,
                // A row without consumables states no choice, and either choice decides it in the same way.
                consumables: note.consumables.flatMap(ImportedConsumables.init(rawValue:)) ?? .balance,
                [ExaminedImport(submission: imported(note), evidence: [evidence])]
            ).perform(transaction)
        } else if recorded.isRestore {
            var submission = RestoreSubmission(
                app: leaf.app, customerID: recorded.customer ?? "", evidence: [[]])
            submission.keyID = recorded.keyID
            let examined = ExaminedRestore(submission: submission, evidence: [evidence])
            let restore = answered.map { RestorePurchases(examined, answered: $0) } ?? RestorePurchases(examined)
            _ = try restore.perform(transaction)
        } else {
            _ = try ClaimPurchase(ExaminedSubmission(submission: submission, evidence: evidence, flaw: nil))
                .decide(transaction, after: answered)
        }
        let last = try journal.last()
        return last > before ? try journal.row(key: last) : nil
    }

    /// The settings, with the transfer policy that the entry states.
    private var registry: Registry {
        guard let transfer = TransferPolicy(rawValue: recorded.transfer), transfer != app.settings.transfer else {
            return step.transaction.registry
        }
        var settings = app.settings
        settings.transfer = transfer
        let changed = RegistryApp(key: app.key, settings: settings)
        return Registry(apps: step.transaction.registry.apps.map { $0.key == app.key ? changed : $0 })
    }

    private var submission: PurchaseSubmission {
        var submission = PurchaseSubmission(app: leaf.app)
        submission.keyID = recorded.keyID
        submission.claim.productID = recorded.productID
        submission.claim.transactionID = recorded.transactionID
        submission.claim.orderID = recorded.order
        submission.claim.customerID = recorded.customer
        submission.claim.quantity = recorded.quantity
        return submission
    }

    private func imported(_ note: ImportNote) -> ImportSubmission {
        ImportSubmission(
            customerID: recorded.customer ?? "", evidence: [], orderID: recorded.order,
            importedAt: note.at.map { Timestamp(millisecondsSince1970: $0) })
    }
}
