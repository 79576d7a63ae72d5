import Foundation
import PurchaseMessages
import PurchaseVerification

extension PurchaseEngine {
    /// Restores earlier purchases, when the customer asks for it: waits until the App Store has sent all of them, sends
    /// them to the server together, and returns one summary. A customer without purchases gets an empty one.
    @discardableResult
    public func restore() async -> RestoreSummary {
        let summary = await restoring()
        emit(.restored(summary))
        await deliver()
        return summary
    }

    private func restoring() async -> RestoreSummary {
        var summary = RestoreSummary()
        do {
            try needCustomer()
        } catch {
            summary.error = PurchaseError(.storeFailed, error)
            return summary
        }
        // Another one may be signed in when the App Store has answered.
        let customerID = customer?.id
        let endWork = await life.beginWork("restore")
        do {
            try load()
            await learnEnvironment()
            let restored = try await queue.restore().filter { $0.state == .restored || $0.state == .purchased }
            let others = await claimWaiting(restored, of: customerID, &summary)
            var tap = RestoreTap(mayRefresh: true, isAgain: false)
            await settle(others, of: customerID, &summary, &tap)
        } catch {
            let failure = PurchaseError(.queueFailed, error)
            summary.error = failure.isCancellation ? PurchaseError(.paymentCancelled) : failure
        }
        await endWork()
        return summary
    }

    /// Whether the customer who asked for a restore is still signed in, or the one to whom they were handed over.
    private func isSignedIn(_ customerID: String?, _ summary: inout RestoreSummary) -> Bool {
        if server == nil || customer?.id == customerID.map({ record.owner($0) }) { return true }
        summary.error = PurchaseError(.customerUnknown)
        return false
    }

    /// Claims waiting transactions with their customer and order, which a restore does not know; returns the others.
    private func claimWaiting(
        _ transactions: [PaymentTransaction], of customerID: String?, _ summary: inout RestoreSummary
    ) async -> [PaymentTransaction] {
        var others: [PaymentTransaction] = []
        for transaction in transactions {
            guard isSignedIn(customerID, &summary) else { return [] }
            guard server != nil, let key = transaction.key, let entry = record.waiting(transaction) else {
                others.append(transaction)
                continue
            }
            if let owner = entry.customerID, owner != customer?.id {
                summary.undetermined[key.transactionID] = PurchaseError(.customerUnknown)
            } else if entry.wasStarted {
                summary.add(await handle(entry.transaction), of: entry.key)
                // The copy is finished like every other transaction.
                if !entry.key.matches(key) { others.append(transaction) }
            } else {
                others.append(transaction)
            }
        }
        return others
    }

    /// Decides about all of them, and stores the outcomes together: a write takes the longer, the more there are. One
    /// that cannot be decided now is tried again from the outbox; one that was not stored yet is restored again.
    private func settle(
        _ transactions: [PaymentTransaction], of customerID: String?, _ summary: inout RestoreSummary,
        _ tap: inout RestoreTap
    ) async {
        var proofs: [RestoredProof] = []
        var decided: [(entry: OutboxEntry, decide: Decide)] = []
        for transaction in transactions {
            guard let key = transaction.key else { continue }
            var entry =
                record.entry(key)
                ?? OutboxEntry(
                    transaction: transaction, customerID: customerID, wasStarted: false, arrivedAt: time.now)
            if !tap.isAgain { entry.requestedAt = time.now }
            tap.isRequested = tap.isRequested && entry.isRequested(at: time.now)
            // The customer asked for it, so the refresh that a restore of the original API makes has taken place
            // already.
            let gathered = await evidence(for: transaction, mayRefresh: false)
            if let verified = gathered.verified { entry.prove(by: verified) }
            guard server != nil, let evidence = gathered.evidence else {
                let error = gathered.error ?? PurchaseError(.evidenceMissing)
                decided.append(
                    (entry, { self.server == nil ? self.decideHere(&$0, gathered) : self.postpone(&$0, error) }))
                continue
            }
            // One receipt proves several transactions.
            if let place = proofs.firstIndex(where: { $0.evidence == evidence }) {
                proofs[place].entries.append((entry, gathered.verified))
            } else {
                proofs.append(RestoredProof(evidence: evidence, entries: [(entry, gathered.verified)]))
            }
        }
        if !proofs.isEmpty, let customerID = customerID.map({ record.owner($0) }) {
            tap.appTransaction = await queue.appTransaction(refreshes: false)
            for (request, group) in requests(proofs, of: customerID, \.evidence) {
                guard isSignedIn(customerID, &summary) else { break }
                decided += await decide(group.flatMap(\.entries), request, &tap)
            }
        }
        var steps: [(step: Step, entry: OutboxEntry)] = []
        let isStored = together {
            for (entry, decide) in decided {
                var entry = entry
                // The guest was handed over meanwhile.
                entry.customerID = entry.customerID.map { record.owner($0) }
                let step = decide(&entry)
                steps.append((step, entry))
            }
        }
        for (step, entry) in steps {
            let outcome = isStored ? step.outcome : .undetermined(PurchaseError(.storeFailed))
            summary.add(outcome, of: entry.key)
            report(outcome, of: entry.transaction)
        }
        if isStored { await conclude(steps) } else { startAgainLater() }
    }

