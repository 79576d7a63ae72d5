import Foundation
import PurchaseMessages
import PurchaseVerification

/// Handles the outcomes of a transaction: what to store, and when to finish the transaction.
extension PurchaseEngine {
    /// What is left to do after an outcome is stored.
    struct Step {
        let outcome: PurchaseOutcome
        /// Whether its transaction is finished.
        let finishes: Bool

        static func finish(_ outcome: PurchaseOutcome) -> Step { Step(outcome: outcome, finishes: true) }
        static func wait(_ outcome: PurchaseOutcome) -> Step { Step(outcome: outcome, finishes: false) }
    }

    /// Store, finish, remove from the outbox: in this order.
    func grant(_ entry: inout OutboxEntry, _ verified: VerifiedEvidence?, _ decision: ServerDecision?) -> Step {
        let isKnown = record.granted(entry.purchaseKey).map { $0.endedAt == nil } ?? false
        let purchase = GrantedPurchase(entry, verified, decision, at: trustedNow())
        (entry.decision, entry.code, entry.nextAttempt) = (.granted, nil, nil)
        let (granted, now) = (entry, trustedNow())
        let failure = failureToStore { record in
            record.grant(purchase)
            record.acceptRenewal(purchase.key)
            record.put(granted)
            record.keep(decision)
            // The answer is as new as one about the current evidence.
            if record.lastPass == nil, decision != nil, let customerID = granted.customerID {
                record.lastPass = PurchaseRecord.Pass(customerID: customerID, at: now, seen: [])
            }
            record.lastPass?.seen.insert(Self.version(of: granted.transaction))
            guard decision?.hasBalance(of: granted.transaction.productID) ?? false,
                let accepted = AcceptedEvidence(granted.transaction, of: granted.customerID)
            else { return }
            record.keep(accepted: accepted)
            record.lastPass?.seen.insert(accepted.version)
        }
        if let failure { return failure }
        if !isKnown { emit(.granted(PurchaseReport(entry, submissionID: decision?.submissionID))) }
        return .finish(.granted(purchase, isReplayed: isKnown || decision?.isReplayed == true))
    }

    /// Stores an outcome; what to do instead if that fails.
    private func failureToStore(_ outcome: (inout PurchaseRecord) -> Void) -> Step? {
        if changes(outcome) { return nil }
        startAgainLater()
        return .wait(.undetermined(PurchaseError(.storeFailed)))
    }

    /// Finishes a transaction that the server accepted, and that gives this customer nothing.
    func passOver(_ entry: inout OutboxEntry, _ error: PurchaseError, _ decision: ServerDecision) -> Step {
        (entry.decision, entry.code, entry.nextAttempt) = (.notCounted, error.code, nil)
        let passed = entry
        let failure = failureToStore { record in
            record.put(passed)
            record.refuseRenewal(passed)
            record.keep(decision)
        }
        if let failure { return failure }
        emit(.notCounted(PurchaseReport(entry, submissionID: decision.submissionID), error))
        return .finish(.notCounted(error))
    }

    /// Finishes a transaction that a signed answer refused, or that Apple withdrew.
    func refuse(_ entry: inout OutboxEntry, _ error: PurchaseError, _ decision: ServerDecision? = nil) -> Step {
        (entry.decision, entry.code, entry.nextAttempt) = (.refused, error.code, nil)
        let refused = entry
        let now = trustedNow()
        let endsPurchase = entry.isWithdrawn || error.code.endsPurchase
        var ended: GrantedPurchase?
        let failure = failureToStore { record in
            record.put(refused)
            if endsPurchase { ended = record.end(refused.purchaseKey, at: now) }
            if decision != nil { record.refuseRenewal(refused) }
            // It says that the purchase no longer grants anything.
            record.keep(decision)
        }
        if let failure { return failure }
        emit(.refused(PurchaseReport(entry, submissionID: decision?.submissionID), error))
        if ended != nil { emit(.revoked(PurchaseReport(entry), error)) }
        return .finish(.refused(error))
    }

    /// Leaves a transaction as it is, and plans the next attempt.
    ///
    /// - Parameter isForged: whether its signature is wrong, and no server will decide.
    func postpone(
        _ entry: inout OutboxEntry, _ error: PurchaseError, _ decision: ServerDecision? = nil, isForged: Bool = false
    ) -> Step {
        let report = PurchaseReport(entry, submissionID: decision?.submissionID)
        entry.attempts += 1
        entry.code = error.code
        entry.nextAttempt = time.now.addingTimeInterval(
            RetryDelay.seconds(after: entry.attempts, retryAfter: decision?.retryAfter))
        let postponed = entry
        if !changes({ $0.put(postponed) }) { startAgainLater() }
        emit(
            isForged
                ? .invalid(report, error) : .undetermined(report, error, nextAttempt: entry.nextAttempt))
        let outcome = isForged ? PurchaseOutcome.invalid(error) : .undetermined(error)
        tell(entry.transaction, outcome)
        return .wait(outcome)
    }

