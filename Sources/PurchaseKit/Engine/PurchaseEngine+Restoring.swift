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
        guard server == nil || customer != nil else {
            summary.error = PurchaseError(.customerUnknown)
            return summary
        }
        let endWork = await life.beginWork("restore")
        do {
            try load()
            await learnEnvironment()
            let restored = try await queue.restore().filter { $0.state == .restored || $0.state == .purchased }
            let transactions = await claimWaiting(restored, &summary)
            // Transactions that cannot be decided now are tried again from the outbox.
            try change { record in
                for transaction in transactions {
                    guard let key = transaction.key, record.entry(key) == nil else { continue }
                    record.put(
                        OutboxEntry(
                            transaction: transaction, customerID: customer?.id, wasStarted: false,
                            arrivedAt: time.now))
                }
            }
            try await settle(transactions, &summary)
        } catch {
            let failure = PurchaseError(.queueFailed, error)
            summary.error = failure.isCancellation ? PurchaseError(.paymentCancelled) : failure
        }
        await endWork()
        return summary
    }

    /// Claims the waiting transactions with their own customer and order, which a restore does not know, and returns
    /// the others.
    private func claimWaiting(
        _ transactions: [PaymentTransaction], _ summary: inout RestoreSummary
    ) async -> [PaymentTransaction] {
        var others: [PaymentTransaction] = []
        for transaction in transactions {
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

    private func settle(_ transactions: [PaymentTransaction], _ summary: inout RestoreSummary) async throws {
        var proofs: [RestoredProof] = []
        for transaction in transactions {
            guard let key = transaction.key, var entry = record.entry(key) else { continue }
            // The customer asked for it, so the refresh that a restore of the original API makes has taken place
            // already.
            let gathered = await evidence(for: transaction, mayRefresh: false)
            if let verified = gathered.verified { entry.prove(by: verified) }
            guard server != nil, let evidence = gathered.evidence else {
                summary.add(await decideHere(&entry, gathered), of: key)
                continue
            }
            // One receipt proves several transactions.
            if let place = proofs.firstIndex(where: { $0.evidence == evidence }) {
                proofs[place].entries.append((entry, gathered.verified))
            } else {
                proofs.append(RestoredProof(evidence: evidence, entries: [(entry, gathered.verified)]))
            }
        }
        guard let server, let customerID = customer?.id else { return }
        for (request, group) in Self.requests(proofs, of: customerID, \.evidence) {
            await decide(group.flatMap(\.entries), request, server, &summary)
        }
    }

    /// The requests of a restore: as many signed transactions as one takes, and each receipt by itself.
    static func requests<Proof>(
        _ proofs: [Proof], of customerID: String, _ evidence: (Proof) -> PurchaseEvidence
    ) -> [(RestoreRequest, [Proof])] {
        let signed = proofs.filter { evidence($0).signedTransaction != nil }
        let receipts = proofs.filter { evidence($0).signedTransaction == nil }
        let limit = RestoreRequest.signedTransactionLimit
        return stride(from: 0, to: signed.count, by: limit).map { start in
            let group = Array(signed[start..<min(start + limit, signed.count)])
            return (
                RestoreRequest(
                    customerID: customerID, signedTransactions: group.compactMap { evidence($0).signedTransaction }),
                group
            )
        }
            + receipts.map { proof in
                (RestoreRequest(customerID: customerID, receiptData: evidence(proof).receiptData), [proof])
            }
    }

    /// A piece of evidence, and the transactions that it proves.
    private struct RestoredProof {
        let evidence: PurchaseEvidence
        var entries: [(entry: OutboxEntry, verified: VerifiedEvidence?)]
    }

    private func decideHere(_ entry: inout OutboxEntry, _ gathered: Gathered) async -> PurchaseOutcome {
        guard server == nil, let verified = gathered.verified else {
            return await postpone(
                &entry, gathered.error ?? PurchaseError(.evidenceMissing),
                isForged: server == nil && gathered.isForged)
        }
        if let withdrawal = withdrawal(of: entry, verified) { return await refuse(&entry, withdrawal) }
        return await grant(&entry, verified, nil)
    }

    private func decide(
        _ entries: [(entry: OutboxEntry, verified: VerifiedEvidence?)], _ request: RestoreRequest,
        _ server: PurchaseConnection, _ summary: inout RestoreSummary
    ) async {
        let result: Result<PurchaseConnection.Decision<RestoreAnswer>, PurchaseError>
        do {
            result = .success(try await server.restore(request))
        } catch {
            result = .failure(PurchaseError(.connectionFailed, error))
        }
        for (entry, verified) in entries {
            var entry = entry
            let outcome: PurchaseOutcome
            switch result {
            case .failure(let error): outcome = await postpone(&entry, error)
            case .success(.problem(let problem, let retryAfter)):
                outcome = await apply(ServerDecision(problem, retryAfter: retryAfter), to: &entry, verified)
            case .success(.accepted(let answer, let signedAt)):
                let entitlements = take(answer.entitlements, of: request.customerID, signedAt)
                outcome = await apply(ServerDecision(answer, about: entry, entitlements), to: &entry, verified)
            }
            summary.add(outcome, of: entry.key)
        }
        // The guest was handed over meanwhile.
        if record.owner(request.customerID) != request.customerID { lookSoon() }
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
        case .pending, .cancelled: break
        }
    }
}