    /// A request with evidence, which asks for the whole account.
    func restoreRequest(of customerID: String, _ receiptData: String?, _ signedTransactions: [String]?)
        -> RestoreRequest
    {
        RestoreRequest(
            customerID: customerID, receiptData: receiptData, signedTransactions: signedTransactions,
            guest: isGuest(customerID), account: true)
    }

    /// The requests of a restore: as many signed transactions as one takes, and each receipt by itself.
    func requests<Proof>(
        _ proofs: [Proof], of customerID: String, _ evidence: (Proof) -> PurchaseEvidence
    ) -> [(RestoreRequest, [Proof])] {
        let signed = proofs.filter { evidence($0).signedTransaction != nil }
        let receipts = proofs.filter { evidence($0).signedTransaction == nil }
        let limit = RestoreRequest.signedTransactionLimit
        return stride(from: 0, to: signed.count, by: limit).map { start in
            let group = Array(signed[start..<min(start + limit, signed.count)])
            return (restoreRequest(of: customerID, nil, group.compactMap { evidence($0).signedTransaction }), group)
        }
            + receipts.map { (restoreRequest(of: customerID, evidence($0).receiptData, nil), [$0]) }
    }

    /// What proves that the customer of this Apple Account asked for a restore.
    struct RestoreTap {
        var appTransaction: String?
        /// Whether the App Store may sign a new one, for which it may ask for a password: once.
        var mayRefresh = false
        /// Whether it is sent again without a tap. Only a tap may ask for the password that a refusal may take.
        var isAgain = true
        /// Whether they asked for it within the last day.
        var isRequested = true
    }

    /// Asks for a restore that the customer asked for. It may take over what a guest of this Apple Account bought, for
    /// which the server may need a newer app transaction.
    func send(
        _ request: RestoreRequest, _ tap: inout RestoreTap
    ) async throws -> PurchaseConnection.Decision<RestoreAnswer> {
        var asked = request
        if tap.isRequested { (asked.requested, asked.appTransaction) = (true, tap.appTransaction) }
        let sent = asked
        let decision = try await asking(about: sent.customerID) { try await $0.restore(sent) }
        guard tap.mayRefresh, case .accepted(let answer, _) = decision, answer.needsAppTransaction == true else {
            return decision
        }
        tap.mayRefresh = false
        guard let new = await queue.appTransaction(refreshes: true), new != tap.appTransaction else { return decision }
        tap.appTransaction = new
        return try await send(request, &tap)
    }

    private typealias Decide = (inout OutboxEntry) -> Step

    private struct RestoredProof {
        let evidence: PurchaseEvidence
        var entries: [(entry: OutboxEntry, verified: VerifiedEvidence?)]
    }

    /// Asks the server, and returns how to decide about each transaction.
    private func decide(
        _ entries: [(entry: OutboxEntry, verified: VerifiedEvidence?)], _ request: RestoreRequest,
        _ tap: inout RestoreTap
    ) async -> [(entry: OutboxEntry, decide: Decide)] {
        let result: Result<RestoreDecisions, any Error>
        do { result = .success(try await decisions(on: request, &tap)) } catch { result = .failure(error) }
        // The guest was handed over meanwhile.
        if record.owner(request.customerID) != request.customerID { lookSoon() }
        return entries.enumerated().map { place, one in
            (
                one.entry,
                { entry in
                    let decision = result.map { all in
                        var decision = all.of(entry)
                        decision.isKept = true
                        return decision
                    }
                    let step = self.apply(decision, to: &entry, one.verified)
                    // Once for all, and after the purchases on which they rest.
                    if place == entries.count - 1, let entitlements = try? result.get().entitlements {
                        _ = self.changes { $0.keep(entitlements) }
                    }
                    return step
                }
            )
        }
    }

    /// What the server decides about each transaction of a restore.
    func decisions(on request: RestoreRequest, _ tap: inout RestoreTap) async throws -> RestoreDecisions {
        switch try await send(request, &tap) {
        case .problem(let problem, let retryAfter):
            let decision = ServerDecision(problem, retryAfter: retryAfter)
            return RestoreDecisions(entitlements: nil) { _ in decision }
        case .accepted(let answer, let signedAt):
            let entitlements = take(answer.entitlements, answer.account, of: request.customerID, signedAt)
            let isAgain = tap.isAgain
            return RestoreDecisions(entitlements: entitlements) { entry in
                var decision = ServerDecision(answer, about: entry, entitlements)
                if isAgain, decision.disposition == .refused, answer.needsAppTransaction == true {
                    decision.disposition = nil
                }
                return decision
            }
        }
    }

    struct RestoreDecisions {
        let entitlements: EntitlementAnswer?
        let of: (OutboxEntry) -> ServerDecision
    }
}

extension RestoreSummary {
    fileprivate mutating func add(_ outcome: PurchaseOutcome, of key: PurchaseKey) {
        switch outcome {
        // Several restored transactions can be one purchase.
        case .granted(let purchase, _):
            if !granted.contains(where: { $0.key == purchase.key }) { granted.append(purchase) }
        case .notCounted(let error): notCounted[key.transactionID] = error
        case .refused(let error): refused[key.transactionID] = error
        case .invalid(let error), .undetermined(let error), .failed(let error): undetermined[key.transactionID] = error
        case .pending, .queued, .cancelled: break
        }
    }
}
