import Foundation
import PurchaseMessages
import PurchaseVerification

/// From a transaction to its outcome. The order of the steps makes a crash harmless (docs/purchase-kit.md).
extension PurchaseEngine {
    func settle(
        _ transaction: PaymentTransaction, _ key: TransactionKey, _ started: StartedPurchase?
    ) async -> PurchaseOutcome {
        let version = TransactionVersion(transaction, key)
        if let outcome = settled[version] {
            await finishAgain(transaction)
            return outcome
        }
        var entry: OutboxEntry
        let matched: StartedPurchase?
        do {
            (entry, matched) = try enter(transaction, key, started)
        } catch {
            let error = PurchaseError(.storeFailed, error)
            emit(PurchaseEvent(.failedOutside, transaction, error: error))
            startAgainLater()
            return .undetermined(error)
        }
        if let outcome = knownOutcome(entry) {
            // The process may have ended before the delegate knew.
            await tellDelegate(transaction, outcome)
            if await conclude(entry, outcome) { settled[version] = outcome }
            return outcome
        }
        guard server == nil || entry.customerID != nil else {
            emit(PurchaseEvent(.customerNeeded, transaction))
            return .undetermined(PurchaseError(.customerUnknown))
        }
        // Once only: a repetition comes from the outbox, and must not ask for a password.
        let mayRefresh = refreshable.remove(key.transactionID) != nil
        switch await evidence(for: transaction, mayRefresh: mayRefresh) {
        case .refused(let error): return await refuse(&entry, error)
        case .undetermined(let error): return await postpone(&entry, error)
        case .verified(let evidence, let verified):
            entry.prove(by: evidence, verified)
            var unpaid: StartedPurchase?
            if let matched, verified?.isWithoutCall == true {
                // It is not the started purchase, which may still arrive.
                (entry.wasStarted, entry.orderID, unpaid) = (false, nil, matched)
            }
            let prepared = entry
            guard
                changes({ record in
                    record.put(prepared)
                    if let unpaid { record.started.append(unpaid) }
                })
            else {
                startAgainLater()
                return .undetermined(PurchaseError(.storeFailed))
            }
            guard server != nil else { return await decideHere(&entry, verified) }
            return await decideByServer(&entry, evidence, verified)
        }
    }

    // MARK: The entry

    /// The transaction's entry in the outbox, stored before anything else is done, and the started purchase with the same product
    /// and token.
    private func enter(
        _ transaction: PaymentTransaction, _ key: TransactionKey, _ started: StartedPurchase?
    ) throws -> (OutboxEntry, matched: StartedPurchase?) {
        try load()
        if var entry = record.entry(key) {
            if entry.transaction != transaction {
                let isSameVersion =
                    TransactionVersion(entry.transaction, key) == TransactionVersion(transaction, key)
                if !isSameVersion { entry.decision = nil }
                let environment = transaction.environment ?? entry.transaction.environment
                entry.transaction = transaction
                entry.transaction.environment = environment
            }
            entry.customerID = entry.customerID ?? customerID(of: transaction)
            let found = entry
            try change { $0.put(found) }
            return (entry, nil)
        }
        let matched = started == nil ? startedPurchase(of: transaction) : nil
        let started = started ?? matched
        let entry = OutboxEntry(
            transaction: transaction,
            customerID: started?.customerID ?? record.customerID(ofOriginal: transaction)
                ?? customerID(of: transaction),
            orderID: started?.orderID, wasStarted: started != nil)
        if let started, let index = startedInThisRun.lastIndex(of: started) {
            startedInThisRun.remove(at: index)
            refreshable.insert(key.transactionID)
        }
        try change { record in
            if let started, let index = record.started.lastIndex(of: started) { record.started.remove(at: index) }
            record.put(entry)
        }
        return (entry, matched)
    }

    /// The started purchase that a transaction belongs to: the newest of its product and token, because an older one may have been
    /// cancelled. StoreKit 2 always returns the token; the original API may lose it.
    private func startedPurchase(of transaction: PaymentTransaction) -> StartedPurchase? {
        guard transaction.state == .purchased, transaction.revocationDate == nil else { return nil }
        return record.started.last { started in
            started.productID == transaction.productID
                && (started.appAccountToken == transaction.appAccountToken
                    || (transaction.appAccountToken == nil && transaction.signedTransaction == nil))
        }
    }

