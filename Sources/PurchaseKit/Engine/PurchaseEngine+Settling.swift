import Foundation
import PurchaseMessages
import PurchaseVerification

/// From a transaction to its outcome. The order of the steps makes a crash harmless (docs/purchase-kit.md).
extension PurchaseEngine {
    func settle(
        _ transaction: PaymentTransaction, _ key: PurchaseKey, _ started: StartedPurchase?
    ) async -> PurchaseOutcome {
        if let outcome = settled[Self.version(of: transaction)] {
            await finishAgain(transaction)
            return outcome
        }
        await learnEnvironment()
        var entry: OutboxEntry
        let matched: StartedPurchase?
        do {
            (entry, matched) = try enter(transaction, key, started)
        } catch {
            let error = PurchaseError(.storeFailed, error)
            emit(.failedOutside(error, PurchaseReport(transaction)))
            startAgainLater()
            return .undetermined(error)
        }
        // The process may have ended before the delegate knew.
        if let outcome = knownOutcome(entry) { return await conclude(.finish(outcome), entry) }
        let endWork = await life.beginWork("purchase")
        // Once only: a repetition comes from the outbox, and must not ask for a password.
        let mayRefresh = refreshable.remove(key.transactionID) != nil
        let outcome = await decide(&entry, await evidence(for: transaction, mayRefresh: mayRefresh), matched)
        await endWork()
        return outcome
    }

