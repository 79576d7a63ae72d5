import Foundation
import PurchaseMessages
import PurchaseVerification

extension PurchaseEngine {
    /// Restores earlier purchases, when the customer asks for it: waits until the App Store has sent all of them, sends them to the
    /// server together, and returns one summary. A customer without purchases gets an empty one.
    @discardableResult
    public func restore() async -> RestoreSummary {
        let summary = await restoring()
        emit(PurchaseEvent(.restored, error: summary.error, summary: summary))
        return summary
    }

    private func restoring() async -> RestoreSummary {
        var summary = RestoreSummary()
        guard server == nil || customer != nil else {
            summary.error = PurchaseError(.customerUnknown)
            return summary
        }
        do {
            try load()
            let restored = try await queue.restore().filter { $0.state == .restored || $0.state == .purchased }
            let transactions = await claimWaiting(restored, &summary)
            // Transactions that cannot be decided now are tried again from the outbox.
            try change { record in
                for transaction in transactions {
                    guard let key = transaction.key, record.entry(key) == nil else { continue }
                    record.put(OutboxEntry(transaction: transaction, customerID: customer?.id, wasStarted: false))
                }
            }
            try await settle(transactions, &summary)
        } catch {
            summary.error = PurchaseError(.queueFailed, error)
        }
        return summary
    }

    /// Claims the waiting transactions with their own customer and order, which a restore does not know, and returns the others.
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
        var receipt: RestoredProof?
        for transaction in transactions {
            guard let key = transaction.key, var entry = record.entry(key) else { continue }
            // The customer asked for it, so the refresh that a restore of the original API makes has taken place already.
            switch await evidence(for: transaction, mayRefresh: false) {
            case .refused(let error): summary.add(await refuse(&entry, error), of: key)
            case .undetermined(let error): summary.add(await postpone(&entry, error), of: key)
            case .verified(let evidence, let verified):
                entry.prove(by: evidence, verified)
                guard evidence.signedTransaction == nil, receipt != nil else {
                    let proof = RestoredProof(evidence: evidence, entries: [(entry, verified)])
                    if evidence.signedTransaction == nil { receipt = proof } else { proofs.append(proof) }
                    continue
                }
                receipt?.entries.append((entry, verified))
            }
        }
        guard let server, let customerID = customer?.id else {
            for proof in proofs + [receipt].compactMap(\.self) { await decideHere(proof, &summary) }
            return
        }
        for start in stride(from: 0, to: proofs.count, by: RestoreRequest.signedTransactionLimit) {
            let group = proofs[start..<min(start + RestoreRequest.signedTransactionLimit, proofs.count)]
            let request = RestoreRequest(
                customerID: customerID, signedTransactions: group.compactMap(\.evidence.signedTransaction))
            await decide(group.flatMap(\.entries), request, server, &summary)
        }
        if let receipt {
            let request = RestoreRequest(customerID: customerID, receiptData: receipt.evidence.receiptData)
            await decide(receipt.entries, request, server, &summary)
        }
    }

    /// A piece of evidence, and the transactions that it proves.
    private struct RestoredProof {
        let evidence: PurchaseEvidence
        var entries: [(entry: OutboxEntry, verified: VerifiedEvidence?)]
    }

    private func decideHere(_ proof: RestoredProof, _ summary: inout RestoreSummary) async {
        for (entry, verified) in proof.entries {
            var entry = entry
            let outcome: PurchaseOutcome
            if let verified, let withdrawal = withdrawal(of: entry, verified) {
                outcome = await refuse(&entry, withdrawal)
            } else if let verified {
                outcome = await grant(&entry, verified, nil)
            } else {
                outcome = await postpone(&entry, PurchaseError(.unverified))
            }
            summary.add(outcome, of: entry.key)
        }
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
            case .success(let answer):
                let decision: ServerDecision
                switch answer {
                case .problem(let problem, let retryAfter): decision = ServerDecision(problem, retryAfter: retryAfter)
                case .accepted(let answer, let signed):
                    decision = ServerDecision(
                        answer, about: entry,
                        PurchaseRecord.StoredAnswer(
                            answer: signed, isRestore: true, customerID: request.customerID, receivedAt: trustedNow()))
                }
                outcome = await apply(decision, to: &entry, verified)
            }
            summary.add(outcome, of: entry.key)
        }
    }
}

extension RestoreSummary {
    fileprivate mutating func add(_ outcome: PurchaseOutcome, of key: TransactionKey) {
        switch outcome {
        // Several restored transactions can be one purchase.
        case .granted(let purchase, _):
            if !granted.contains(where: { $0.key == purchase.key }) { granted.append(purchase) }
        case .refused(let error): refused[key.transactionID] = error
        case .undetermined(let error), .failed(let error): undetermined[key.transactionID] = error
        case .pending: break
        }
    }
}