    /// The customer whom the transaction's token names, or who is signed in. A purchase of another customer waits for that
    /// customer.
    private func customerID(of transaction: PaymentTransaction) -> String? {
        guard let token = transaction.appAccountToken else { return customer?.id }
        if let known = record.customers[token] { return known }
        guard let own = customer?.appAccountToken, own != token else { return customer?.id }
        return nil
    }

    // MARK: Decisions

    /// The decision of an earlier run, or of another delivery of the same purchase.
    private func knownOutcome(_ entry: OutboxEntry) -> PurchaseOutcome? {
        if entry.decision == .refused {
            return .refused(PurchaseError(entry.code ?? .purchaseRevoked))
        }
        let isWithdrawn = entry.transaction.revocationDate != nil || entry.transaction.isUpgraded
        guard let purchase = record.granted(entry.purchaseKey), purchase.endedAt == nil, !isWithdrawn else {
            return nil
        }
        return .granted(purchase, isReplayed: true)
    }

    /// Without a server the signed evidence decides.
    private func decideHere(_ entry: inout OutboxEntry, _ verified: VerifiedEvidence?) async -> PurchaseOutcome {
        guard let verified else { return await postpone(&entry, PurchaseError(.unverified)) }
        if let error = withdrawal(of: entry, verified) { return await refuse(&entry, error) }
        return await grant(&entry, verified, nil)
    }

    /// Why signed evidence grants nothing. Only a signed transaction, which is made anew, reverses a refund; a receipt can be an old one.
    func withdrawal(of entry: OutboxEntry, _ verified: VerifiedEvidence) -> PurchaseError? {
        if let error = verified.withdrawal(of: entry.purchaseKey.transactionID) { return error }
        guard record.granted(entry.purchaseKey)?.endedAt != nil, entry.evidence?.signedTransaction == nil else {
            return nil
        }
        return PurchaseError(.purchaseRevoked)
    }

    private func decideByServer(
        _ entry: inout OutboxEntry, _ evidence: PurchaseEvidence, _ verified: VerifiedEvidence?
    ) async -> PurchaseOutcome {
        do {
            return await apply(try await ask(entry, evidence), to: &entry, verified)
        } catch {
            return await postpone(&entry, PurchaseError(.connectionFailed, error))
        }
    }

    /// A transaction is finished only if it is granted or refused, not if the disposition is unknown or absent.
    func apply(
        _ decision: ServerDecision, to entry: inout OutboxEntry, _ verified: VerifiedEvidence?
    ) async -> PurchaseOutcome {
        switch decision.disposition {
        case .granted?: await grant(&entry, verified, decision)
        case .refused?:
            await refuse(&entry, decision.error, submissionID: decision.submissionID, answer: decision.answer)
        default:
            await postpone(
                &entry, decision.error, submissionID: decision.submissionID, retryAfter: decision.retryAfter)
        }
    }

    /// A purchase that the app asked for is claimed with its order; everything else is a restore.
    private func ask(_ entry: OutboxEntry, _ evidence: PurchaseEvidence) async throws -> ServerDecision {
        guard let server, let customerID = entry.customerID else { throw PurchaseError(.customerUnknown) }
        let transaction = entry.transaction
        let isWithdrawn = transaction.revocationDate != nil || transaction.isUpgraded
        guard entry.wasStarted, !isWithdrawn else {
            let request = RestoreRequest(
                customerID: customerID, receiptData: evidence.receiptData,
                signedTransactions: evidence.signedTransaction.map { [$0] })
            switch try await server.restore(request) {
            case .problem(let problem, let retryAfter): return ServerDecision(problem, retryAfter: retryAfter)
            case .accepted(let answer, let signed):
                return ServerDecision(
                    answer, about: entry,
                    PurchaseRecord.StoredAnswer(
                        answer: signed, isRestore: true, customerID: customerID, receivedAt: trustedNow()))
            }
        }
        let request = PurchaseRequest(
            receiptData: evidence.receiptData, signedTransaction: evidence.signedTransaction,
            productID: transaction.productID, transactionID: transaction.transactionID ?? "",
            orderID: entry.orderID, customerID: customerID)
        switch try await server.submit(request) {
        case .problem(let problem, let retryAfter): return ServerDecision(problem, retryAfter: retryAfter)
        case .accepted(let answer, let signed):
            return ServerDecision(
                disposition: answer.disposition, error: PurchaseError(PurchaseError.Code(rawValue: answer.code)),
                isReplayed: answer.replayed, submissionID: answer.submissionID,
                answer: PurchaseRecord.StoredAnswer(
                    answer: signed, isRestore: false, customerID: customerID, receivedAt: trustedNow()))
        }
    }
}