    /// Ends a purchase that signed evidence withdraws, before anybody else is asked.
    func end(_ entry: OutboxEntry, _ error: PurchaseError) {
        let now = trustedNow()
        var ended: GrantedPurchase?
        guard changes({ ended = $0.end(entry.purchaseKey, at: now) }), ended != nil else { return }
        emit(.revoked(PurchaseReport(entry), error))
    }

    func conclude(_ step: Step, _ entry: OutboxEntry) async -> PurchaseOutcome {
        if step.finishes, await finish(entry, step.outcome) { close(entry, step.outcome) }
        return step.outcome
    }

    /// The same for many, whose entries are removed together.
    func conclude(_ steps: [(step: Step, entry: OutboxEntry)]) async {
        var finished: [(OutboxEntry, PurchaseOutcome)] = []
        for (step, entry) in steps {
            if step.finishes, await finish(entry, step.outcome) { finished.append((entry, step.outcome)) }
        }
        if !finished.isEmpty { _ = together { for (entry, outcome) in finished { close(entry, outcome) } } }
    }

    /// Finishes a transaction whose outcome is stored. If the queue fails, the entry stays, and it is tried again.
    private func finish(_ entry: OutboxEntry, _ outcome: PurchaseOutcome) async -> Bool {
        do {
            try await queue.finish(entry.transaction)
            return true
        } catch {
            var waiting = entry
            waiting.attempts += 1
            waiting.nextAttempt = time.now.addingTimeInterval(RetryDelay.seconds(after: waiting.attempts))
            if case .granted = outcome { waiting.decision = .granted }
            let again = waiting
            _ = changes { $0.put(again) }
            emit(.failedOutside(PurchaseError(.queueFailed, error), PurchaseReport(waiting)))
            tell(entry.transaction, outcome)
            return false
        }
    }

    /// Removes the entry of a finished transaction when the delegate knows it.
    private func close(_ entry: OutboxEntry, _ outcome: PurchaseOutcome) {
        // Until the delegate knows it, the entry stays; nothing is left to try.
        if delegate != nil, var finished = record.entry(entry.key), finished.nextAttempt != nil {
            finished.nextAttempt = nil
            let stored = finished
            _ = changes { $0.put(stored) }
        }
        if tell(entry.transaction, outcome, removing: entry.key) { settle(outcome, of: entry) }
    }

    /// StoreKit delivers it again, so the call that finished it may have been lost.
    func finishAgain(_ transaction: PaymentTransaction) async {
        do {
            try await queue.finish(transaction)
        } catch {
            emit(.failedOutside(PurchaseError(.queueFailed, error), PurchaseReport(transaction)))
        }
    }

    private func settle(_ outcome: PurchaseOutcome, of entry: OutboxEntry) {
        // Forgotten transactions cost only one more request if they are delivered again.
        if settled.count >= 10_000 { settled.removeAll() }
        settled[Self.version(of: entry.transaction)] = outcome
    }
}

extension PurchaseRecord {
    fileprivate mutating func keep(_ decision: ServerDecision?) {
        if let decision, !decision.isKept, let entitlements = decision.entitlements { keep(entitlements) }
    }
}

extension PurchaseError.Code {
    /// Whether a purchase that was granted ends with this code.
    var endsPurchase: Bool {
        ["purchase_revoked", "purchase_withdrawn", "purchase_cancelled", "purchase_upgraded"].contains(rawValue)
    }
}

extension GrantedPurchase {
    /// The purchase of an entry, with what the signed evidence and the signed answer say about it.
    fileprivate init(
        _ entry: OutboxEntry, _ evidence: VerifiedEvidence?, _ decision: ServerDecision?, at date: Date
    ) {
        let transaction = entry.transaction
        let key = entry.purchaseKey
        let facts = evidence?.facts.transactions.first { key.transactionID.isSame(as: $0.transactionID) }
        self.init(
            key: key,
            originalTransactionID: facts?.originalTransactionID ?? decision?.originalTransactionID
                ?? transaction.originalTransactionID,
            productID: transaction.productID, kind: evidence?.productKind(of: key.transactionID) ?? transaction.kind,
            quantity: facts?.quantity.map { Int64(clamping: $0) }
                ?? (transaction.isVouchedForByXcode ? Int64(transaction.quantity) : 1),
            customerID: entry.customerID, orderID: entry.orderID,
            purchaseDate: facts?.purchaseDate?.date ?? transaction.purchaseDate,
            expirationDate: evidence.flatMap { $0.expirationDate(of: key.transactionID) }
                ?? transaction.expirationDate,
            grantedAt: date, signedAt: evidence?.facts.signingDate?.date, submissionID: decision?.submissionID)
        appAccountToken = evidence?.appAccountToken
        isFamilyShared = evidence?.isFamilyShared(key.transactionID) ?? decision?.isFamilyShared
    }
}
