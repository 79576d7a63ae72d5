import Foundation
import PurchaseMessages
import PurchaseVerification

/// Handles the outcomes of a transaction: what to store, and when to finish the transaction.
extension PurchaseEngine {
    /// Store, finish, remove from the outbox: in this order.
    func grant(
        _ entry: inout OutboxEntry, _ verified: VerifiedEvidence?, _ decision: ServerDecision?
    ) async -> PurchaseOutcome {
        let isKnown = record.granted(entry.purchaseKey).map { $0.endedAt == nil } ?? false
        let purchase = GrantedPurchase(entry, verified, at: trustedNow(), submissionID: decision?.submissionID)
        (entry.decision, entry.code) = (.granted, nil)
        let granted = entry
        let products = { self.products(of: $0) }
        guard
            changes({ record in
                record.grant(purchase)
                record.put(granted)
                if let answer = decision?.answer { record.keep(answer, products: products) }
            })
        else {
            startAgainLater()
            return .undetermined(PurchaseError(.storeFailed))
        }
        let outcome = PurchaseOutcome.granted(purchase, isReplayed: isKnown || decision?.isReplayed == true)
        if !isKnown {
            emit(
                PurchaseEvent(
                    .granted, entry.transaction, code: PurchaseError.Code(rawValue: "accepted"),
                    submissionID: decision?.submissionID, attempt: entry.attempts + 1))
        }
        await tellDelegate(entry.transaction, outcome)
        if await conclude(entry, outcome) { settle(outcome, of: entry) }
        return outcome
    }

    func refuse(
        _ entry: inout OutboxEntry, _ error: PurchaseError, submissionID: String? = nil,
        answer: PurchaseRecord.StoredAnswer? = nil
    ) async -> PurchaseOutcome {
        (entry.decision, entry.code) = (.refused, error.code)
        let refused = entry
        let now = trustedNow()
        let products = { self.products(of: $0) }
        var ended: GrantedPurchase?
        let endsPurchase =
            entry.transaction.revocationDate != nil || entry.transaction.isUpgraded || error.code.endsPurchase
        guard
            changes({ record in
                record.put(refused)
                if endsPurchase { ended = record.end(refused.purchaseKey, at: now) }
                // It says that the purchase no longer grants anything.
                if let answer { record.keep(answer, products: products) }
            })
        else {
            startAgainLater()
            return .undetermined(PurchaseError(.storeFailed))
        }
        emit(
            PurchaseEvent(
                .refused, entry.transaction, error: error, submissionID: submissionID, attempt: entry.attempts + 1))
        if ended != nil { emit(PurchaseEvent(.revoked, entry.transaction, error: error)) }
        let outcome = PurchaseOutcome.refused(error)
        await tellDelegate(entry.transaction, outcome)
        if await conclude(entry, outcome) { settle(outcome, of: entry) }
        return outcome
    }

    /// - Parameter retryAfter: the pause that the server asks for.
    func postpone(
        _ entry: inout OutboxEntry, _ error: PurchaseError, submissionID: String? = nil, retryAfter: Double? = nil
    ) async -> PurchaseOutcome {
        entry.attempts += 1
        entry.code = error.code
        entry.nextAttempt = time.now.addingTimeInterval(
            RetryDelay.seconds(after: entry.attempts, retryAfter: retryAfter))
        let postponed = entry
        if !changes({ $0.put(postponed) }) { startAgainLater() }
        emit(
            PurchaseEvent(
                .undetermined, entry.transaction, error: error, submissionID: submissionID, attempt: entry.attempts,
                nextAttempt: entry.nextAttempt))
        let outcome = PurchaseOutcome.undetermined(error)
        await tellDelegate(entry.transaction, outcome)
        return outcome
    }

    /// Finishes a transaction whose outcome is stored, and removes its entry.
    ///
    /// - Returns: whether it is done. Otherwise the entry stays, and finishing is tried again.
    func conclude(_ entry: OutboxEntry, _ outcome: PurchaseOutcome) async -> Bool {
        do {
            try await queue.finish(entry.transaction)
        } catch {
            var waiting = entry
            waiting.attempts += 1
            waiting.nextAttempt = time.now.addingTimeInterval(RetryDelay.seconds(after: waiting.attempts))
            if case .granted = outcome { waiting.decision = .granted }
            let again = waiting
            _ = changes { $0.put(again) }
            emit(
                PurchaseEvent(
                    .failedOutside, entry.transaction, error: PurchaseError(.queueFailed, error),
                    attempt: waiting.attempts, nextAttempt: waiting.nextAttempt))
            return false
        }
        return changes { $0.remove(entry.key) }
    }

    /// StoreKit delivers it again, so the call that finished it may have been lost.
    func finishAgain(_ transaction: PaymentTransaction) async {
        do {
            try await queue.finish(transaction)
        } catch {
            emit(PurchaseEvent(.failedOutside, transaction, error: PurchaseError(.queueFailed, error)))
        }
    }

    func settle(_ outcome: PurchaseOutcome, of entry: OutboxEntry) {
        // Forgotten transactions cost only one more request if they are delivered again.
        if settled.count >= 10_000 { settled.removeAll() }
        settled[TransactionVersion(entry.transaction, entry.key)] = outcome
    }
}

extension PurchaseError.Code {
    /// Whether a purchase that was granted ends with this code.
    fileprivate var endsPurchase: Bool {
        ["purchase_revoked", "purchase_withdrawn", "purchase_cancelled", "purchase_upgraded"].contains(rawValue)
    }
}

extension GrantedPurchase {
    /// The purchase of an entry, with what the signed evidence says about it.
    init(_ entry: OutboxEntry, _ evidence: VerifiedEvidence?, at date: Date, submissionID: String?) {
        let transaction = entry.transaction
        let key = entry.purchaseKey
        let facts = evidence?.facts.transactions.first { key.transactionID.isSame(as: $0.transactionID) }
        self.init(
            key: key, originalTransactionID: facts?.originalTransactionID ?? transaction.originalTransactionID,
            productID: transaction.productID, kind: evidence?.productKind(of: key.transactionID),
            quantity: facts?.quantity.map { Int64(clamping: $0) } ?? 1,
            customerID: entry.customerID, orderID: entry.orderID,
            purchaseDate: facts?.purchaseDate?.date ?? transaction.purchaseDate,
            expirationDate: evidence.flatMap { $0.expirationDate(of: key.transactionID) }
                ?? transaction.expirationDate,
            grantedAt: date, submissionID: submissionID)
    }
}