    /// The outcome by the evidence. With a server it is always sent, whatever the device thinks of it: a device has no
    /// identifier at times, and Apple changes its certificates.
    private func decide(
        _ entry: inout OutboxEntry, _ gathered: Gathered, _ matched: StartedPurchase?
    ) async -> PurchaseOutcome {
        var unpaid: StartedPurchase?
        var withdrawal: PurchaseError?
        // The guest may have been handed over while the evidence was gathered.
        entry.customerID = entry.customerID.map { record.owner($0) }
        if let verified = gathered.verified {
            entry.prove(by: verified)
            withdrawal = self.withdrawal(of: entry, verified)
            if let matched, verified.isWithoutCall {
                // It is not the started purchase, which may still arrive, and not its customer's.
                (entry.wasStarted, entry.orderID, unpaid) = (false, nil, matched)
                entry.customerID = owner(of: entry.transaction, nil, besides: entry.key)
            }
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
        guard server != nil else {
            return await conclude(decideHere(&entry, gathered), entry)
        }
        if let withdrawal { end(entry, withdrawal) }
        guard isOfSignedInCustomer(entry.customerID) else {
            var waiting = entry
            waiting.waits = (entry.waits ?? 0) + 1
            let waited = waiting
            _ = changes { $0.put(waited) }
            emit(.customerNeeded(PurchaseReport(entry)))
            return .undetermined(PurchaseError(.customerUnknown))
        }
        guard let evidence = gathered.evidence else {
            return await conclude(postpone(&entry, gathered.error ?? PurchaseError(.evidenceMissing)), entry)
        }
        let asked = entry.customerID
        let decision: Result<ServerDecision, any Error>
        do { decision = .success(try await ask(entry, evidence)) } catch { decision = .failure(error) }
        entry.customerID = asked.map { record.owner($0) }
        let outcome = await conclude(apply(decision, to: &entry, gathered.verified), entry)
        // The request was about the guest, who was handed over meanwhile.
        if asked != asked.map({ record.owner($0) }) { lookSoon() }
        return outcome
    }

    /// The outcome by the evidence alone, without a server.
    func decideHere(_ entry: inout OutboxEntry, _ gathered: Gathered) -> Step {
        if let verified = gathered.verified {
            if let withdrawal = withdrawal(of: entry, verified) { return refuse(&entry, withdrawal) }
            return grant(&entry, verified, nil)
        }
        if gathered.isVouchedForByXcode {
            return entry.transaction.withdrawal.map { refuse(&entry, $0) } ?? grant(&entry, nil, nil)
        }
        return postpone(&entry, gathered.error ?? PurchaseError(.evidenceMissing), isForged: gathered.isForged)
    }

    // MARK: The entry

    /// The entry in the outbox, stored before anything else is done, and the started purchase that it pays.
    private func enter(
        _ transaction: PaymentTransaction, _ key: PurchaseKey, _ started: StartedPurchase?
    ) throws -> (OutboxEntry, matched: StartedPurchase?) {
        try load()
        if var entry = record.entry(key) {
            if entry.transaction != transaction {
                if Self.version(of: entry.transaction) != Self.version(of: transaction) { entry.decision = nil }
                let environment = transaction.environment ?? entry.transaction.environment
                entry.transaction = transaction
                entry.transaction.environment = environment
            }
            entry.customerID = entry.customerID ?? owner(of: transaction, nil)
            let found = entry
            try change { $0.put(found) }
            return (entry, nil)
        }
        let matched = started == nil ? startedPurchase(of: transaction) : nil
        // Its guest may have been handed over while the customer was asked to pay.
        var paid = started.map { record.current($0) } ?? matched
        let owner = owner(of: transaction, paid)
        // The order of another customer is not paid by it.
        if let known = paid, known.customerID != owner ?? "" { paid = nil }
        let entry = OutboxEntry(
            transaction: transaction, customerID: owner, orderID: paid?.orderID, wasStarted: paid != nil,
            arrivedAt: time.now)
        if let paid, let index = startedInThisRun.lastIndex(of: paid) {
            startedInThisRun.remove(at: index)
            refreshable.insert(key.transactionID)
        }
        try change { record in
            if let paid, let index = record.started.lastIndex(of: paid) { record.started.remove(at: index) }
            record.put(entry)
        }
        return (entry, paid == matched ? matched : nil)
    }

    /// The started purchase that a transaction belongs to: the newest of its product and token, because an older one
    /// may have been cancelled. StoreKit 2 always returns the token; the original API may lose it, and then it is only
    /// one of the customer who is shown, if anybody is. One of the customer who is signed in comes first.
    func startedPurchase(of transaction: PaymentTransaction) -> StartedPurchase? {
        guard transaction.state != .restored, transaction.revocationDate == nil else { return nil }
        let fitting = record.started.filter { started in
            started.productID == transaction.productID
                && (started.appAccountToken == transaction.appAccountToken
                    || (transaction.appAccountToken == nil && transaction.signedTransaction == nil))
        }
        return fitting.last { $0.customerID == customer?.id ?? "" }
            ?? fitting.last {
                transaction.appAccountToken != nil || shownCustomer == nil || isOfCustomer($0.customerID)
            }
    }

    /// The customer to whom a transaction belongs: whom its token names, who owns its original, who started it, or who
    /// is signed in. `nil` if its token names a customer who is not known here.
    ///
    /// A purchase of somebody who is not signed in waits for them, and is never given to another customer.
    func owner(
        of transaction: PaymentTransaction, _ started: StartedPurchase?, besides key: PurchaseKey? = nil
    ) -> String? {
        guard server != nil else { return started?.customerID ?? customer?.id }
        if let token = transaction.appAccountToken {
            if let known = record.customers[token] {
                guard record.isMade(token) else { return known }
                return record.customerID(ofOriginal: transaction, besides: key) ?? known
            }
            if customer?.appAccountToken == token { return customer?.id }
            if customer == nil || customer?.appAccountToken != nil { return nil }
        }
        return record.customerID(ofOriginal: transaction, besides: key) ?? started?.customerID ?? customer?.id
    }

    // MARK: Decisions

    /// The decision of an earlier run, or of another delivery of the same purchase.
    private func knownOutcome(_ entry: OutboxEntry) -> PurchaseOutcome? {
        switch entry.decision {
        case .refused: return .refused(PurchaseError(entry.code ?? .purchaseRevoked))
        case .notCounted: return .notCounted(PurchaseError(entry.code ?? .notCounted))
        case .granted, nil: break
        }
        guard let purchase = record.granted(entry.purchaseKey), purchase.endedAt == nil, !entry.isWithdrawn else {
            return nil
        }
        return .granted(purchase, isReplayed: true)
    }

    /// Why signed evidence grants nothing. A signed transaction is made anew and reverses a refund; a receipt does only
    /// if it was signed after the purchase had ended.
    func withdrawal(of entry: OutboxEntry, _ verified: VerifiedEvidence) -> PurchaseError? {
        if let error = verified.withdrawal(of: entry.purchaseKey.transactionID) { return error }
        guard let endedAt = record.granted(entry.purchaseKey)?.endedAt, !verified.reverses(anEndAt: endedAt) else {
            return nil
        }
        return PurchaseError(.purchaseRevoked)
    }

    /// A transaction is finished only if it is granted or refused, not if the disposition is unknown or absent.
    func apply(
        _ answer: Result<ServerDecision, any Error>, to entry: inout OutboxEntry, _ verified: VerifiedEvidence?
    ) -> Step {
        let decision: ServerDecision
        do { decision = try answer.get() } catch {
            return postpone(&entry, PurchaseError(.connectionFailed, error))
        }
        return switch decision.disposition {
        case .granted?:
            if let error = decision.notCounted {
                passOver(&entry, error, decision)
            } else {
                grant(&entry, verified, decision)
            }
        // The guest has it, who is handed over again.
        case .refused? where decision.error.code.rawValue == "already_claimed" && record.awaitsGuest(entry.customerID):
            postpone(&entry, decision.error, decision)
        case .refused?: refuse(&entry, decision.error, decision)
        default: postpone(&entry, decision.error, decision)
        }
    }

    /// A purchase that the app asked for is claimed with its order; everything else is a restore.
    private func ask(_ entry: OutboxEntry, _ evidence: PurchaseEvidence) async throws -> ServerDecision {
        guard let customerID = entry.customerID else { throw PurchaseError(.customerUnknown) }
        guard entry.wasStarted, !entry.isWithdrawn else {
            let request = restoreRequest(of: customerID, evidence.receiptData, evidence.signedTransaction.map { [$0] })
            var tap = RestoreTap(isRequested: entry.isRequested(at: time.now))
            if tap.isRequested { tap.appTransaction = await queue.appTransaction(refreshes: false) }
            return try await decisions(on: request, &tap).of(entry)
        }
        let request = PurchaseRequest(
            receiptData: evidence.receiptData, signedTransaction: evidence.signedTransaction,
            productID: entry.transaction.productID, transactionID: entry.transaction.transactionID ?? "",
            orderID: entry.orderID, customerID: customerID, guest: isGuest(customerID), account: true)
        switch try await asking(about: customerID, { try await $0.submit(request) }) {
        case .problem(let problem, let retryAfter): return ServerDecision(problem, retryAfter: retryAfter)
        case .accepted(let answer, let signedAt):
            return ServerDecision(
                answer, take([answer.entitlement].compactMap(\.self), answer.account, of: customerID, signedAt))
        }
    }

    /// The entitlements of an answer that has just arrived. Its signing time is as fresh as a time can be.
    func take(
        _ messages: [EntitlementMessage], _ account: EntitlementList?, of customerID: String, _ signedAt: Date
    ) -> EntitlementAnswer {
        see(signed: signedAt, isFresh: true)
        return EntitlementAnswer(messages, account, of: customerID, signedAt: signedAt)
    }
}
