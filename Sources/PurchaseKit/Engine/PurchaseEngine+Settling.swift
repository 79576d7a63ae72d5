import Foundation
import PurchaseAPI
import PurchaseVerification

/// From a transaction to its outcome. The order of the steps is what makes a crash harmless (docs/purchase-kit.md).
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
        do {
            entry = try enter(transaction, key, started)
        } catch {
            let error = PurchaseError(.storeFailed, error)
            emit(PurchaseEvent(.failedOutside, transaction, error: error))
            return .undetermined(error)
        }
        if let outcome = knownOutcome(entry) {
            if await conclude(entry, outcome) { settled[version] = outcome }
            return outcome
        }
        guard server == nil || entry.customerID != nil else {
            emit(PurchaseEvent(.customerNeeded, transaction))
            return .undetermined(PurchaseError(.customerUnknown))
        }
        switch await evidence(for: transaction, mayRefresh: refreshable.contains(key.transactionID)) {
        case .refused(let error): return await refuse(&entry, error)
        case .undetermined(let error): return await postpone(&entry, error)
        case .verified(let evidence, let verified):
            entry.evidence = evidence
            if let environment = verified?.facts.environment { entry.transaction.environment = environment.name }
            let prepared = entry
            guard changes({ $0.put(prepared) }) else {
                return .undetermined(PurchaseError(.storeFailed))
            }
            guard server != nil else { return await decideHere(&entry, verified) }
            return await decideByServer(&entry, evidence, verified)
        }
    }

    // MARK: The entry

    /// The entry of a transaction in the outbox, stored before anything else is done.
    private func enter(
        _ transaction: PaymentTransaction, _ key: TransactionKey, _ started: StartedPurchase?
    ) throws -> OutboxEntry {
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
            return entry
        }
        let started = started ?? startedPurchase(of: transaction)
        let entry = OutboxEntry(
            transaction: transaction, customerID: started?.customerID ?? customerID(of: transaction),
            orderID: started?.orderID, wasStarted: started != nil)
        if let started, let index = startedInThisRun.lastIndex(of: started) {
            startedInThisRun.remove(at: index)
            refreshable.insert(key.transactionID)
        }
        try change { record in
            if let started, let index = record.started.lastIndex(of: started) { record.started.remove(at: index) }
            record.put(entry)
        }
        return entry
    }

    /// The started purchase that a transaction belongs to: the newest of its product and token, because an older one may have been
    /// cancelled.
    private func startedPurchase(of transaction: PaymentTransaction) -> StartedPurchase? {
        guard transaction.state == .purchased, transaction.revocationDate == nil else { return nil }
        return record.started.last { started in
            started.productID == transaction.productID
                && (transaction.appAccountToken == nil || started.appAccountToken == transaction.appAccountToken)
        }
    }

    /// The customer whom the transaction's token names, or who is signed in. A purchase of somebody else waits for them.
    private func customerID(of transaction: PaymentTransaction) -> String? {
        guard let token = transaction.appAccountToken else { return customer?.id }
        if let known = record.customers[token] { return known }
        guard let own = customer?.appAccountToken, own != token else { return customer?.id }
        return nil
    }

    // MARK: Decisions

    /// What was decided in an earlier run, or by another delivery of the same purchase.
    private func knownOutcome(_ entry: OutboxEntry) -> PurchaseOutcome? {
        if entry.decision == .refused {
            return .refused(PurchaseError(entry.code ?? .purchaseRevoked))
        }
        let isWithdrawn = entry.transaction.revocationDate != nil || entry.transaction.isUpgraded
        guard let purchase = record.granted(entry.key), purchase.endedAt == nil, !isWithdrawn else { return nil }
        return .granted(purchase, isReplayed: true)
    }

    /// Without a server the signed evidence decides.
    private func decideHere(_ entry: inout OutboxEntry, _ verified: VerifiedEvidence?) async -> PurchaseOutcome {
        guard let verified else { return await postpone(&entry, PurchaseError(.unverified)) }
        if let error = verified.withdrawal(of: entry.key.transactionID) { return await refuse(&entry, error) }
        return await grant(&entry, verified, nil)
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

    /// What is neither granted nor refused finishes nothing: also an unknown disposition, and none.
    func apply(
        _ decision: ServerDecision, to entry: inout OutboxEntry, _ verified: VerifiedEvidence?
    ) async -> PurchaseOutcome {
        switch decision.disposition {
        case .granted?: await grant(&entry, verified, decision)
        case .refused?:
            await refuse(&entry, decision.error, submissionID: decision.submissionID, answer: decision.answer)
        default: await postpone(&entry, decision.error, submissionID: decision.submissionID)
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
            case .problem(let problem): return ServerDecision(problem)
            case .accepted(let answer, let signed):
                return ServerDecision(
                    answer, about: transaction,
                    PurchaseRecord.StoredAnswer(
                        answer: signed, isRestore: true, customerID: customerID, receivedAt: trustedNow()))
            }
        }
        let request = PurchaseRequest(
            receiptData: evidence.receiptData, signedTransaction: evidence.signedTransaction,
            productID: transaction.productID, transactionID: transaction.transactionID ?? "",
            orderID: entry.orderID, customerID: customerID)
        switch try await server.submit(request) {
        case .problem(let problem): return ServerDecision(problem)
        case .accepted(let answer, let signed):
            return ServerDecision(
                disposition: answer.disposition, error: PurchaseError(PurchaseError.Code(rawValue: answer.code)),
                isReplayed: answer.replayed, submissionID: answer.submissionID,
                answer: PurchaseRecord.StoredAnswer(
                    answer: signed, isRestore: false, customerID: customerID, receivedAt: trustedNow()))
        }
    }

    // MARK: Outcomes

    /// Store, finish, remove from the outbox: in this order.
    func grant(
        _ entry: inout OutboxEntry, _ verified: VerifiedEvidence?, _ decision: ServerDecision?
    ) async -> PurchaseOutcome {
        let isKnown = record.granted(entry.key) != nil
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
        else { return .undetermined(PurchaseError(.storeFailed)) }
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
                if endsPurchase { ended = record.end(refused.key, at: now) }
                // It says that the purchase entitles to nothing any more.
                if let answer { record.keep(answer, products: products) }
            })
        else { return .undetermined(PurchaseError(.storeFailed)) }
        emit(
            PurchaseEvent(
                .refused, entry.transaction, error: error, submissionID: submissionID, attempt: entry.attempts + 1))
        if ended != nil { emit(PurchaseEvent(.revoked, entry.transaction, error: error)) }
        let outcome = PurchaseOutcome.refused(error)
        await tellDelegate(entry.transaction, outcome)
        if await conclude(entry, outcome) { settle(outcome, of: entry) }
        return outcome
    }

    func postpone(
        _ entry: inout OutboxEntry, _ error: PurchaseError, submissionID: String? = nil
    ) async -> PurchaseOutcome {
        entry.attempts += 1
        entry.code = error.code
        entry.nextAttempt = time.now.addingTimeInterval(RetryDelay.seconds(after: entry.attempts))
        let postponed = entry
        _ = changes { $0.put(postponed) }
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

    /// StoreKit delivers it again, so it may have missed that it was finished.
    private func finishAgain(_ transaction: PaymentTransaction) async {
        do {
            try await queue.finish(transaction)
        } catch {
            emit(PurchaseEvent(.failedOutside, transaction, error: PurchaseError(.queueFailed, error)))
        }
    }

    func settle(_ outcome: PurchaseOutcome, of entry: OutboxEntry) {
        // A run that settles more has other problems; forgetting costs a request for what is delivered again.
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
        let facts = evidence?.facts.transactions.first { entry.key.transactionID.isSame(as: $0.transactionID) }
        self.init(
            key: entry.key, originalTransactionID: facts?.originalTransactionID ?? transaction.originalTransactionID,
            productID: transaction.productID, kind: evidence?.productKind(of: entry.key.transactionID),
            quantity: facts?.quantity.map { Int64(clamping: $0) } ?? 1,
            customerID: entry.customerID, orderID: entry.orderID,
            purchaseDate: facts?.purchaseDate?.date ?? transaction.purchaseDate,
            expirationDate: evidence.flatMap { $0.expirationDate(of: entry.key.transactionID) }
                ?? transaction.expirationDate,
            grantedAt: date, submissionID: submissionID)
    }
}
